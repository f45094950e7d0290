package check_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
)

func TestDecimal(t *testing.T) {
	for _, id := range []string{"0", "7", "42", "-100123", "1000", strings.Repeat("9", 38), "-" + strings.Repeat("9", 38)} {
		if err := check.Decimal("activity", "Actor", id); err != nil {
			t.Errorf("Decimal(%q) = %v", id, err)
		}
	}
	for _, id := range []string{"", "-", "-0", "+1", "00", "042", "-042", "1.0", "1e3", " 1", "1 ", "٣", "anna", strings.Repeat("9", 39)} {
		var bad *event.InputError
		if err := check.Decimal("activity", "Actor", id); !errors.As(err, &bad) || bad.Field != "Actor" {
			t.Errorf("Decimal(%q) = %v, want an InputError", id, err)
		}
	}
}
