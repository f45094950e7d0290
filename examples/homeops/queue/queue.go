// Package queue is the part of an SQS standard queue that the pipeline stands
// on, and an implementation of it inside the process.
//
// A standard queue delivers at least once and in no promised order: a message
// that is received becomes invisible for a while, and comes back unless it is
// deleted. One that came back too often goes to the dead-letter queue.
package queue

import (
	"context"
	"errors"
	"fmt"
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

// Attribute names.
const (
	ChatID    = "chatId"
	MessageID = "messageId"
	// Reason stands on a dead letter: why it was refused.
	Reason = "reason"
)

// Queue is what ingest and worker need.
type Queue interface {
	// Send enqueues. It returns a *TooLargeError, before anything is sent, for
	// a message over the limit.
	Send(ctx context.Context, body string, attributes map[string]string) (id string, err error)
	// Receive waits up to the given time for at least one message and returns
	// at most max, fewer or none.
	Receive(ctx context.Context, max int, wait time.Duration) ([]Message, error)
	// Delete acknowledges. A receipt that is stale does nothing: the message
	// was received again meanwhile and that receiver answers for it.
	Delete(ctx context.Context, receipt string) error
	// Release makes the message visible again after the given time.
	Release(ctx context.Context, receipt string, after time.Duration) error
	// Refuse puts a message that cannot ever be processed straight among the
	// dead letters, with the reason.
	Refuse(ctx context.Context, body string, attributes map[string]string, reason string) error
}

// Message is one delivery.
type Message struct {
	ID         string
	Body       string
	Attributes map[string]string
	// Receives counts this delivery and those before it.
	Receives int
	// Receipt names this delivery; the next has another.
	Receipt string
	SentAt  time.Time
}

// Last reports whether this delivery is the last before the dead-letter queue.
func (m Message) Last() bool { return m.Receives >= MaxReceives }

// LogValues are what a log tells of a message: all but what people wrote.
func (m Message) LogValues() []any {
	return []any{
		"delivery", m.ID, "chat_id", m.Attributes[ChatID], "message_id", m.Attributes[MessageID],
		"receives", m.Receives, "bytes", len(m.Body), "reason", m.Attributes[Reason],
	}
}

// TooLargeError says that a message is over the queue's limit.
type TooLargeError struct{ Size, Limit int }

// Error gives both sizes.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("queue: a message of %d bytes, the queue takes %d", e.Size, e.Limit)
}

// ErrInvalidContents says that a body holds what SQS refuses: most control
// characters, U+FFFE and U+FFFF, or no characters at all.
var ErrInvalidContents = errors.New("queue: the body is empty or holds characters that SQS refuses")

// Handler processes one message. What it returns nil for is deleted.
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
