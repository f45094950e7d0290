package worker_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/dmstatus"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
	"github.com/homeops/ddbpatterns/tzclock"
)

const chatKey = "-1002123456789"

func wantSent(t *testing.T, r worker.Report, want string) {
	t.Helper()
	if r.Sent != want {
		t.Errorf("sent %q (silent: %q), want %q", r.Sent, r.Silent, want)
	}
}

func TestAnActivityIsRecordedLearnedAndPraised(t *testing.T) {
	b := start(t)
	r := b.say(anna, "Jag har diskat och dammsugit 👍")
	if r.Kind != worker.KindActivity || len(r.Recorded) != 2 {
		t.Fatalf("%+v", r)
	}
	wantSent(t, r, "Tack Anna! diskning, dammsugning ✔")
	habit, ok, err := b.Habits.Get(t.Context(), chatKey, anna.Key(), "diskning")
	if err != nil || !ok || habit.Total != 1 || habit.ByHour[12] != 1 || habit.ByDay[time.Wednesday] != 1 {
		t.Errorf("habit %+v, %v, %v", habit, ok, err)
	}
	effort, ok, err := b.Effort.Get(t.Context(), anna.Key(), "dammsugning")
	if err != nil || !ok || effort.Value != 1.5 || effort.Samples != 1 {
		t.Errorf("effort %+v, %v, %v", effort, ok, err)
	}
	msg, ok, err := b.Messages.Get(t.Context(), chatKey, b.nextID)
	if err != nil || !ok || msg.Text != "Jag har diskat och dammsugit 👍" || !strings.Contains(msg.Raw, `"update_id"`) {
		t.Errorf("message %+v, %v, %v", msg, ok, err)
	}
}

func TestTheCapIsThreeADay(t *testing.T) {
	b := start(t)
	var sent []string
	for range 4 {
		sent = append(sent, b.say(anna, "diskat").Sent)
	}
	want := []string{"Tack Anna! diskning ✔", "Tack Anna! diskning ✔", "Tack Anna! diskning ✔ (Nu är jag tyst till i morgon.)", ""}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Error(diff)
	}
	if b.last.Silent != "cap reached" {
		t.Errorf("silent: %q", b.last.Silent)
	}
	b.now = tzclock.Stockholm.End(tzclock.Stockholm.Date(b.now)).Add(8 * time.Hour)
	wantSent(t, b.say(anna, "diskat"), "Tack Anna! diskning ✔")
}

func TestQuietHoursTakeNothingOfTheCap(t *testing.T) {
	b := start(t)
	b.now = time.Date(2026, 2, 18, 22, 30, 0, 0, tzclock.Stockholm.Location())
	if r := b.say(anna, "diskat"); r.Silent != "quiet hours" || len(r.Recorded) != 1 {
		t.Errorf("in the evening: %+v", r)
	}
	b.wantTaken(chatKey, 0)
	// Sent by day, processed by night: quiet hours at either time suppress the
	// reply.
	b.now = time.Date(2026, 2, 19, 21, 59, 0, 0, tzclock.Stockholm.Location())
	late := b.message(anna, "diskat")
	b.now = b.now.Add(2 * time.Hour)
	if r := b.handle(late); r.Silent != "quiet hours" {
		t.Errorf("processed at night: %+v", r)
	}
	b.wantTaken(chatKey, 0)
	// Sent by night, processed by day.
	night := b.message(anna, "diskat")
	b.now = b.now.Add(12 * time.Hour)
	if r := b.handle(night); r.Silent != "quiet hours" {
		t.Errorf("sent at night: %+v", r)
	}
	b.now = b.now.Add(-12 * time.Hour)
	if r := b.say(anna, "diksat"); r.Kind != worker.KindGuess || r.Silent != "quiet hours" {
		t.Errorf("the bot asks at night: %+v", r)
	}
}

