package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/internal/sleep"
)

// How the worker polls.
const (
	pollWait = 20 * time.Second // SQS's longest
	batch    = 1
	// PerItem is how long one delivery may take; the queue's visibility is six
	// times that.
	PerItem = 30 * time.Second
	// toSettle is how long it may take to bury or release a delivery. A Lambda
	// function stops work two seconds before its own limit.
	toSettle = 1500 * time.Millisecond
	// afterTrouble is how long to wait when the queue cannot be reached.
	afterTrouble = time.Second
)

// Run polls the queue with the given number of pollers until the context ends.
// What is in flight then is finished, or goes back to the queue when it takes
// longer than PerItem.
func (w *Worker) Run(ctx context.Context, pollers int) {
	var wg sync.WaitGroup
	for range pollers {
		wg.Go(func() {
			for ctx.Err() == nil {
				w.poll(ctx)
			}
		})
	}
	wg.Wait()
}

func (w *Worker) poll(ctx context.Context) {
	messages, err := w.Queue.Receive(ctx, batch, pollWait)
	if err != nil && ctx.Err() == nil {
		w.Log.ErrorContext(ctx, "receiving messages failed", "error", err)
		_ = sleep.For(ctx, afterTrouble)
		return
	}
	w.Work(ctx, messages)
}

// Work handles a batch and settles each item. What is done is deleted. What
// failed is left to become visible again; when the process is about to end, at
// once, except what Handle has released for later.
func (w *Worker) Work(ctx context.Context, messages []queue.Message) {
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), PerItem)
	defer cancel()
	failed := queue.Process(own, messages, w.Handle)
	for _, m := range messages {
		err, bad := failed[m.ID]
		_, later := errors.AsType[*queue.LaterError](err)
		switch {
		case !bad:
			err = w.Queue.Delete(context.WithoutCancel(ctx), m.Receipt)
		case ctx.Err() != nil && !later:
			w.Log.WarnContext(ctx, "message goes back to the queue", "delivery", m.ID, "error", err)
			err = w.Queue.Release(context.WithoutCancel(ctx), m.Receipt, 0)
		default:
			w.Log.WarnContext(ctx, "message goes back to the queue", "delivery", m.ID, "error", err)
			err = nil
		}
		if err != nil { // it will be delivered again, which is safe
			w.Log.ErrorContext(ctx, "message not deleted or released", "delivery", m.ID, "error", err)
		}
	}
}
