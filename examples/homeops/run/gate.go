package run

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
	"github.com/homeops/ddbpatterns/examples/internal/sleep"
)

const (
	// The longest that the deliveries of updates may take on average for the queue in
	// memory to be emptied in time: 16 requests one after the other, of 60 ms each.
	aDelivery = time.Second
	// How often the database is asked while deliveries fail, and for how long at
	// most.
	probeEvery = 2 * time.Second
	toProbe    = 5 * time.Second
	// When Telegram is to repeat an update.
	whileDown = 10 * time.Second
	whileFull = time.Second
)

// gate is the queue as the worker uses it. While the database does not answer,
// nothing is received, so that no message spends its deliveries on an outage.
type gate struct {
	queue.Queue
	memory  *queue.Memory               // the queue, if it ends with this process
	pollers int                         // of the worker
	probe   func(context.Context) error // asks the database
	empty   time.Duration               // for what is in memory when the process ends
	log     *slog.Logger

	trouble chan struct{} // a delivery failed: ask the database

	mu     sync.Mutex           // guards what follows
	failed map[string]string    // message → receipt: in memory, after a failed delivery
	later  map[string]time.Time // until when, by receipt: messages that Telegram asks to wait
	doubt  bool                 // a delivery failed, and the database has not answered since
	down   bool                 // it was asked, and does not answer
	ending bool                 // the process ends: what fails in memory comes again at once
	turned chan struct{}        // closed, and replaced, when doubt changes
}

func newGate(q queue.Queue, memory *queue.Memory, empty time.Duration, log *slog.Logger, probe func(context.Context) error) *gate {
	return &gate{
		Queue: q, memory: memory, probe: probe, empty: empty, log: log,
		trouble: make(chan struct{}, 1), failed: map[string]string{}, later: map[string]time.Time{}, turned: make(chan struct{}),
	}
}

// entrance is the queue as the webhook and the clock use it. A queue in memory takes
// nothing from them while the database does not answer, and never more than can be
// worked on when the process ends. Telegram keeps for a day what is not acknowledged,
// which is longer than this process may live. What the worker sends for a job is not
// refused: it waits behind every update that was taken before.
type entrance struct{ *gate }

// Send implements queue.Queue. It returns a *queue.BusyError if the queue is in
// memory and must not grow.
func (e entrance) Send(ctx context.Context, body string, attributes map[string]string) (string, error) {
	if e.memory == nil {
		return e.Queue.Send(ctx, body, attributes)
	}
	e.mu.Lock() // no other message is sent between the check and this one
	defer e.mu.Unlock()
	if e.down {
		return "", &queue.BusyError{Reason: "the database does not answer", After: whileDown}
	}
	if e.memory.Len()-e.heldBack() >= e.room() {
		return "", &queue.BusyError{Reason: "more is waiting than could be worked on at the end", After: whileFull}
	}
	return e.Queue.Send(ctx, body, attributes)
}

// room is how many messages may be in the queue: those in hand, which are always
// finished, and those that the pollers can begin after them in the time at the
// end.
func (g *gate) room() int { return g.pollers + g.pollers*int(g.empty/aDelivery) }

// heldBack is how many messages wait only for Telegram. Everything is done with
// them except the bot's reply, and no end of the process is long enough for
// that: they take no room. The lock is held.
func (g *gate) heldBack() int {
	maps.DeleteFunc(g.later, func(_ string, until time.Time) bool { return !time.Now().Before(until) })
	return len(g.later)
}

// Receive implements queue.Queue. It waits while the database is in doubt.
func (g *gate) Receive(ctx context.Context, max int, wait time.Duration) ([]queue.Message, error) {
	turned, err := g.pass(ctx)
	if err != nil {
		return nil, err
	}
	polling, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-turned: // what this poll would bring could not be worked on
			stop()
		case <-polling.Done():
		}
	}()
	messages, err := g.Queue.Receive(polling, max, wait)
	if err != nil && polling.Err() != nil && ctx.Err() == nil {
		return nil, nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range messages {
		delete(g.failed, m.ID)
	}
	return messages, err
}

// pass waits until messages may be received, and returns a channel that is
// closed when they no longer may.
func (g *gate) pass(ctx context.Context) (turned <-chan struct{}, err error) {
	for {
		g.mu.Lock()
		doubt, turned := g.doubt, g.turned
		g.mu.Unlock()
		if !doubt {
			return turned, nil
		}
		select {
		case <-turned:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// observe is told what became of every delivery.
func (g *gate) observe(ctx context.Context, r worker.Report) {
	g.mu.Lock()
	defer g.mu.Unlock()
	later, asked := errors.AsType[*queue.LaterError](r.Err)
	switch {
	case asked: // not the database's trouble
		if g.memory != nil && !r.Delivery.Last() {
			g.later[r.Delivery.Receipt] = time.Now().Add(later.After)
		}
	case r.Err != nil:
		g.turn(true)
		select {
		case g.trouble <- struct{}{}:
		default:
		}
		switch {
		case g.ending:
			_ = g.memory.Release(ctx, r.Delivery.Receipt, 0) // never fails
		case g.memory != nil && !r.Delivery.Last():
			g.failed[r.Delivery.ID] = r.Delivery.Receipt
		}
	}
}

// turn stops receiving, or lets it go on. The lock is held.
func (g *gate) turn(doubt bool) {
	if doubt != g.doubt {
		g.doubt = doubt
		close(g.turned)
		g.turned = make(chan struct{})
	}
}

// watch asks the database after every delivery that failed, and goes on asking
// until it answers. A delivery that fails while the database answers is the
// message's trouble, and stops nothing.
func (g *gate) watch(ctx context.Context) {
	for {
		select {
		case <-g.trouble:
		case <-ctx.Done():
			return
		}
		for !g.answers(ctx) && ctx.Err() == nil {
			_ = sleep.For(ctx, probeEvery)
		}
	}
}

// answers reports whether the database answers, and stops or resumes the queue
// accordingly.
func (g *gate) answers(ctx context.Context) bool {
	asking, cancel := context.WithTimeout(ctx, toProbe)
	defer cancel()
	err := g.probe(asking)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return false // the process ends
	case err != nil:
		if !g.down {
			g.log.Warn("the database does not answer: nothing is worked on", "error", err)
		}
		g.down = true
		return false
	case g.down:
		g.log.Info("the database answers again")
	}
	g.down = false
	g.turn(false)
	return true
}

func (g *gate) isDown() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.down
}

// handBack makes messages that failed, and would come again later, visible at
// once. From now on that holds for every failure: the process ends, and its
// memory with it.
func (g *gate) handBack(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ending = true
	for _, receipt := range g.failed {
		_ = g.memory.Release(ctx, receipt, 0) // never fails
	}
}
