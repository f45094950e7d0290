package worker_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
)

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
		deps := b.Deps
		deps.Observe = nil
		w := worker.New(deps)
		var wg sync.WaitGroup
		for _, from := range []telegram.User{anna, bo} {
			yes := b.message(from, "ja")
			yes.ReplyTo = &old
			wg.Go(func() {
				if err := w.Handle(t.Context(), delivery(t, yes, 1)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got := credits(t, b); len(got) != 1 || got["Anna diskning"]+got["Bo diskning"] != 1 {
			t.Errorf("credits %v", got)
		}
	}
}