func TestAFastConversationIsLeftAlone(t *testing.T) {
	b := start(t)
	for range 3 {
		b.now = b.now.Add(5 * time.Second)
		b.handle(b.message(bo, "blabla"))
	}
	b.now = b.now.Add(5 * time.Second)
	if r := b.handle(b.message(anna, "diskat")); r.Silent != "fast conversation" || len(r.Recorded) != 1 {
		t.Errorf("%+v", r)
	}
	b.now = b.now.Add(2 * time.Minute)
	wantSent(t, b.handle(b.message(anna, "diskat")), "Tack Anna! diskning ✔")
}

func TestADefiniteRefusalIsRefunded(t *testing.T) {
	b := start(t)
	b.sender.err = &telegram.RefusedError{Code: 403, Description: "Forbidden"}
	if r := b.say(anna, "diskat"); r.Sent != "" || !strings.Contains(r.Silent, "Forbidden") {
		t.Errorf("%+v", r)
	}
	b.wantTaken(chatKey, 0)
	b.sender.err = errors.New("connection reset")
	b.say(anna, "diskat")
	b.wantTaken(chatKey, 1) // unclear, so spent
}

func TestARedeliveryRepliesOnce(t *testing.T) {
	b := start(t)
	b.now = b.now.Add(time.Hour)
	m := b.message(anna, "diskat")
	b.handle(m)
	// After midnight the event still counts on its own day.
	b.now = time.Date(2026, 2, 19, 12, 0, 0, 0, tzclock.Stockholm.Location())
	before := b.tables()
	r := b.handle(m)
	if r.Sent != "" || !r.Duplicate || r.Silent != "said before" {
		t.Errorf("redelivered: %+v", r)
	}
	if diff := cmp.Diff(before, b.tables()); diff != "" {
		t.Error(diff)
	}
}

func TestWithoutASenderNothingIsLearned(t *testing.T) {
	b := start(t)
	post := b.message(anna, "diskat")
	post.From = nil
	fake := b.message(anna, "diskat")
	fake.Sender = &telegram.Chat{ID: chat}
	robot := b.message(bot, "diskat")
	for _, m := range []telegram.Message{post, fake, robot} {
		if r := b.handle(m); r.Kind != worker.KindAnonym || r.Sent != "" {
			t.Errorf("%+v", r)
		}
		if _, ok, err := b.Messages.Get(t.Context(), chatKey, m.ID); err != nil || !ok {
			t.Errorf("not stored: %v", err)
		}
	}
	for _, err := range b.Activities.InScope(t.Context(), chatKey, activityRange) {
		t.Error("an activity was recorded", err)
	}
}

func TestTeachCorrectAndUse(t *testing.T) {
	b := start(t)
	wantSent(t, b.say(anna, "pant betyder pantning"), "Jag har lärt mig: «pant» är pantning ✔")
	wantSent(t, b.say(bo, "pant betyder städning"), "«pant» är redan pantning. Skriv: nej, pant betyder städning")
	wantSent(t, b.say(bo, "nej, pant betyder städning"), "Rättat: «pant» är städning ✔")
	if r := b.say(anna, "tagit en pant"); len(r.Recorded) != 1 || r.Recorded[0].Name != "städning" {
		t.Errorf("%+v", r)
	}
	if r := b.say(anna, "det betyder mycket"); r.Kind != worker.KindNone {
		t.Errorf("small talk is taken for teaching: %+v", r)
	}
}

