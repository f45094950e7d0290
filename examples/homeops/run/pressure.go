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
	// A delivery takes about so many times as long as one read of the database:
	// for its dependent round trips, and the message to Telegram.
	readsADelivery = 8
	leastDelivery  = time.Millisecond
	// How often the database is asked while deliveries fail, and for how long at
	// most.
	probeEvery = 2 * time.Second
	toProbe    = 5 * time.Second
	// When Telegram is to repeat an update.
	whileDown = 10 * time.Second
	soonest   = time.Second
	latest    = time.Minute
)

// pressure is the queue as the service uses it. While the database does not
// answer, nothing is received, so that no message spends its deliveries on an
// outage. A queue in memory then takes nothing either, and it never takes more
// than can be worked on when the process ends. Telegram keeps for a day what is
// not acknowledged, which is longer than this process may live.
type pressure struct {
	queue.Queue
	memory  *queue.Memory               // the queue, if it ends with this process
	pollers int                         // of the worker
	probe   func(context.Context) error // asks the database
	empty   time.Duration               // for what is in memory when the process ends
	now     func() time.Time
	log     *slog.Logger

	trouble chan struct{} // a delivery failed: ask the database

	mu     sync.Mutex           // guards what follows
	inHand map[string]time.Time // since when, by receipt
	later  map[string]time.Time // until when, by receipt: messages that Telegram asks to wait
	takes  time.Duration        // a delivery, lately
	doubt  bool                 // a delivery failed, and the database has not answered since
	down   bool                 // it was asked, and does not answer
	ending bool                 // the process ends: what fails in memory comes again at once
	turned chan struct{}        // closed, and replaced, when doubt changes
}

func newPressure(q queue.Queue, memory *queue.Memory, empty time.Duration, log *slog.Logger, probe func(context.Context) error) *pressure {
	return &pressure{
		Queue: q, memory: memory, probe: probe, empty: empty, now: time.Now, log: log,
		trouble: make(chan struct{}, 1), inHand: map[string]time.Time{}, later: map[string]time.Time{}, turned: make(chan struct{}),
	}
}

// Send implements queue.Queue. It returns a *queue.BusyError if the queue is in
// memory and must not grow.
func (p *pressure) Send(ctx context.Context, body string, attributes map[string]string) (string, error) {
	if p.memory == nil {
		return p.Queue.Send(ctx, body, attributes)
	}
	p.mu.Lock() // no other message is sent between the check and this one
	defer p.mu.Unlock()
	if p.down {
		return "", &queue.BusyError{Reason: "the database does not answer", After: whileDown}
	}
	takes := p.aDelivery()
	if over := p.memory.Len() - p.heldBack() + 1 - p.room(takes); over > 0 {
		after := time.Duration(over) * takes / time.Duration(p.pollers)
		return "", &queue.BusyError{Reason: "more is waiting than could be worked on at the end", After: min(max(after, soonest), latest)}
	}
	return p.Queue.Send(ctx, body, attributes)
}

// room is how many messages may be in the queue: those in hand, which are always
// finished, and those that the pollers can begin after them in the time at the
// end.
func (p *pressure) room(takes time.Duration) int {
	return p.pollers + p.pollers*int(p.empty/takes)
}

// heldBack is how many messages wait only for Telegram. Everything is done with
// them except the bot's reply, and no end of the process is long enough for
// that: they take no room. The lock is held.
func (p *pressure) heldBack() int {
	maps.DeleteFunc(p.later, func(_ string, until time.Time) bool { return !p.now().Before(until) })
	return len(p.later)
}

// aDelivery is how long a delivery takes: what deliveries took lately, or
// longer if all pollers have been at work on theirs for longer. The lock is
// held.
func (p *pressure) aDelivery() time.Duration {
	takes := max(p.takes, leastDelivery)
	if len(p.inHand) < p.pollers {
		return takes
	}
	least := time.Duration(1<<63 - 1)
	for _, since := range p.inHand {
		least = min(least, p.now().Sub(since))
	}
	return max(takes, least)
}

// Receive implements queue.Queue. It waits while the database is in doubt.
func (p *pressure) Receive(ctx context.Context, max int, wait time.Duration) ([]queue.Message, error) {
	turned, err := p.pass(ctx)
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
	messages, err := p.Queue.Receive(polling, max, wait)
	if err != nil && polling.Err() != nil && ctx.Err() == nil {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range messages {
		p.inHand[m.Receipt] = p.now()
	}
	return messages, err
}

// pass waits until messages may be received, and returns a channel that is
// closed when they no longer may.
func (p *pressure) pass(ctx context.Context) (turned <-chan struct{}, err error) {
	for {
		p.mu.Lock()
		doubt, turned := p.doubt, p.turned
		p.mu.Unlock()
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
func (p *pressure) observe(ctx context.Context, r worker.Report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	since, timed := p.inHand[r.Delivery.Receipt]
	delete(p.inHand, r.Delivery.Receipt)
	later, asked := errors.AsType[*queue.LaterError](r.Err)
	switch {
	case asked: // not the database's trouble
		if p.memory != nil && !r.Delivery.Last() {
			p.later[r.Delivery.Receipt] = p.now().Add(later.After)
		}
	case r.Err != nil: // its time says nothing: the next may go well
		p.turn(true)
		select {
		case p.trouble <- struct{}{}:
		default:
		}
		if p.ending {
			_ = p.memory.Release(ctx, r.Delivery.Receipt, 0) // never fails
		}
	case timed:
		p.takes += (p.now().Sub(since) - p.takes) / 4
	}
}

// turn stops receiving, or lets it go on. The lock is held.
func (p *pressure) turn(doubt bool) {
	if doubt != p.doubt {
		p.doubt = doubt
		close(p.turned)
		p.turned = make(chan struct{})
	}
}

// watch asks the database after every delivery that failed, and goes on asking
// until it answers. A delivery that fails while the database answers is the
// message's trouble, and stops nothing.
func (p *pressure) watch(ctx context.Context) {
	for {
		select {
		case <-p.trouble:
		case <-ctx.Done():
			return
		}
		for !p.answers(ctx) && ctx.Err() == nil {
			_ = sleep.For(ctx, probeEvery)
		}
	}
}

// answers reports whether the database answers, and stops or resumes the queue
// accordingly.
func (p *pressure) answers(ctx context.Context) bool {
	began := p.now()
	asking, cancel := context.WithTimeout(ctx, toProbe)
	defer cancel()
	err := p.probe(asking)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case ctx.Err() != nil:
		return false // the process ends
	case err != nil:
		if !p.down {
			p.log.Warn("the database does not answer: nothing is worked on", "error", err)
		}
		p.down = true
		return false
	case p.down:
		p.log.Info("the database answers again")
		p.takes = readsADelivery * p.now().Sub(began)
	}
	p.down = false
	p.turn(false)
	return true
}

// begin gives the time that a read takes, before a delivery has been measured.
func (p *pressure) begin(read time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.takes = readsADelivery * read
}

func (p *pressure) isDown() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.down
}

// handBack makes messages that failed, and would come again later, visible at
// once. From now on that holds for every failure: the process ends, and its
// memory with it.
func (p *pressure) handBack(ctx context.Context) {
	p.mu.Lock()
	p.ending = true
	p.mu.Unlock()
	for _, m := range p.memory.Left() {
		p.mu.Lock()
		_, inHand := p.inHand[m.Receipt]
		_, later := p.later[m.Receipt]
		p.mu.Unlock()
		if m.Receipt != "" && !inHand && !later {
			_ = p.memory.Release(ctx, m.Receipt, 0) // never fails
		}
	}
}
