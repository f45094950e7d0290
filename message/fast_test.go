package message_test

import (
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/message"
)

func TestFastConversation(t *testing.T) {
	t.Parallel()
	own := said(100, anna, 0) // what the question is about, said at noon
	for name, tc := range map[string]struct {
		before []message.Message
		ask    message.FastConversation // besides the message
		want   message.Pace
	}{
		"three of others":  {[]message.Message{said(97, bo, 30), said(98, bo, 20), said(99, cia, 10)}, message.FastConversation{}, message.Pace{Fast: true, Others: 3}},
		"four, counted up": {[]message.Message{said(96, bo, 40), said(97, bo, 30), said(98, bo, 20), said(99, cia, 10)}, message.FastConversation{}, message.Pace{Fast: true, Others: 3}},
		"one at the edge": {
			[]message.Message{said(97, bo, 60.001), said(98, bo, 60), said(99, cia, 0)}, message.FastConversation{}, message.Pace{Others: 2},
		},
		"what was said later does not count": {
			[]message.Message{said(99, bo, 10), said(101, bo, 0), said(102, cia, 0), said(103, bo, 0)}, message.FastConversation{}, message.Pace{Others: 1},
		},
		"nor what stands before but was said after": {
			[]message.Message{said(98, bo, 10), said(99, bo, -1)}, message.FastConversation{}, message.Pace{Others: 1},
		},
		"nobody is not another": {
			[]message.Message{said(97, "", 30), said(98, "", 20), said(99, bo, 10)}, message.FastConversation{}, message.Pace{Others: 1},
		},
		"a window of its own": {
			[]message.Message{said(97, bo, 30), said(98, bo, 20), said(99, cia, 10)}, message.FastConversation{Window: 20 * time.Second}, message.Pace{Others: 2},
		},
		"consistent": {
			[]message.Message{said(97, bo, 30), said(98, bo, 20), said(99, cia, 10)}, message.FastConversation{Consistent: true}, message.Pace{Fast: true, Others: 3},
		},
	} {
		e := open(t, message.Config{})
		e.save(t, own)
		e.save(t, tc.before...)
		elsewhere := said(99, bo, 1)
		elsewhere.Scope = chat + "4"
		e.save(t, elsewhere)
		e.now = noon.AddDate(0, 0, 3) // the clock says nothing of the conversation
		tc.ask.Scope, tc.ask.Seq, tc.ask.Actor, tc.ask.At = own.Scope, own.Seq, own.Actor, own.At
		if got, err := e.FastConversation(t.Context(), tc.ask); err != nil || got != tc.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, tc.want)
		}
	}
}

// Twelve messages of one's own stand between: ten are not enough to look at.
func TestFastConversationReadsAsFarAsTheWindow(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	e.save(t, said(1, bo, 55), said(2, cia, 54), said(3, bo, 53))
	for seq := int64(4); seq < 34; seq++ {
		e.save(t, said(seq, anna, float64(40-seq)))
	}
	ask := message.FastConversation{Scope: chat, Seq: 34, Actor: anna, At: noon}
	if pace, err := e.FastConversation(t.Context(), ask); err != nil || !pace.Fast || pace.Others != 3 {
		t.Errorf("FastConversation = %+v, %v", pace, err)
	}
	ask.Window = 54 * time.Second // leaves the first of the three out
	if pace, err := e.FastConversation(t.Context(), ask); err != nil || pace.Fast || pace.Others != 2 {
		t.Errorf("FastConversation = %+v, %v", pace, err)
	}
	// The message itself does not count, even if another sender's is stored in its place.
	for seq, want := range map[int64]int{1: 0, 3: 1} {
		ask = message.FastConversation{Scope: chat, Seq: seq, Actor: cia, At: noon.Add(-time.Duration(56-seq) * time.Second)}
		if pace, err := e.FastConversation(t.Context(), ask); err != nil || pace.Others != want {
			t.Errorf("of message %d: %+v, %v, want %d", seq, pace, err, want)
		}
	}
}

