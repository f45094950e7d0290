package worker_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
)

// What the chat has taught wins over the vocabulary.
func TestATaughtPhraseWins(t *testing.T) {
	b := start(t)
	wantSent(t, b.say(anna, "diskat betyder tvätt"), "Jag har lärt mig: «diskat» är tvätt ✔")
	wantSent(t, b.say(anna, "städat bilen betyder ”biltvätt”"), "Jag har lärt mig: «städat bilen» är biltvätt ✔")
	for text, want := range map[string][]string{
		"jag har DISKAT":           {"tvätt"},
		"Städat bilen":             {"biltvätt"},
		"dammsugit, städat bilen!": {"dammsugning", "biltvätt"},
	} {
		var names []string
		for _, a := range b.say(anna, text).Recorded {
			names = append(names, a.Name)
		}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// An activity that the chat made up is known by its name from then on, however
// many words it has.
func TestATaughtActivityCanBeAskedFor(t *testing.T) {
	b := start(t)
	b.say(anna, "Fido betyder ”gå ut med hunden”")
	b.say(anna, "Fido igen")
	wantSent(t, b.say(bo, "Hur ofta blev det gå ut med hunden den här veckan?"), "gå ut med hunden den här veckan: 1")
	wantSent(t, b.say(bo, "Rex betyder gå ut med hunden"), "Jag har lärt mig: «Rex» är gå ut med hunden ✔")
}

// A sentence that only looks like teaching or an introduction is classified
// like any other.
func TestSentencesTeachNothing(t *testing.T) {
	b := start(t)
	stranger := telegram.User{ID: 5003, Username: "ann"} // whose own name is learned
	for _, text := range []string{"Jag heter Anna och jag har diskat", "jag har diskat, och det betyder disken"} {
		if r := b.say(stranger, text); r.Kind != worker.KindActivity || len(r.Recorded) != 1 || r.Recorded[0].Name != "diskning" {
			t.Errorf("%q: %s %+v", text, r.Kind, r.Recorded)
		}
	}
	if r := b.say(stranger, "det betyder disken"); r.Kind != worker.KindNone || r.Sent != "" {
		t.Errorf("%s, sent %q", r.Kind, r.Sent)
	}
	phrases, err := b.Phrases.All(t.Context(), chatKey)
	names, nameErr := b.Names.All(t.Context(), chatKey)
	if err != nil || nameErr != nil || len(phrases) > 0 || len(names) != 1 || names[0].Phrase != "ann" {
		t.Errorf("learned %v %v, %v, %v", phrases, names, err, nameErr)
	}
}

// What is taught, said and asked for is taken apart in one way.
func TestWordsAreTheSameEverywhere(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ teach, said, ask, name string }{
		{"tv/radio betyder ”lagning”", "tv/radio!", "Vem gjorde tv/radio senast?", "lagning"},
		{"mom’s lamp betyder ”lagning”", "(mom’s lamp)", "Vem gjorde ”mom’s lamp” senast?", "lagning"},
		{"", "sta\u0308dat", "Vem sta\u0308dade senast?", "städning"},
		{"", "slängt soporna", "När slängde Bo soporna senast?", "sopor"},
		{"", "slängt soporna", "När tog Bo ut soporna senast?", "sopor"},
	} {
		b := newBench(t, 0)
		b.say(bo, "Jag heter Bo")
		if tc.teach != "" {
			b.say(anna, tc.teach)
		}
		if r := b.say(bo, tc.said); len(r.Recorded) != 1 || r.Recorded[0].Name != tc.name {
			t.Errorf("%q: recorded %+v", tc.said, r.Recorded)
		}
		if r := b.say(anna, tc.ask); !strings.HasPrefix(r.Sent, tc.name+": Bo, ") {
			t.Errorf("%q: sent %q", tc.ask, r.Sent)
		}
	}
}

// credits counts what the chat's activities credit, as "Anna diskning".
func credits(t *testing.T, b *bench) map[string]int {
	t.Helper()
	all := map[string]int{}
	for a, err := range b.Activities.InScope(t.Context(), chatKey, activityRange) {
		if err != nil {
			t.Fatal(err)
		}
		all[a.ActorName+" "+a.Name]++
	}
	return all
}

func wantCredits(t *testing.T, b *bench, want map[string]int) {
	t.Helper()
	if diff := cmp.Diff(want, credits(t, b)); diff != "" {
		t.Errorf("credits (-want +got)\n%s", diff)
	}
}

// later returns a function that makes replies to the bot's last message, each a
// minute after the one before.
func later(b *bench) func(telegram.User, string) telegram.Message {
	asked := b.reply(anna, "").ReplyTo
	return func(from telegram.User, text string) telegram.Message {
		b.now = b.now.Add(time.Minute)
		m := b.message(from, text)
		m.ReplyTo = asked
		return m
	}
}

// Anybody's yes teaches; only the person whom the bot asked is credited, once.
func TestOnlyWhoWasAskedIsCredited(t *testing.T) {
	b := start(t)
	b.say(anna, "diksat nu")
	answer := later(b)
	first, second, third := answer(bo, "ja"), answer(anna, "ja"), answer(anna, "japp!")
	wantSent(t, b.handle(first), "Då vet jag: «diksat» är diskning ✔")
	wantCredits(t, b, map[string]int{})
	if a, ok, err := b.Phrases.Get(t.Context(), chatKey, "diksat"); err != nil || !ok || a.Name != "diskning" {
		t.Errorf("%+v, %v, %v", a, ok, err)
	}
	if r := b.handle(second); len(r.Recorded) != 1 || r.Kind != worker.KindTeach {
		t.Errorf("%+v", r)
	}
	if r := b.handle(third); len(r.Recorded) != 0 || r.Sent == "" {
		t.Errorf("%+v", r)
	}
	wantCredits(t, b, map[string]int{"Anna diskning": 1})
	for _, m := range []telegram.Message{first, second, third} {
		wantUnchanged(t, b, m)
	}
}

// A question from an earlier version mentions nobody, and credits the first
// person who answers.
func TestAQuestionOfBeforeCreditsOnce(t *testing.T) {
	b := start(t)
	old := telegram.Message{ID: 9, Date: b.now.Unix(), Chat: telegram.Chat{ID: chat}, From: &bot, Text: "Menade du «diskning» med «diksat»? Svara ja, eller: nej, jag menade …"}
	b.now = b.now.Add(time.Minute)
	yes := b.message(bo, "ja")
	b.now = b.now.Add(time.Minute)
	no := b.message(anna, "nej, jag menade tvätt")
	yes.ReplyTo, no.ReplyTo = &old, &old
	b.handle(yes)
	wantSent(t, b.handle(no), "Rättat: «diksat» är tvätt ✔")
	wantCredits(t, b, map[string]int{"Bo diskning": 1})
	wantUnchanged(t, b, yes)
	wantUnchanged(t, b, no)
}

// A no that broke off before its correction means what it says, not what the
// yes before it recorded.
func TestANoAfterAYesCorrectsOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.say(anna, "diksat nu")
		answer := later(b)
		yes, no := answer(anna, "ja"), answer(anna, "nej, jag menade tvätt")
		b.handle(yes)
		b.breaksOff(no, "UpdateItem", "homeops")
		wantSent(t, b.handleNth(no, 2), "Rättat: «diksat» är tvätt ✔")
		wantCredits(t, b, map[string]int{"Anna diskning": 1})
	})
}

