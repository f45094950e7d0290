package worker_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/dmstatus"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/tzclock"
)

// wantUnchanged delivers the message again and wants all tables unchanged.
func wantUnchanged(t *testing.T, b *bench, m telegram.Message) worker.Report {
	t.Helper()
	before := b.tables()
	r := b.handleNth(m, 2)
	if diff := cmp.Diff(before, b.tables()); diff != "" {
		t.Errorf("%q again: %s", m.Text, diff)
	}
	if r.Sent != "" {
		t.Errorf("%q again: sent %q", m.Text, r.Sent)
	}
	return r
}

// What was unsure stays so on a redelivery, though a yes has taught the word.
func TestAnUnsureMessageStaysUnsure(t *testing.T) {
	b := start(t)
	unsure := b.message(anna, "diksat nu")
	b.handle(unsure)
	b.now = b.now.Add(time.Minute)
	b.handle(b.reply(anna, "ja"))
	if r := wantUnchanged(t, b, unsure); r.Kind != worker.KindSaid || len(r.Recorded) != 0 {
		t.Errorf("%+v", r)
	}
}

// A message without an activity stays without one, though its words were taught
// since.
func TestWhatIsTaughtLaterIsNoActivity(t *testing.T) {
	b := start(t)
	pant := b.message(anna, "tog en pant")
	if r := b.handle(pant); r.Kind != worker.KindNone {
		t.Fatalf("%+v", r)
	}
	b.say(bo, "pant betyder pantning")
	if r := wantUnchanged(t, b, pant); r.Kind != worker.KindNone || len(r.Recorded) != 0 {
		t.Errorf("%+v", r)
	}
	b.now = b.now.Add(2 * time.Minute)
	if r := b.handle(b.message(anna, "tog en pant")); len(r.Recorded) != 1 || r.Recorded[0].Name != "pantning" {
		t.Errorf("%+v", r)
	}
}

// What was recorded stays an activity, though its words have since become a
// teaching.
func TestARecordedMessageDoesNotTeach(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		m := b.message(anna, "diskat betyder lugn och ro")
		b.breaksOff(m, "UpdateItem", "homeops")
		b.say(bo, "lugn och ro betyder vila")
		r := b.handleNth(m, 2)
		if r.Kind != worker.KindActivity || len(r.Recorded) != 1 || r.Recorded[0].Name != "diskning" {
			t.Errorf("%+v", r)
		}
		habit, ok, err := b.Habits.Get(t.Context(), chatKey, anna.Key(), "diskning")
		if err != nil || !ok || habit.Total != 1 {
			t.Errorf("habit %+v, %v, %v", habit, ok, err)
		}
	})
}

// A correction that died after it was written says what it wrote, even if its
// words mean something else by now.
func TestACorrectionIsAnsweredAsItWasMeant(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.say(anna, "fixandet betyder tvätt")
		b.say(anna, "pant betyder pantning")
		b.now = b.now.Add(2 * time.Minute)
		m := b.message(anna, "nej, pant betyder fixandet")
		b.breaksOff(m, "UpdateItem", "homeops-response-counters")
		b.say(bo, "nej, fixandet betyder städning")
		wantSent(t, b.handleNth(m, 2), "Rättat: «pant» är tvätt ✔")
	})
}

