package message_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/message"
)

// A ttl of 0 is no expiry, and neither is one that is no number: such rows
// stand. Another writer may have left them.
func TestARowWithoutARealTTLStands(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	e.put(t, ddb.Item{"chatId": text(chat), "messageId": number(1), "text": text("zero"), "ttl": number(0)})
	e.put(t, ddb.Item{"chatId": text(chat), "messageId": number(2), "text": text("none"), "ttl": text("never")})
	for seq, stands := range map[int64]string{1: "zero", 2: "none"} {
		if out, err := e.Save(t.Context(), said(seq, anna, 0)); err != nil || out != event.Duplicate {
			t.Errorf("Save over %s: %v, %v", stands, out, err)
		}
		if m, ok, err := e.Get(t.Context(), chat, seq); err != nil || !ok || m.Text != stands {
			t.Errorf("Get of %s = %q, %v, %v", stands, m.Text, ok, err)
		}
	}
}
