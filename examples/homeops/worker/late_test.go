package worker_test

import (
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/dmstatus"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
	"github.com/homeops/ddbpatterns/tzclock"
)

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
	count, err := b.Limits.Get(t.Context(), chatKey+"#answers", tzclock.Stockholm.Date(b.now))
	if err != nil || count.Used != 0 || len(r.Skipped) > 0 {
		t.Errorf("%d answers are used, skipped %v, %v", count.Used, r.Skipped, err)
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
			change := membership(b, private, status, b.now)
			if status == "member" {
				change.Body = `{"update_id":10` + change.Body[len(`{"update_id":9`):]
			}
			if err := b.Worker.Handle(t.Context(), change); err != nil {
				t.Fatal(err)
			}
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
