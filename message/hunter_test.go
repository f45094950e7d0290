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

// What a walk writes to Next, a later walk accepts, also behind a row of another system
// whose sequence is no whole number, and which the Match leaves out.
func TestHunterNextBehindAnUnreadableRowIsAccepted(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{ActorIndex: true})
	e.half(t, "6.5")
	for seq := int64(7); seq < 9; seq++ {
		m := said(seq, bo, 0)
		m.Data = map[string]any{"to": "Lund"}
		e.save(t, m)
	}
	match := message.Match{Data: []message.Compare{{Name: "to", Value: "Lund"}}}
	next := ""
	if got := seqs(t, e.ByActor(t.Context(), bo, message.TimeRange{Match: match, ReadAtMost: 1, Next: &next})); len(got) > 0 {
		t.Fatal(got)
	}
	for m, err := range e.ByActor(t.Context(), bo, message.TimeRange{Match: match, Cursor: next}) {
		if err != nil {
			t.Errorf("ByActor: %v, %v", m.Seq, err)
		}
	}
	next = ""
	for _, err := range e.InScope(t.Context(), chat, message.Range{Match: match, ReadAtMost: 1, Next: &next}) {
		t.Errorf("InScope to a ReadAtMost of 1: %v", err)
	}
	for m, err := range e.InScope(t.Context(), chat, message.Range{Match: match, Cursor: next}) {
		if err != nil {
			t.Errorf("InScope: %v, %v", m.Seq, err)
		}
	}
}
