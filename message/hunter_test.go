package message_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/message"
)

// half puts a row of another system whose sequence is no whole number.
func (e *env) half(t *testing.T, seq string) {
	t.Helper()
	recordtest.Put(t, e.db.Client(), e.table, ddb.Item{
		"chatId": item.S(chat), "messageId": item.Digits(seq), "userId": item.Digits(bo), "text": item.S("?"),
		"timestamp": item.N(noon.UnixMilli()),
	})
}

// The threshold is reached before the row whose sequence cannot be read: until
// e947663 the answer was Fast.
func TestHunterFastConversationEndsBeforeTheNextPage(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	e.half(t, "6.5")
	e.save(t, said(7, bo, 3), said(8, bo, 2), said(9, cia, 1))
	pace, err := e.FastConversation(t.Context(), message.FastConversation{Scope: chat, Seq: 10, Actor: anna, At: noon})
	if err != nil || !pace.Fast {
		t.Errorf("%+v, %v; want Fast: three others in the window", pace, err)
	}
}

// A page that ends with a row whose sequence cannot be read has fifteen before it.
func TestHunterWalkYieldsWhatComesBeforeAnUnreadableRow(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	e.saveMany(t, 15)
	e.half(t, "15.5")
	e.save(t, said(16, anna, 0))
	n := 0
	var failed error
	for m, err := range e.InScope(t.Context(), chat, message.Range{}) {
		if failed = err; err == nil {
			n++
			_ = m
		}
	}
	if n != 15 || failed == nil {
		t.Errorf("%d messages, then %v; want 15, then the error", n, failed)
	}
	for m, err := range e.InScope(t.Context(), chat, message.Range{}) { // an early break never comes to the row
		if m.Seq != 1 || err != nil {
			t.Errorf("first: %d, %v", m.Seq, err)
		}
		break
	}
}
