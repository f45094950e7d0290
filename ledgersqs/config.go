package ledgersqs

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
)

// pkg names the package in errors.
const pkg = "ledgersqs"

// API has the methods of *sqs.Client that are called.
type API interface {
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	DeleteMessage(context.Context, *sqs.DeleteMessageInput, ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error)
	ChangeMessageVisibility(context.Context, *sqs.ChangeMessageVisibilityInput, ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error)
}

var _ API = (*sqs.Client)(nil)

// Handler does the work of a message. nil means that it is done; [verdict.Of] says what
// an error means. After an error that Of does not know, the message comes again when its
// visibility ends: mark what would fail each time with [ledger.Permanent].
type Handler func(ctx context.Context, m Message) error

// Once returns a handler that does the work of a key by [ledger.Do], until it is done.
// A message whose key is done counts as done. The key must be the same in every
// delivery, such as the order's id in the body or in an attribute. The id of the
// message is not enough: a sender that hears no reply sends the same order again, as
// another message. If key returns an error, the work is not begun, and the handler
// returns that error: mark it with [ledger.Permanent] if the body cannot be read. Mark
// the work's errors that would come again, too.
//
// Once does not compare bodies: an order that comes again with another address counts as
// done. Where that matters, call Do with the body as Request.Payload.
//
// For work that writes to DynamoDB in one transaction with its result, call [ledger.DoTx]
// in a Handler of your own, with Lease(ctx) as the Request's Lease.
//
// Price: that of Do.
func Once(store *ledger.Store, key func(Message) (string, error), work func(context.Context, Message, *ledger.Claim) error) Handler {
	return func(ctx context.Context, m Message) error {
		k, err := key(m)
		if err != nil {
			return err
		}
		_, err = ledger.Do(ctx, store, ledger.Request{Key: k, Lease: Lease(ctx)}, func(ctx context.Context, c *ledger.Claim) (struct{}, error) {
			return struct{}{}, work(ctx, m, c)
		})
		return err
	}
}

type leaseKey struct{}

// Lease returns the lease for the work of the message whose handler has the context: see
// [ledger.Request]. In any other context it is 0, which is the ledger's own.
func Lease(ctx context.Context) time.Duration {
	lease, _ := ctx.Value(leaseKey{}).(time.Duration)
	return lease
}

// Config of Run, Poll and Lambda. Refused is required.
type Config struct {
	// Refused keeps a message that can never be done, for people: in a table, or as a
	// dead letter with the reason. When it returns nil, the message is deleted. When it
	// returns an error, the message stays, until the queue moves it to its dead-letter
	// queue. A crash after it lets it be called again for the same message, perhaps with
	// another reason: keep the first one, by a condition that the row does not exist,
	// and return nil for the second.
	Refused func(ctx context.Context, m Message, why error) error

	// Lease is the longest lease of [Once]. It is renewed while the work runs. At least 1
	// second. Defaults to 1 minute.
	Lease time.Duration

	// Log is told of each message that stays in the queue, and why. It is also told of
	// each request to SQS that failed, except Poll's receive; the Message may be zero
	// then. Defaults to a warning of package slog with the message's id, and without
	// its body.
	Log func(ctx context.Context, m Message, why error)

	// Timeout is for [Run] what a function's own timeout is for Lambda: how long the
	// messages that are received together may take. At least 3 seconds. Defaults to 30
	// seconds.
	Timeout time.Duration

	// Batch is how many messages Run receives at once, up to 10. They are worked on
	// one after the other, and their visibility runs meanwhile. Defaults to 1.
	Batch int

	// Client and URL are the queue, for [Lambda]: with them, a message whose key is in
	// progress comes again after the error's Wait; without them, when its visibility ends.
	Client API
	URL    string
}

// filled checks the configuration, and returns it with its defaults.
func (c *Config) filled(handle Handler) (own Config, err error) {
	own = *cmp.Or(c, new(Config))
	if own.Log == nil {
		own.Log = warn
	}
	own.Lease, own.Timeout, own.Batch = cmp.Or(own.Lease, time.Minute), cmp.Or(own.Timeout, 30*time.Second), cmp.Or(own.Batch, 1)

	bad := func(field, reason string, args ...any) (Config, error) {
		return own, event.BadInput(pkg, field, fmt.Sprintf(reason, args...))
	}
	switch {
	case handle == nil:
		return bad("handle", "must not be nil")
	case own.Refused == nil:
		return bad("Config.Refused", "must not be nil: deleting what is refused would lose it")
	case own.Lease < shortest:
		return bad("Config.Lease", "must be at least %v, is %v", shortest, own.Lease)
	case own.Timeout < margin+shortest:
		return bad("Config.Timeout", "must be at least %v, is %v", margin+shortest, own.Timeout)
	case own.Batch < 0 || own.Batch > 10:
		return bad("Config.Batch", "must be 1 to 10, is %d", own.Batch)
	case (own.Client == nil) != (own.URL == ""):
		return bad("Config.URL", "must be given with Config.Client, and only then")
	}

	return own, nil
}

func warn(ctx context.Context, m Message, why error) {
	slog.WarnContext(ctx, "a message stays in the queue, or SQS failed", "message", m.ID, "error", why)
}
