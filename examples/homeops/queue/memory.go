package queue

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Config of a Memory queue. The zero Config works.
type Config struct {
	// Now is the queue's clock. Defaults to time.Now.
	Now func() time.Time
	// Visibility defaults to the constant of that name.
	Visibility time.Duration
	// MaxReceives defaults to the constant of that name.
	MaxReceives int
	// MaxBytes defaults to the constant of that name.
	MaxBytes int
	// Log gets every dead letter. May be nil.
	Log *slog.Logger
}

// Memory is a Queue inside the process. What is in it, dead letters included,
// is lost with the process: a deployed service uses SQS.
type Memory struct {
	cfg Config

	mu      sync.Mutex // guards what follows
	entries []*entry   // in the order of sending
	dead    []*entry   // in the order of dying
	sent    int
	changed chan struct{} // closed, and replaced, when something may be visible
}

type entry struct {
	Message
	visible time.Time
}

// receive hides the entry until the given time, and returns the delivery.
func (e *entry) receive(until time.Time) Message {
	e.Receives++
	e.Receipt = fmt.Sprintf("%s/%d", e.ID, e.Receives)
	e.visible = until
	return e.Message
}

var _ Queue = (*Memory)(nil)

// NewMemory returns an empty queue.
func NewMemory(cfg Config) *Memory {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Visibility = cmp.Or(cfg.Visibility, Visibility)
	cfg.MaxReceives, cfg.MaxBytes = cmp.Or(cfg.MaxReceives, MaxReceives), cmp.Or(cfg.MaxBytes, MaxBytes)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Memory{cfg: cfg, changed: make(chan struct{})}
}

// Send implements Queue.
func (q *Memory) Send(ctx context.Context, body string, attributes map[string]string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	attributes = NonEmpty(attributes)
	if err := Check(body, attributes, q.cfg.MaxBytes); err != nil {
		return "", err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent++
	e := &entry{Message: Message{
		ID: fmt.Sprintf("m-%d", q.sent), Body: body, Attributes: attributes, MaxReceives: q.cfg.MaxReceives, SentAt: q.cfg.Now(),
	}}
	q.entries = append(q.entries, e)
	q.wake()
	return e.ID, nil
}

// wake wakes the waiting receivers; the lock is held.
func (q *Memory) wake() {
	close(q.changed)
	q.changed = make(chan struct{})
}

// Receive implements Queue.
func (q *Memory) Receive(ctx context.Context, max int, wait time.Duration) ([]Message, error) {
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		batch, changed, next := q.take(max)
		if len(batch) > 0 || wait <= 0 {
			return batch, nil
		}
		visible := time.NewTimer(next)
		select {
		case <-changed:
		case <-visible.C:
		case <-timeout.C:
			visible.Stop()
			return nil, nil
		case <-ctx.Done():
			visible.Stop()
			return nil, ctx.Err()
		}
		visible.Stop()
	}
}

// take receives what is visible, and moves what came back too often to the dead
// letters. If nothing is visible, it says when the next message will be.
func (q *Memory) take(max int) (batch []Message, changed <-chan struct{}, next time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now, next := q.cfg.Now(), time.Hour
	q.entries = slices.DeleteFunc(q.entries, func(e *entry) bool {
		switch {
		case now.Before(e.visible):
			next = min(next, e.visible.Sub(now))
		case e.Last():
			q.bury(e.Message)
			return true
		case len(batch) < max:
			batch = append(batch, e.receive(now.Add(q.cfg.Visibility)))
		}
		return false
	})
	return batch, q.changed, next
}

// Delete implements Queue.
func (q *Memory) Delete(_ context.Context, receipt string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.entries = slices.DeleteFunc(q.entries, func(e *entry) bool { return e.Receipt == receipt })
	return nil
}

// Release implements Queue.
func (q *Memory) Release(_ context.Context, receipt string, after time.Duration) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.entries {
		if e.Receipt == receipt {
			e.visible = q.cfg.Now().Add(after)
			q.wake()
		}
	}
	return nil
}

// Refuse implements Queue.
func (q *Memory) Refuse(ctx context.Context, body []byte, attributes map[string]string, reason string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent++
	text, attributes := Refusal(body, NonEmpty(attributes), reason, q.cfg.MaxBytes)
	q.bury(Message{ID: fmt.Sprintf("m-%d", q.sent), Body: text, Attributes: attributes, SentAt: q.cfg.Now()})
	return nil
}

// Bury implements Queue.
func (q *Memory) Bury(ctx context.Context, m Message, reason string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.entries = slices.DeleteFunc(q.entries, func(e *entry) bool { return e.Receipt == m.Receipt })
	m.Attributes = WithReason(m.Attributes, reason)
	m.Attributes[Delivery] = m.ID
	q.bury(m)
	return nil
}

// bury puts a message among the dead letters; the lock is held.
func (q *Memory) bury(m Message) {
	m.Receipt, m.MaxReceives = "", 0
	q.dead = append(q.dead, &entry{Message: m})
	m.Log(q.cfg.Log).Warn("dead letter", "reason", m.Why())
}

// Depth implements Queue.
func (q *Memory) Depth(context.Context) (Depth, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	depth := Depth{Dead: len(q.dead)}
	now := q.cfg.Now()
	for _, e := range q.entries {
		if e.Receipt != "" && now.Before(e.visible) {
			depth.InFlight++
		} else {
			depth.Waiting++
		}
	}
	return depth, nil
}

// DeadLetters implements Queue.
func (q *Memory) DeadLetters() DeadLetters { return deadLetters{q} }

type deadLetters struct{ *Memory }

// Receive implements DeadLetters.
func (q deadLetters) Receive(ctx context.Context, max int, hidden time.Duration) ([]Message, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	var batch []Message
	now := q.cfg.Now()
	for _, e := range q.dead {
		if len(batch) < max && !now.Before(e.visible) {
			batch = append(batch, e.receive(now.Add(hidden)))
		}
	}
	return batch, nil
}

// Delete implements DeadLetters.
func (q deadLetters) Delete(_ context.Context, receipt string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dead = slices.DeleteFunc(q.dead, func(e *entry) bool { return e.Receipt == receipt })
	return nil
}

// Dead returns the dead letters, oldest first.
func (q *Memory) Dead() []Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	return messages(q.dead)
}

// Left returns what is in the queue, visible or not, oldest first.
func (q *Memory) Left() []Message {
	q.mu.Lock()
	defer q.mu.Unlock()
	return messages(q.entries)
}

func messages(entries []*entry) []Message {
	all := make([]Message, len(entries))
	for i, e := range entries {
		all[i] = e.Message
	}
	return all
}

// Len returns how many messages are in the queue, visible or not.
func (q *Memory) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.entries)
}
