package telegram_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
)

// A service that writes for ever keeps nothing of it; a test asks for what was
// sent.
func TestConsoleKeepsWhatItIsTold(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{false, true} {
		var out strings.Builder
		c := &telegram.Console{W: &out, Keep: keep}
		var kept []telegram.Outgoing
		for i, text := range []string{"hej", "då"} {
			message := telegram.Outgoing{Chat: -5, Text: text}
			if id, err := c.Send(t.Context(), message); err != nil || id != 1_000_001+int64(i) {
				t.Errorf("message %d has the id %d, %v", i, id, err)
			}
			if keep {
				kept = append(kept, message)
			}
		}
		if diff := cmp.Diff(kept, c.Sent()); diff != "" || out.String() != "[-5] hej\n[-5] då\n" {
			t.Errorf("keep %v: wrote %q, kept %s", keep, &out, diff)
		}
	}
}
