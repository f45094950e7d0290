package worker_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
)

// remote is a queue that is reached over a network: it does nothing for a
// caller whose context has ended, or while it is broken.
type remote struct {
	*queue.Memory
	broken error
}

func (q remote) Bury(ctx context.Context, m queue.Message, reason string) error {
	if q.broken != nil {
		return q.broken
	}
	return q.Memory.Bury(ctx, m, reason)
}

func (q remote) Release(ctx context.Context, receipt string, after time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return q.Memory.Release(ctx, receipt, after)
}

func (q remote) Delete(ctx context.Context, receipt string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return q.Memory.Delete(ctx, receipt)
}

// deaf is a queue that cannot be reached, and counts the attempts.
type deaf struct {
	queue.Queue
	tried *int
}

func (q deaf) Receive(context.Context, int, time.Duration) ([]queue.Message, error) {
	*q.tried++
	return nil, errors.New("unreachable")
}

// ending is a Telegram that asks to wait at the very end.
type ending struct{ over context.CancelFunc }

func (e ending) Send(context.Context, telegram.Outgoing) (int64, error) {
	e.over()
	return 0, wait40
}

// on returns the bench's worker, with another queue.
func (b *bench) on(q queue.Queue) *worker.Worker {
	deps := b.Deps
	deps.Queue = q
	return worker.New(deps)
}

// A delivery whose time is over is settled all the same: it is a dead letter with
// a reason, or comes again when Telegram asks.
func TestADeliveryIsSettledAfterItsTime(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.db.Inject(dynamotest.Fault{Do: dynamotest.Delay(time.Hour), Op: "PutItem", Table: "homeops-messages", Times: -1})
		ctx, cancel := context.WithTimeout(t.Context(), worker.PerItem)
		defer cancel()
		if err := b.on(remote{Memory: b.queue}).Handle(ctx, delivery(t, b.message(anna, "diskat"), queue.MaxReceives)); err != nil {
			t.Error(err)
		}
		if dead := b.queue.Dead(); len(dead) != 1 || !strings.Contains(dead[0].Why(), "worker: save: ") || ctx.Err() == nil {
			t.Errorf("dead %+v, %v", dead, ctx.Err())
		}
	})
	b := newBench(t, 0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b.enqueue(b.message(anna, "Vem diskade senast?"))
	batch, err := b.queue.Receive(t.Context(), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	deps := b.Deps
	deps.Queue, deps.Sender = remote{Memory: b.queue}, ending{cancel}
	if err := worker.New(deps).Handle(ctx, batch[0]); err == nil {
		t.Error("it was not held back")
	}
	b.now = b.now.Add(40 * time.Second)
	if n := b.work(t.Context()); n != 1 {
		t.Error("it does not come when Telegram wants it to")
	}
}

// If the queue does not take a dead letter, the message is not lost: it stays,
// and comes again or is moved by the queue itself.
func TestWhatIsNotBuriedStays(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		broken := errors.New("broken")
		w := b.on(remote{Memory: b.queue, broken: broken})
		m := b.message(anna, "diskat")
		far := m
		far.Date = b.now.Add(48 * time.Hour).Unix()
		for n := range queue.MaxReceives {
			if err := w.Handle(t.Context(), delivery(t, far, n+1)); !errors.Is(err, broken) {
				t.Errorf("poison, delivery %d: %v", n+1, err)
			}
		}
		b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "PutItem", Table: "homeops-messages", Times: -1})
		if err := w.Handle(t.Context(), delivery(t, m, queue.MaxReceives)); err == nil || errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "worker: save: ") {
			t.Errorf("the last delivery: %v", err)
		}
	})
}

// A queue that cannot be reached is asked only once a second.
func TestAnUnreachableQueueIsAskedNowAndThen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Millisecond)
		defer cancel()
		tried := 0
		newBench(t, 0).on(deaf{tried: &tried}).Run(ctx, 1)
		if tried != 61 {
			t.Errorf("asked %d times in a minute", tried)
		}
	})
}
