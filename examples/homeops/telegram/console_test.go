package telegram_test

import (
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
)

func TestConsoleWrites(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := &telegram.Console{W: &out}
	for i, text := range []string{"hej", "då"} {
		if id, err := c.Send(t.Context(), telegram.Outgoing{Chat: -5, Text: text}); err != nil || id != 1_000_001+int64(i) {
			t.Errorf("message %d has the id %d, %v", i, id, err)
		}
	}
	if out.String() != "[-5] hej\n[-5] då\n" {
		t.Errorf("wrote %q", &out)
	}
}
