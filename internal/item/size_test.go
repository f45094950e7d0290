package item_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

func TestOneByteMoreThanAnItemTakes(t *testing.T) {
	t.Parallel()
	var bad *event.InputError
	err := item.CheckSize("message", "Text", ddb.Item{"text": item.S(strings.Repeat("x", item.MaxSize-3))})
	if !errors.As(err, &bad) || bad.Field != "Text" {
		t.Errorf("a byte over 400 KB: %v", err)
	}
}
