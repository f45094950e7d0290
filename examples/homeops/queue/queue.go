// Package queue is the part of an SQS standard queue that the pipeline needs,
// and an implementation of it inside the process.
//
// A standard queue delivers at least once and in any order: a message that is
// received becomes invisible for a while, and comes back unless it is deleted.
// A message that came back too often goes to the dead-letter queue.
//
//	queue.go    what the pipeline needs of a queue, what SQS takes, and what becomes of a
//	            body that is refused
//	memory.go   a queue inside the process
//	consume.go  any queue under package ledgersqs: in a process, and behind Lambda
package queue

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
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
// message again before the time is over.
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

// TooLargeError says that a message is over the queue's limit.
type TooLargeError struct{ Size, Limit int }

// Error gives both sizes.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("queue: a message of %d bytes is over the queue's limit of %d", e.Size, e.Limit)
}

// BusyError says that the queue took nothing, and when the caller may send the
// same message again.
type BusyError struct {
	Reason string
	After  time.Duration // when to send it again
}

// Error gives the reason.
func (e *BusyError) Error() string { return "queue: busy: " + e.Reason }

// ErrInvalidContents says that a body holds what SQS refuses: most control
// characters, U+FFFE and U+FFFF, or no characters at all.
var ErrInvalidContents = errors.New("queue: the body is empty or holds characters that SQS refuses")

// Check refuses what SQS would refuse: a message over the limit, attributes
// included, or one whose body or attributes are not text. SQS counts names,
// types and values of attributes.
func Check(body string, attributes map[string]string, limit int) error {
	if size := len(body) + sizeOf(attributes); size > limit {
		return &TooLargeError{Size: size, Limit: limit}
	}
	if !isText(body) {
		return ErrInvalidContents
	}
	for name, value := range attributes {
		if !isText(value) {
			return fmt.Errorf("attribute %s: %w", name, ErrInvalidContents)
		}
	}
	return nil
}

// NonEmpty returns a copy of the attributes without those that are empty, which
// SQS refuses.
func NonEmpty(attributes map[string]string) map[string]string {
	kept := maps.Clone(attributes)
	maps.DeleteFunc(kept, func(_, value string) bool { return value == "" })
	return kept
}

func sizeOf(attributes map[string]string) (size int) {
	for name, value := range attributes {
		size += len(name) + len(DataType(name)) + len(value)
	}
	return size
}

func isText(text string) bool {
	return text != "" && utf8.ValidString(text) && !strings.ContainsFunc(text, isRefused)
}

// isRefused reports whether SQS refuses the character.
func isRefused(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF
}

// DataType is SQS's type of an attribute.
func DataType(name string) string {
	switch name {
	case MessageID, FullSize:
		return "Number"
	}
	return "String"
}

// Attributes of a dead letter.
const (
	// Reason is why it is dead. A letter that SQS itself moved has no reason.
	Reason = "reason"
	// Delivery is the id that the message had in the queue.
	Delivery = "delivery"
	// Encoding is "base64" for a body that was refused: its bytes may be anything.
	Encoding = "encoding"
	// FullSize and FullHash belong to a refused body that was too large, and is
	// cut: how many bytes it had, and their SHA-256 in hexadecimal digits.
	FullSize = "bytes"
	FullHash = "sha256"
)

const isBase64 = "base64"

// nothing is base64 of no bytes, as a body: a message has at least one character.
const nothing = "\n"

// mostReason bounds a reason, in bytes.
const mostReason = 1000

// Refusal is the dead letter of a body that can never be processed: base64 of
// the body, or of as much as fits into a message of the given limit.
func Refusal(body []byte, attributes map[string]string, reason string, limit int) (string, map[string]string) {
	attributes = WithReason(attributes, reason)
	attributes[Encoding] = isBase64
	if base64.StdEncoding.EncodedLen(len(body))+sizeOf(attributes) > limit {
		sum := sha256.Sum256(body)
		attributes[FullSize], attributes[FullHash] = strconv.Itoa(len(body)), hex.EncodeToString(sum[:])
		body = body[:max(0, min(len(body), base64.StdEncoding.DecodedLen(limit-sizeOf(attributes))))]
	}
	text := base64.StdEncoding.EncodeToString(body)
	if text == "" {
		text = nothing
	}
	return text, attributes
}

// WithReason returns a copy of the attributes with the reason, bounded and as
// text that SQS takes.
func WithReason(attributes map[string]string, reason string) map[string]string {
	attributes = maps.Clone(attributes)
	if attributes == nil {
		attributes = map[string]string{}
	}
	reason = strings.Map(func(r rune) rune {
		if isRefused(r) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, reason)
	if len(reason) > mostReason {
		reason = strings.ToValidUTF8(reason[:mostReason-len("…")], "") + "…"
	}
	if reason == "" {
		reason = "unknown"
	}
	attributes[Reason] = reason
	return attributes
}

// WithoutReason returns the attributes that the message had in the queue.
func WithoutReason(attributes map[string]string) map[string]string {
	attributes = maps.Clone(attributes)
	for _, name := range []string{Reason, Delivery, Encoding, FullSize, FullHash} {
		delete(attributes, name)
	}
	return attributes
}

// Why says why a letter is dead.
func (m Message) Why() string {
	if reason := m.Attributes[Reason]; reason != "" {
		return reason
	}
	return fmt.Sprintf("no reason, %d receives", m.Receives)
}

// Content is the original body of a letter. Whole is false if the letter holds
// only its beginning, or cannot be decoded.
func (m Message) Content() (body []byte, whole bool) {
	if m.Attributes[Encoding] == "" {
		return []byte(m.Body), true
	}
	body, err := base64.StdEncoding.DecodeString(m.Body)
	if err != nil || m.Attributes[Encoding] != isBase64 {
		return []byte(m.Body), false
	}
	return body, m.Attributes[FullSize] == ""
}
