package worker_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
)

// What the message says of a person whom the chat knows is credited to that person
// on every delivery: the activity, effort, habit and promise, and the praise.
func TestWhatSomebodyElseDidIsTheirs(t *testing.T) {
	b := start(t)
	b.meet()
	b.say(bo, "Jag lovar att diska i kväll")
	b.now = b.now.Add(2 * time.Minute)
	m := b.message(anna, "bo har diskat och jag har dammsugit")
	r := b.handle(m)
	wantSent(t, r, "Tack Bo! diskning ✔ Tack Anna! dammsugning ✔")
	wantCredits(t, b, map[string]int{"Bo diskning": 1, "Anna dammsugning": 1})
	for _, who := range []telegram.User{anna, bo} {
		_, habit, err := b.Habits.Get(t.Context(), chatKey, who.Key(), "diskning")
		_, effort, err2 := b.Effort.Get(t.Context(), who.Key(), "diskning")
		if his := who.ID == bo.ID; habit != his || effort != his || err != nil || err2 != nil {
			t.Errorf("%s: habit %v, effort %v, %v, %v", who.Name(), habit, effort, err, err2)
		}
	}
	wantUnchanged(t, b, m)
	wantSent(t, b.say(anna, "Vad har Bo lovat?"), "Bo: inga löften just nu")
	wantSent(t, b.say(anna, "När diskade Bo senast?"), "diskning: Bo, 2026-02-18 12:08")
}

// A sender who also names themselves did it once.
func TestWhoNamesThemselvesDidItOnce(t *testing.T) {
	b := start(t)
	b.meet()
	b.now = b.now.Add(2 * time.Minute)
	m := b.message(anna, "Jag har diskat och dammsugit. Anna har diskat. Bo har diskat")
	wantSent(t, b.handle(m), "Tack Anna! diskning, dammsugning ✔ Tack Bo! diskning ✔")
	wantCredits(t, b, map[string]int{"Anna diskning": 1, "Anna dammsugning": 1, "Bo diskning": 1})
	wantUnchanged(t, b, m)
}

// Nobody is credited with what a stranger did, and a name counts in messages later
// than the one that it was learned from.
func TestNobodyIsCreditedForAStranger(t *testing.T) {
	b := start(t)
	b.say(anna, "Hej")
	b.now = b.now.Add(2 * time.Minute)
	early := b.message(anna, "Bo har diskat")
	if r := b.handle(early); r.Kind != worker.KindNone {
		t.Errorf("of a stranger: %+v", r)
	}
	b.say(bo, "Hej")
	if r := b.handleNth(early, 2); r.Kind != worker.KindNone {
		t.Errorf("redelivered: %+v", r)
	}
	wantCredits(t, b, map[string]int{})
	b.say(anna, "Bo har diskat")
	wantCredits(t, b, map[string]int{"Bo diskning": 1})
}

// A person who calls themselves "Jag" gets nothing of what others say that they
// did.
func TestAWordForOneselfIsNobodysName(t *testing.T) {
	b := start(t)
	b.meet()
	for i, name := range []string{"Jag", "I", "Ingen", "Jag har", "Vi"} {
		b.say(telegram.User{ID: 6000 + int64(i), FirstName: name}, "Hej")
	}
	for _, text := range []string{"Jag har diskat", "I took out the trash", "Ingen har dammsugit", "Vi har lagat mat"} {
		b.say(anna, text)
	}
	wantCredits(t, b, map[string]int{"Anna diskning": 1, "Anna sopor": 1, "Anna matlagning": 1})
}

// A forwarded message is kept and means nothing: no deed, no question, no answer.
func TestAForwardedMessageMeansNothing(t *testing.T) {
	b := start(t)
	b.meet()
	b.say(anna, "diksat nu")
	yes := b.reply(anna, "ja")
	for _, text := range []string{"Jag har diskat", "Vem diskade senast?", "pant betyder pantning", "diksat"} {
		for _, forward := range []func(*telegram.Message){
			func(m *telegram.Message) { m.ForwardOrigin = new(json.RawMessage(`{"type":"hidden_user","date":1}`)) },
			func(m *telegram.Message) { m.ForwardDate = 1 },
		} {
			b.now = b.now.Add(2 * time.Minute)
			m := b.message(bo, text)
			forward(&m)
			if r := b.handle(m); r.Kind != worker.KindNone || r.Sent != "" || len(r.Recorded) > 0 {
				t.Errorf("%q: %+v", text, r)
			}
			if kept, ok, err := b.Messages.Get(t.Context(), chatKey, m.ID); err != nil || !ok || kept.Text != text {
				t.Errorf("%q is not kept: %v", text, err)
			}
		}
	}
	yes.ForwardDate = 1
	if r := b.handle(yes); r.Kind != worker.KindNone || r.Sent != "" {
		t.Errorf("a forwarded yes: %+v", r)
	}
	wantCredits(t, b, map[string]int{})
}

// The names of others cost a read for each, and a round trip.
func TestPriceOfSomebodyElse(t *testing.T) {
	t.Parallel()
	prices := map[string]int{}
	for _, text := range []string{"Jag har diskat", "Bo har diskat", "Bo har diskat och dammsugit", "Jag har diskat och dammsugit"} {
		b := newBench(t, 0)
		b.meet()
		b.handle(b.message(bo, "Hej"))
		b.now = b.now.Add(2 * time.Minute)
		m := b.message(anna, text)
		prices[text] = b.db.Meter(func() { b.handle(m) }).Requests
	}
	if prices["Bo har diskat"] != prices["Jag har diskat"]+1 || prices["Bo har diskat och dammsugit"] != prices["Jag har diskat och dammsugit"]+1 {
		t.Errorf("%v", prices)
	}
}