// Two yeses at once credit once.
func TestTwoYesesAtOnce(t *testing.T) {
	t.Parallel()
	for range 20 {
		b := newBench(t, 0)
		old := telegram.Message{ID: 9, Date: b.now.Unix(), Chat: telegram.Chat{ID: chat}, From: &bot, Text: "Menade du «diskning» med «diksat»? Svara ja, eller: nej, jag menade …"}
		b.now = b.now.Add(time.Minute)
		first, second := b.message(anna, "ja"), b.message(bo, "ja")
		first.ReplyTo, second.ReplyTo = &old, &old
		b.atOnce(delivery(t, first, 1), delivery(t, second, 1))
		if got := credits(t, b); len(got) != 1 || got["Anna diskning"]+got["Bo diskning"] != 1 {
			t.Errorf("credits %v", got)
		}
	}
}

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
			b.now = b.now.Add(time.Second)
			if r := b.handle(m); r.Kind != worker.KindNone || r.Sent != "" || len(r.Recorded) > 0 {
				t.Errorf("%q: %+v", text, r)
			}
			if kept, ok, err := b.Messages.Get(t.Context(), chatKey, m.ID); err != nil || !ok || kept.Text != text || !kept.At.Equal(m.Time()) {
				t.Errorf("%q is not kept: %+v, %v", text, kept, err)
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