// Of two deliveries that classified differently, the first to record decides,
// and only that is learned.
func TestWhatWasRecordedFirstIsLearned(t *testing.T) {
	b := start(t)
	m := b.message(anna, "diskat")
	other := recordtest.Event(t, m.Time(), "telegram", chatKey, itoa(m.ID))
	first := activity.Activity{Scope: chatKey, Actor: anna.Key(), ActorName: "Anna", Event: other, Name: "vila", Kind: "recovery", Seq: m.ID, Effort: 1, Confidence: 1}
	if _, err := b.Activities.Record(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	r := b.handle(m) // this delivery is the first to save, and late to record
	if len(r.Recorded) != 1 || r.Recorded[0].Name != "vila" {
		t.Errorf("%+v", r.Recorded)
	}
	if _, ok, err := b.Habits.Get(t.Context(), chatKey, anna.Key(), "diskning"); ok || err != nil {
		t.Errorf("learned what does not stand: %v, %v", ok, err)
	}
}

// Too old to count is an answer: the item is done, and the report says why
// nothing was said.
func TestTooOldIsAnAnswer(t *testing.T) {
	b := start(t)
	m := b.message(anna, "diskat")
	b.now = b.now.Add(20 * 24 * time.Hour)
	for i := range 32 { // later events push it out of the habit's ring
		ev := recordtest.Event(t, b.now.Add(time.Duration(i)*time.Second), "x", itoa(int64(i)))
		if _, err := b.Habits.Observe(t.Context(), pattern.Observe{Scope: chatKey, Actor: anna.Key(), Name: "diskning", Event: ev}); err != nil {
			t.Fatal(err)
		}
	}
	r := b.handle(m)
	if r.Silent != "too old to answer" || len(r.Skipped) != 0 || len(r.Recorded) != 1 {
		t.Errorf("%+v", r)
	}
}

// Bad input inside a step cannot get better: it is skipped at once.
func TestBadInputInAStepIsSkipped(t *testing.T) {
	b := start(t)
	r := b.say(anna, "”"+strings.Repeat("x", 1100)+"” betyder disk")
	if r.Kind != worker.KindTeach || len(r.Skipped) != 1 || r.Skipped[0] != "teach" {
		t.Errorf("%s, skipped %v", r.Kind, r.Skipped)
	}
}

func TestOnlyRepliesToTheBotAreAnswersToIt(t *testing.T) {
	b := start(t)
	b.say(anna, "diksat nu")
	m := b.reply(bo, "ja")
	m.ReplyTo.From = &anna // somebody quotes the question
	if r := b.handle(m); r.Kind != worker.KindNone || len(r.Recorded) != 0 {
		t.Errorf("%+v", r)
	}
	m = b.reply(bo, "ja")
	m.ReplyTo.Date = m.Date + 5
	b.handle(m)
	if all, err := b.Prefs.All(t.Context(), bo.Key()); err != nil || len(all) != 0 {
		t.Errorf("timing learned from a reply to a person, or to a later message: %+v, %v", all, err)
	}
}

func membership(id int64, chat telegram.Chat, status string, at time.Time) queue.Message {
	return queue.Message{ID: "x", Receives: 1, Body: `{"update_id":` + itoa(id) + `,"my_chat_member":{"chat":{"id":` + itoa(chat.ID) +
		`,"type":"` + chat.Type + `"},"from":{"id":5001},"date":` + itoa(at.Unix()) + `,"new_chat_member":{"status":"` + status + `"}}}`}
}

func TestDMStatusIsOfPrivateChatsOnly(t *testing.T) {
	b := start(t)
	group := telegram.Chat{ID: chat, Type: "supergroup"}
	b.say(anna, "/start") // in the group
	b.mustHandle(membership(9, group, "left", b.now))
	if _, ok, err := b.DM.Get(t.Context(), anna.Key()); ok || err != nil {
		t.Errorf("a status from a group: %v, %v", ok, err)
	}
	private := telegram.Chat{ID: anna.ID, Type: "private"}
	b.mustHandle(membership(9, private, "left", b.now))
	wantDM(t, b, dmstatus.Stopped)
}

// stuck is a sender that never answers by itself.
type stuck struct{}

func (stuck) Send(ctx context.Context, _ telegram.Outgoing) (int64, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

func TestADeliveryIsCutOffInTime(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		deps := b.Deps
		deps.Sender = stuck{}
		batch := b.received(b.message(anna, "diskat"))
		began := time.Now()
		worker.New(deps).Work(t.Context(), batch)
		if took := time.Since(began); took != worker.PerItem {
			t.Errorf("took %v", took)
		}
	})
}

// A message that is processed late is judged by the time at which it was sent.