func TestUnsureAsksAndYesConfirms(t *testing.T) {
	b := start(t)
	r := b.say(anna, "diksat nu")
	if r.Kind != worker.KindGuess {
		t.Fatalf("%+v", r)
	}
	wantSent(t, r, "Anna, menade du «diskning» med «diksat»? Svara ja, eller: nej, jag menade …")
	b.now = b.now.Add(time.Minute)
	yes := b.reply(anna, "ja")
	r = b.handle(yes)
	wantSent(t, r, "Då vet jag: «diksat» är diskning ✔")
	if len(r.Recorded) != 1 || r.Recorded[0].Actor != anna.Key() || !r.Recorded[0].Event.Time().Equal(yes.ReplyTo.Time()) {
		t.Errorf("recorded %+v: it is the event of the question", r.Recorded)
	}
	learned, ok, err := b.Phrases.Get(t.Context(), chatKey, "diksat")
	if err != nil || !ok || learned.Name != "diskning" || learned.Confirmations != 1 || learned.Source != alias.Learned {
		t.Errorf("%+v, %v, %v", learned, ok, err)
	}
	timing, ok, err := b.Prefs.Get(t.Context(), anna.Key(), worker.ResponseTiming)
	if err != nil || !ok || timing.Value != 30 {
		t.Errorf("timing %+v, %v, %v", timing, ok, err)
	}
	before := b.tables()
	for range 2 { // at once, and when nobody can still be at it
		if r := b.handle(yes); r.Sent != "" || r.Silent != "said before" {
			t.Errorf("the redelivered yes is answered again: %q, %q", r.Sent, r.Silent)
		}
		b.now = b.now.Add(10 * time.Minute)
	}
	if diff := cmp.Diff(before, b.tables()); diff != "" {
		t.Error(diff)
	}
}

func TestNoCorrects(t *testing.T) {
	t.Parallel()
	for no, meant := range map[string]string{"nej": "nej, jag menade tvätten", "nä": "ja men nej jag menade tvätt"} {
		b := newBench(t, 0)
		b.say(anna, "diksat nu")
		bare := b.reply(anna, no)
		b.now = b.now.Add(time.Minute)
		correction := b.reply(anna, meant)
		r := b.handle(bare)
		wantSent(t, r, "Vad betyder «diksat» då? Skriv: nej, diksat betyder …")
		recorded := r.Recorded
		r = b.handle(correction)
		wantSent(t, r, "Rättat: «diksat» är tvätt ✔")
		if len(recorded) != 0 || len(r.Recorded) != 1 || r.Recorded[0].Name != "tvätt" {
			t.Errorf("recorded %+v, then %+v", recorded, r.Recorded)
		}
		if a, ok, err := b.Phrases.Get(t.Context(), chatKey, "diksat"); err != nil || !ok || a.Name != "tvätt" {
			t.Errorf("%+v, %v, %v", a, ok, err)
		}
	}
}

