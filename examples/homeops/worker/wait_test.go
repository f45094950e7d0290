package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
)

// errLost is a message that was sent though the reply was lost.
var errLost = errors.New("connection reset")

// wait40 is how Telegram asks to wait.
var wait40 = &telegram.RefusedError{Code: 429, Description: "Too Many Requests: retry after 40", RetryAfter: 40 * time.Second}

// enqueue puts the message on the bench's queue.
func (b *bench) enqueue(m telegram.Message) {
	b.t.Helper()
	if _, err := b.queue.Send(b.t.Context(), delivery(b.t, m, 1).Body, nil); err != nil {
		b.t.Fatal(err)
	}
}

// work handles what is visible on the bench's queue.
func (b *bench) work(ctx context.Context) int {
	b.t.Helper()
	batch, err := b.queue.Receive(b.t.Context(), 10, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	b.Worker.Work(ctx, batch)
	return len(batch)
}

// said are the messages whose answers are held back: each is said in its own way.
var said = map[string]string{
	"diskat":              "Tack Anna! diskning ✔",
	"Vem diskade senast?": "diskning: aldrig, vad jag vet",
	"diksat nu":           "Anna, menade du «diskning» med «diksat»? Svara ja, eller: nej, jag menade …",
	"pant betyder disk":   "Jag har lärt mig: «pant» är diskning ✔",
}

// If Telegram asks to wait, the message waits in the queue for exactly that
// long, and is said then.
func TestALongWaitIsInTheQueue(t *testing.T) {
	t.Parallel()
	for text, want := range said {
		b := newBench(t, 0)
		b.sender.first = []error{wait40}
		b.enqueue(b.message(anna, text))
		b.work(t.Context())
		if b.last.Silent != "asked to wait" || b.last.Err == nil || b.queue.Len() != 1 {
			t.Errorf("%q: %+v", text, b.last)
		}
		b.now = b.now.Add(40*time.Second - 1)
		if n := b.work(t.Context()); n != 0 {
			t.Errorf("%q: it came back before the time was over", text)
		}
		b.now = b.now.Add(1)
		b.restart() // whichever process has it next
		if n := b.work(t.Context()); n != 1 || b.queue.Len() != 0 {
			t.Errorf("%q: %d came back, %d left", text, n, b.queue.Len())
		}
		wantSent(t, b.last, want)
		if r := wantUnchanged(t, b, b.again(text)); len(b.sender.Sent()) != 1 {
			t.Errorf("%q: sent %v, %+v", text, b.sender.Sent(), r)
		}
		replies, err := b.Limits.Get(t.Context(), chatKey, b.now)
		answers, err2 := b.Limits.Get(t.Context(), chatKey+"#answers", b.now)
		if err != nil || err2 != nil || replies.Used+answers.Used != 1 {
			t.Errorf("%q: %d replies and %d answers of the day are used, %v, %v", text, replies.Used, answers.Used, err, err2)
		}
	}
}

// again is the bench's last message, with that text.
func (b *bench) again(text string) telegram.Message {
	b.nextID--
	m := b.message(anna, text)
	m.Date = noon.Unix()
	return m
}

// One chat's wait keeps no other waiting.
func TestAWaitStopsNoOtherChat(t *testing.T) {
	b := start(t)
	b.sender.first = []error{wait40}
	b.enqueue(b.message(anna, "diskat"))
	other := b.message(bo, "diskat")
	other.Chat.ID--
	b.enqueue(other)
	b.work(t.Context())
	wantSent(t, b.last, "Tack Bo! diskning ✔")
}

// If its last delivery is to wait, a message goes to the dead letters with the
// reason; once redriven, it is said.
func TestALastWaitIsADeadLetter(t *testing.T) {
	t.Parallel()
	for text, want := range said {
		b := newBench(t, 0)
		b.sender.first = []error{wait40, wait40, wait40}
		b.enqueue(b.message(anna, text))
		for range queue.MaxReceives {
			b.work(t.Context())
			b.now = b.now.Add(40 * time.Second)
		}
		dead := b.queue.Dead()
		if len(dead) != 1 || b.queue.Len() != 0 || !strings.HasPrefix(dead[0].Why(), "worker: Telegram asks to wait 40 s: ") {
			t.Fatalf("%q: %d left, dead %+v", text, b.queue.Len(), dead)
		}
		if _, err := b.queue.Send(t.Context(), dead[0].Body, queue.WithoutReason(dead[0].Attributes)); err != nil {
			t.Fatal(err)
		}
		b.work(t.Context())
		wantSent(t, b.last, want)
	}
}

// A shutdown does not shorten the wait.
func TestAShutdownKeepsTheWait(t *testing.T) {
	b := start(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	b.sender.first = []error{wait40}
	b.enqueue(b.message(anna, "diskat"))
	b.work(ctx)
	if n := b.work(t.Context()); n != 0 {
		t.Error("it came back before the time was over")
	}
	b.now = b.now.Add(40 * time.Second)
	b.work(t.Context())
	wantSent(t, b.last, "Tack Anna! diskning ✔")
}

// If a process dies anywhere, or two have the message, and Telegram asks to wait once or
// twice, it is answered at most once, and exactly once without a fault.
func TestDisturbedWaitsSendOnce(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"diskat", "Vem diskade senast?"} {
		for _, wait := range []time.Duration{20 * time.Second, queue.Visibility + 20*time.Second} {
			b := newBench(t, 0)
			b.waits = wait
			b.converges(delivery(t, b.message(anna, text), 1))
		}
	}
}

// Trouble beside the wait does not change when the message comes back.
func TestAWaitComesBeforeOtherTrouble(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.sender.first = []error{wait40}
		b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "UpdateItem", Table: "homeops", Times: -1})
		b.enqueue(b.message(anna, "diskat"))
		b.work(t.Context())
		if later, ok := errors.AsType[*queue.LaterError](b.last.Err); !ok || later.After != 40*time.Second {
			t.Errorf("%+v", b.last)
		}
		b.db.Heal()
	})
}