func TestThisWeekIsTheQuestions(t *testing.T) {
	b := start(t)
	b.now = time.Date(2026, 2, 22, 21, 50, 0, 0, tzclock.Stockholm.Location()) // a Sunday
	b.say(anna, "diskat")
	asked := b.message(bo, "Hur ofta har vi diskat den här veckan?")
	b.now = b.now.Add(12 * time.Hour) // it waited in the queue until Monday
	wantSent(t, b.handle(asked), "diskning den här veckan: 1")
}

func TestTheConversationWasFastWhenItWas(t *testing.T) {
	b := start(t)
	for range 3 {
		b.now = b.now.Add(5 * time.Second)
		b.handle(b.message(bo, "blabla"))
	}
	m := b.message(anna, "diskat")
	b.now = b.now.Add(10 * time.Minute)
	if r := b.handle(m); r.Silent != "fast conversation" {
		t.Errorf("sent %q, silent %q", r.Sent, r.Silent)
	}
}

// Message ids are a chat's own: two chats may both have number 101.
func TestChatsAnswerApart(t *testing.T) {
	b := start(t)
	one := b.message(anna, "Vem diskade senast?")
	other := one
	other.Chat = telegram.Chat{ID: chat - 1, Type: "supergroup"}
	for _, m := range []telegram.Message{one, other} {
		wantSent(t, b.handle(m), "diskning: aldrig, vad jag vet")
	}
}

func TestARefusedAnswerIsRefunded(t *testing.T) {
	b := start(t)
	b.sender.err = &telegram.RefusedError{Code: 403, Description: "Forbidden"}
	r := b.say(anna, "Vem diskade senast?")
	b.wantTaken(chatKey+"#answers", 0)
	if len(r.Skipped) > 0 {
		t.Errorf("skipped %v", r.Skipped)
	}
}

// A redelivery that cannot see what was recorded must not go on as if nothing
// had been recorded, not even at the last delivery.
func TestWhatWasRecordedMustBeKnown(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		m := b.message(anna, "diskat")
		b.handle(m)
		// The three attempts of the first question; later questions are answered.
		b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "Query", Table: "homeops-activities", Times: 3})
		if err := b.Worker.Handle(t.Context(), delivery(t, m, queue.MaxReceives)); err != nil || len(b.queue.Dead()) != 1 {
			t.Errorf("%v, and not among the dead letters: %+v", err, b.last)
		}
	})
}

// A no that died after it was recorded corrects to what it meant then, even if
// its words mean something else by now, and is not recorded again.
func TestANoMeansWhatItMeantAtFirst(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.say(anna, "fixandet betyder tvätt")
		b.say(anna, "diksat nu")
		b.now = b.now.Add(time.Minute)
		no := b.reply(anna, "nej, jag menade fixandet")
		b.breaksOff(no, "UpdateItem", "homeops")
		b.say(bo, "nej, fixandet betyder städning")
		var r worker.Report
		cost := b.db.Meter(func() { r = b.handleNth(no, 2) })
		wantSent(t, r, "Rättat: «diksat» är tvätt ✔")
		if n := cost.RequestsByTable["homeops-activities"]; n != 1 { // what was recorded
			t.Errorf("%d requests to the activities:\n%v", n, cost)
		}
	})
}

// Changes of one second are different events: which of them wins does not
// depend on the order in which they arrive.
func TestChangesOfOneSecond(t *testing.T) {
	t.Parallel()
	private := telegram.Chat{ID: anna.ID, Type: "private"}
	var ends []dmstatus.Status
	for _, order := range [][2]string{{"kicked", "member"}, {"member", "kicked"}} {
		b := newBench(t, 0)
		for _, status := range order {
			b.mustHandle(membership(map[string]int64{"kicked": 9, "member": 10}[status], private, status, b.now))
		}
		end, _, err := b.DM.Get(t.Context(), anna.Key())
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, end)
	}
	if ends[0] != ends[1] {
		t.Errorf("it ends %s, and in the other order %s", ends[0], ends[1])
	}
}