func TestQuestions(t *testing.T) {
	b := start(t)
	wantSent(t, b.say(anna, "Jag heter Anna"), "Hej Anna!")
	wantSent(t, b.say(bo, "Jag heter Anna"), "Någon annan heter redan Anna här.")
	wantSent(t, b.say(bo, "my name is Bo"), "Hello Bo!")
	b.say(anna, "diskat")
	b.say(bo, "did the dishes")
	b.now = time.Date(2026, 2, 23, 8, 0, 0, 0, tzclock.Stockholm.Location()) // the next Monday
	b.say(anna, "diskat")
	for _, tc := range []struct{ ask, want string }{
		{"Vem diskade senast?", "diskning: Anna, 2026-02-23 08:02"},
		{"Who did the dishes last?", "diskning: Anna, 2026-02-23 08:02"},
		{"När diskade Bo senast?", "diskning: Bo, 2026-02-18 12:10"},
		{"When did Bo last do the dishes?", "diskning: Bo, 2026-02-18 12:10"},
		{"När diskade Cleo senast?", "Vem? Säg «jag heter …», så vet jag."},
		{"När dammsög Bo senast?", "dammsugning: Bo aldrig, vad jag vet"},
		{"Vem seglade senast?", "seglade: aldrig, vad jag vet"},
		{"Hur ofta har vi diskat den här veckan?", "diskning den här veckan: 1"},
		{"Hur ofta har Bo diskat den här veckan?", "diskning den här veckan av Bo: 0"},
		{"How often did I do the dishes this week?", "diskning this week by Bo: 0"},
		{"How many times did Anna do the dishes this week?", "diskning this week by Anna: 1"},
		{"How often were the dishes done this week?", "diskning this week: 1"},
		{"Vem tog ut soporna senast?", "sopor: aldrig, vad jag vet"},
		{"När hängde jag tvätten senast?", "tvätt: Bo aldrig, vad jag vet"},
		{"När gjorde Anna disken senast?", "diskning: Anna, 2026-02-23 08:02"},
		{"Hur ofta har Anna städat i köket den här veckan?", "städat i köket den här veckan av Anna: 0"}, // "i" is not I
		// Several people, everybody, strangers.
		{"När diskade Anna och Bo senast?", "diskning: Anna, 2026-02-23 08:02\ndiskning: Bo, 2026-02-18 12:10"},
		{"When did Anna and I last do the dishes?", "diskning: Anna, 2026-02-23 08:02\ndiskning: Bo, 2026-02-18 12:10"},
		{"När dammsög Anna, Bo eller Anna senast?", "dammsugning: Anna aldrig, vad jag vet\ndammsugning: Bo aldrig, vad jag vet"},
		{"Hur ofta har Anna och jag diskat den här veckan?", "diskning den här veckan av Anna: 1\ndiskning den här veckan av Bo: 0"},
		{"När diskade vi senast?", "diskning: Anna, 2026-02-23 08:02"},
		{"När diskade Anna och Doris senast?", "Vem? Säg «jag heter …», så vet jag."},
		{"När diskade Doris och Anna senast?", "Vem? Säg «jag heter …», så vet jag."},
		{"Hur ofta har Doris diskat den här veckan?", "Vem? Säg «jag heter …», så vet jag."},
		{"Hur många gånger lagade Doris mat den här veckan?", "Vem? Säg «jag heter …», så vet jag."},
		{"How often did Doris do the dishes this week?", "Who? Say «my name is …», and I will know."},
		{"Hur ofta har vi ätit pizza den här veckan?", "ätit pizza den här veckan: 0"},
		// No activity.
		{"När Anna senast?", "Vad då? Nämn en syssla, som disken."},
		{"När gjorde Anna det senast?", "Vad då? Nämn en syssla, som disken."},
		{"Vem gjorde det senast?", "Vad då? Nämn en syssla, som disken."},
		{"hur ofta har jag den här veckan?", "Vad då? Nämn en syssla, som disken."},
		{"När Anna, \u200b senast?", "Vad då? Nämn en syssla, som disken."},
		{"How often did I do it this week?", "Did what? Name a chore, such as the dishes."},
	} {
		r := b.say(bo, tc.ask)
		if r.Kind != worker.KindAsk || r.Sent != tc.want || len(r.Skipped) > 0 {
			t.Errorf("%q: %s, sent %q (silent %q, skipped %v), want %q", tc.ask, r.Kind, r.Sent, r.Silent, r.Skipped, tc.want)
		}
	}
	b.wantTaken(chatKey, 1) // the one praise: answers do not count against the cap of replies
}

func TestAnswersHaveACapOfTheirOwn(t *testing.T) {
	b := start(t)
	for n := range 51 {
		r := b.say(anna, "Vem diskade senast?")
		if answered := r.Sent != ""; answered != (n < 50) {
			t.Fatalf("question %d: %+v", n+1, r)
		}
	}
}

func TestDMStatusFollowsTheLaterEvent(t *testing.T) {
	b := start(t)
	start := b.message(anna, "/start")
	start.Chat = telegram.Chat{ID: anna.ID, Type: "private"}
	member := func(id int64, status string) queue.Message { return membership(id, start.Chat, status, b.now) }
	b.handle(start)
	wantDM(t, b, dmstatus.Started)
	b.now = b.now.Add(time.Minute)
	blocked := member(1, "kicked")
	b.now = b.now.Add(time.Minute)
	back := member(2, "member")
	for _, step := range []struct {
		delivery queue.Message
		want     dmstatus.Status
	}{{back, dmstatus.Started}, {blocked, dmstatus.Started}, {member(3, "kicked"), dmstatus.Started}} {
		b.mustHandle(step.delivery)
		if step.delivery.Body == back.Body || step.delivery.Body == blocked.Body {
			wantDM(t, b, step.want)
		}
	}
	b.now = b.now.Add(time.Minute)
	b.mustHandle(member(4, "kicked"))
	wantDM(t, b, dmstatus.Stopped)
}

