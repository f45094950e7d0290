// Package queue is the part of an SQS standard queue that the pipeline needs,
// and an implementation of it inside the process.
//
// A standard queue delivers at least once and in any order: a message that is
// received becomes invisible for a while, and comes back unless it is deleted.
// A message that came back too often goes to the dead-letter queue.
//
//	queue.go    what the pipeline needs of a queue
//	letter.go   dead letters: what becomes of a body that is refused
//	check.go    what SQS takes
//	memory.go   a queue inside the process
package queue

import (
	"context"
	"log/slog"
	"strconv"
	"time"
)

// Defaults of the deployed queue.
const (
	// Visibility is six times the worker's own limit of 30 s.
	Visibility = 180 * time.Second
	// MaxReceives is how often a message is received before it is dead.
	MaxReceives = 3
	// MaxBytes is what older SQS queues take, attributes included.
	MaxBytes = 262_144
)

// Attributes of a message.
const (
	ChatID    = "chatId"            // a String, as Telegram writes it
	MessageID = "telegramMessageId" // a Number
)

// Queue is what ingest, worker and operators need.
type Queue interface {
	// Send enqueues. It returns a *TooLargeError or ErrInvalidContents for a
	// message that the queue would refuse, before anything is sent.
	Send(ctx context.Context, body string, attributes map[string]string) (id string, err error)
	// Receive waits up to the given time for at least one message and returns
	// at most max, fewer or none.
	Receive(ctx context.Context, max int, wait time.Duration) ([]Message, error)
	// Delete acknowledges. A stale receipt does nothing: the message was
	// received again meanwhile, and that receiver is responsible for it.
	Delete(ctx context.Context, receipt string) error
	// Release makes the message visible again after the given time. It is
	// sooner if the queue cannot hide a message for so long: SQS hides for 12
	// hours in all.
	Release(ctx context.Context, receipt string, after time.Duration) error

	// Refuse puts a body that can never be processed among the dead letters,
	// with the reason, as [Refusal] says.
	Refuse(ctx context.Context, body []byte, attributes map[string]string, reason string) error
	// Bury puts a received message among the dead letters as it is, with the
	// reason, and deletes it. If it fails, or the process dies meanwhile, the
	// message may be in both places.
	Bury(ctx context.Context, m Message, reason string) error

	// Depth counts the messages. SQS's figures lag behind by up to a minute.
	Depth(ctx context.Context) (Depth, error)
	// DeadLetters are for operators.
	DeadLetters() DeadLetters
}

// DeadLetters is the dead-letter queue.
type DeadLetters interface {
	// Receive returns at most max letters, fewer or none, and hides them from
	// other receivers for the given time. SQS may return none although some
	// exist: ask again.
	Receive(ctx context.Context, max int, hidden time.Duration) ([]Message, error)
	// Delete ends a letter. A stale receipt does nothing.
	Delete(ctx context.Context, receipt string) error
}

// Depth is how many messages are in each state.
type Depth struct {
	Waiting  int // can be received, or wait for their time
	InFlight int // received, and not deleted yet
	Dead     int
}

// LogValues are its attributes for a log.
func (d Depth) LogValues() []any {
	return []any{"waiting", d.Waiting, "in_flight", d.InFlight, "dead", d.Dead}
}

// Message is one delivery.
type Message struct {
	ID         string
	Body       string
	Attributes map[string]string
	// Receives counts this delivery and those before it.
	Receives int
	// MaxReceives is the queue's own limit; 0 if it has none.
	MaxReceives int
	// Receipt names this delivery; the next has another.
	Receipt string
	SentAt  time.Time
}

// Last reports whether this delivery is the last before the dead-letter queue.
func (m Message) Last() bool { return m.MaxReceives > 0 && m.Receives >= m.MaxReceives }

// LogValues are a message's attributes for a log: everything except what people
// wrote.
func (m Message) LogValues() []any {
	return []any{
		"delivery", m.ID, "chat_id", m.Attributes[ChatID], "message_id", m.Attributes[MessageID],
		"receives", m.Receives, "bytes", m.size(),
	}
}

// size is how many bytes the original body had.
func (m Message) size() int {
	if n, err := strconv.Atoi(m.Attributes[FullSize]); err == nil {
		return n
	}
	body, _ := m.Content()
	return len(body)
}

// Log returns a logger that names the message.
func (m Message) Log(log *slog.Logger) *slog.Logger { return log.With(m.LogValues()...) }

// LaterError is returned by a handler if it makes no sense to deliver the
// message again before the time is over. The handler itself releases the
// message for that time.
type LaterError struct {
	After time.Duration
	Err   error // why
}

// Error is why.
func (e *LaterError) Error() string { return e.Err.Error() }

// Unwrap returns why.
func (e *LaterError) Unwrap() error { return e.Err }

// Handler processes one message. If it returns nil, the message is deleted.
type Handler func(context.Context, Message) error

// Process hands each message of a batch to the handler and returns the ids of
// those that failed, which stay in the queue: the partial batch failures of a
// Lambda event source mapping.
func Process(ctx context.Context, batch []Message, handle Handler) (failed map[string]error) {
	failed = map[string]error{}
	for _, m := range batch {
		if err := handle(ctx, m); err != nil {
			failed[m.ID] = err
		}
	}
	return failed
}