// The clock of one sender is slow: what lies behind its message is seen, in
// one request, and no more is read than where times rise.
func TestFastConversationLooksPastASlowClock(t *testing.T) {
	t.Parallel()
	ask := message.FastConversation{Scope: chat, Seq: 100, Actor: anna, At: noon}
	for name, tc := range map[string]struct {
		before   []message.Message
		want     message.Pace
		requests int
	}{
		"the nearest":       {[]message.Message{said(96, bo, 10), said(97, bo, 9), said(98, bo, 8), said(99, cia, 600)}, message.Pace{Fast: true, Others: 3}, 1},
		"and one's own too": {[]message.Message{said(95, bo, 10), said(96, bo, 9), said(97, bo, 8), said(98, cia, 600), said(99, anna, 1)}, message.Pace{Fast: true, Others: 3}, 2},
		"a quiet chat": {
			[]message.Message{said(94, bo, 650), said(95, bo, 640), said(96, bo, 630), said(97, bo, 620), said(98, bo, 610), said(99, bo, 8)},
			message.Pace{Others: 1},
			1,
		},
		"the last of its page ends the window": {
			[]message.Message{said(95, bo, 10), said(96, cia, 600), said(97, anna, 9), said(98, bo, 8), said(99, anna, 1)}, message.Pace{Others: 1}, 1,
		},
	} {
		e := open(t, message.Config{})
		e.save(t, tc.before...)
		cost := e.db.Meter(func() {
			if got, err := e.FastConversation(t.Context(), ask); err != nil || got != tc.want {
				t.Errorf("%s: %+v, %v, want %+v", name, got, err, tc.want)
			}
		})
		t.Log(name)
		cost.Want(t, dynamotest.Price{Requests: tc.requests, RCU: 0.5 * float64(tc.requests)})
	}
}

// Rows of the older system have seconds, and perhaps neither sender nor time.
func TestFastConversationAmongOldRows(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	row := func(seq int64) ddb.Item { return ddb.Item{"chatId": item.S(chat), "messageId": item.N(seq)} }
	for seq, before := range map[int64]int64{1: 61, 2: 60, 3: 20, 4: 10} {
		old := row(seq)
		old["userId"], old["timestamp"] = item.N(43), item.N(noon.Unix()-before)
		recordtest.Put(t, e.db.Client(), e.table, old)
	}
	nobody := row(5)
	nobody["timestamp"] = item.N(noon.Unix() - 5)
	recordtest.Put(t, e.db.Client(), e.table, nobody)
	timeless := row(6)
	timeless["userId"] = item.N(43)
	recordtest.Put(t, e.db.Client(), e.table, timeless) // must not end the window
	e.save(t, said(7, anna, 1))

	pace, err := e.FastConversation(t.Context(), message.FastConversation{Scope: chat, Seq: 8, Actor: anna, At: noon, Threshold: 9})
	if err != nil || pace.Others != 3 {
		t.Errorf("FastConversation = %+v, %v, want 3 others", pace, err)
	}
	// For a message without a sender everybody is another.
	pace, err = e.FastConversation(t.Context(), message.FastConversation{Scope: chat, Seq: 8, At: noon, Threshold: 9})
	if err != nil || pace.Others != 4 {
		t.Errorf("FastConversation of nobody's = %+v, %v, want 4 others", pace, err)
	}
}

func TestBadFastSendsNothing(t *testing.T) {
	t.Parallel()
	s, err := message.New(recordtest.Silent(t), "messages", &message.Config{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	for field, spoils := range map[string][]func(*message.FastConversation){
		"Scope":     {func(f *message.FastConversation) { f.Scope = "" }},
		"Seq":       {func(f *message.FastConversation) { f.Seq = 0 }},
		"Actor":     {func(f *message.FastConversation) { f.Actor = "bo" }},
		"At":        {func(f *message.FastConversation) { f.At = time.Time{} }, func(f *message.FastConversation) { f.At = noon.Add(2 * time.Hour) }},
		"Window":    {func(f *message.FastConversation) { f.Window = -1 }, func(f *message.FastConversation) { f.Window = 25 * time.Hour }},
		"Threshold": {func(f *message.FastConversation) { f.Threshold = -1 }, func(f *message.FastConversation) { f.Threshold = 1001 }},
	} {
		for _, spoil := range spoils {
			f := message.FastConversation{Scope: chat, Seq: 1, Actor: anna, At: noon}
			spoil(&f)
			_, err := s.FastConversation(t.Context(), f)
			recordtest.WantBad(t, err, "message", field)
		}
	}
	// Nothing can stand before the first message.
	if _, err := s.FastConversation(t.Context(), message.FastConversation{Scope: chat, Seq: 1, At: noon}); err != nil {
		t.Error(err)
	}
}

// The last row of the page has no whole sequence.
func TestFastConversationBesideAFractionalSequence(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	e.save(t, said(6, bo, 4))
	e.half(t, "6.5")
	e.save(t, said(7, bo, 3), said(8, anna, 2), said(9, cia, 1))
	ask := message.FastConversation{Scope: chat, Seq: 10, Actor: anna, At: noon, Threshold: 4}
	for threshold, want := range map[int]message.Pace{3: {Fast: true, Others: 3}, 4: {Fast: true, Others: 4}, 5: {Others: 4}} {
		ask.Threshold = threshold
		if got, err := e.FastConversation(t.Context(), ask); err != nil || got != want {
			t.Errorf("%d: %+v, %v, want %+v", threshold, got, err, want)
		}
	}
}