func wantDM(t *testing.T, b *bench, want dmstatus.Status) {
	t.Helper()
	if got, ok, err := b.DM.Get(t.Context(), anna.Key()); err != nil || !ok || got != want {
		t.Errorf("DM status %q, %v, %v, want %q", got, ok, err, want)
	}
}

const tick = 10 * time.Millisecond

// seeds are 80 phrases that do not occur in the test's messages.
func seeds() map[string]string {
	seeds := map[string]string{}
	for i := range 80 {
		seeds[fmt.Sprintf("ordet nummer %d", i)] = "diskning"
	}
	return seeds
}

// The price of a message is part of what the example promises.
func TestPriceOfAMessage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text  string
		cold  bool
		kind  worker.Kind
		price dynamotest.Price
		depth int
	}{
		"an activity with a reply, warm": {"Jag har diskat", false, worker.KindActivity, dynamotest.Price{Requests: 10, RCU: 4, WCU: 8}, 4},
		"an activity with a reply, cold": {"Jag har diskat", true, worker.KindActivity, dynamotest.Price{Requests: 13, RCU: 7.5, WCU: 8}, 4},
		"nothing of interest, warm":      {"God morgon", false, worker.KindNone, dynamotest.Price{Requests: 2, RCU: 0.5, WCU: 1}, 1},
		"nothing of interest, cold":      {"God morgon", true, worker.KindNone, dynamotest.Price{Requests: 5, RCU: 4, WCU: 1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, tick)
				if err := b.Seed(t.Context(), map[string]map[string]string{"-1002123456789": seeds()}); err != nil {
					t.Fatal(err)
				}
				b.meet()
				at := b.now.Add(8 * time.Minute)
				b.now = b.now.Add(4 * time.Minute)
				b.say(bo, "Hej") // reads the phrases into memory
				if tc.cold {
					b.restart()
				}
				began := time.Now()
				var report worker.Report
				b.now = at
				m := b.message(anna, tc.text)
				cost := b.db.Meter(func() { report = b.handle(m) })
				cost.Want(t, tc.price)
				if report.Kind != tc.kind || cost.Depth != tc.depth || time.Since(began) != time.Duration(tc.depth)*tick {
					t.Errorf("%s, %d deep in %v\n%v", report.Kind, cost.Depth, time.Since(began), cost)
				}
			})
		})
	}
}

// Waiting costs praise two requests and an answer one. What is sent at once
// pays nothing for that.
func TestPriceOfWaiting(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][3]int{ // at once; a delivery that waits; the next
		"diskat":              {10, 12, 10},
		"Vem diskade senast?": {6, 7, 8},
	} {
		var got [3]int
		for i, first := range [][]error{nil, {wait40}} {
			b := newBench(t, 0)
			b.meet()
			b.handle(b.message(bo, "Hej")) // the phrases and names are in memory
			b.now = b.now.Add(2 * time.Minute)
			b.sender.first = first
			m := b.message(anna, text)
			for n := range 1 + i {
				got[i+n] = b.db.Meter(func() { _ = b.Worker.Handle(t.Context(), delivery(t, m, n+1)) }).Requests
			}
			wantSent(t, b.last, said[text])
		}
		if got != want {
			t.Errorf("%q: %v requests, want %v", text, got, want)
		}
	}
}

// In private the worker also asks whether the person has blocked the bot, and
// counts that they wrote to it, beside the other requests.
func TestPriceOfAPrivateMessage(t *testing.T) {
	b := start(t)
	b.sayIn(private, 1, anna, "Hej")
	b.db.Meter(func() { b.sayIn(private, 2, anna, "God morgon") }).Want(t, dynamotest.Price{Requests: 4, RCU: 1, WCU: 2})
}
