package queue

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/ledgersqs"
)

// PerItem is how long one delivery may take; Visibility is six times that.
const PerItem = 30 * time.Second

// margin is how long before the end of a delivery's time package ledgersqs ends its work.
const margin = 2 * time.Second

// source is a Queue as package ledgersqs asks for it.
type source struct {
	Queue

	ready []Message          // in place of what the queue has
	last  map[string]Message // received last, by receipt
}

// ReceiveMessage implements ledgersqs.API.
func (s *source) ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, _ ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error) {
	batch, err := s.ready, error(nil)
	if batch == nil {
		batch, err = s.Receive(ctx, int(in.MaxNumberOfMessages), time.Duration(in.WaitTimeSeconds)*time.Second)
	}
	out := &sqs.ReceiveMessageOutput{}
	s.last = map[string]Message{}
	for _, m := range batch {
		s.last[m.Receipt] = m
		out.Messages = append(out.Messages, types.Message{MessageId: &m.ID, ReceiptHandle: &m.Receipt})
	}
	return out, err
}

// DeleteMessage implements ledgersqs.API.
func (s *source) DeleteMessage(ctx context.Context, in *sqs.DeleteMessageInput, _ ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error) {
	return &sqs.DeleteMessageOutput{}, s.Delete(ctx, *in.ReceiptHandle)
}

// ChangeMessageVisibility implements ledgersqs.API.
func (s *source) ChangeMessageVisibility(ctx context.Context, in *sqs.ChangeMessageVisibilityInput, _ ...func(*sqs.Options)) (*sqs.ChangeMessageVisibilityOutput, error) {
	return &sqs.ChangeMessageVisibilityOutput{}, s.Release(ctx, *in.ReceiptHandle, time.Duration(in.VisibilityTimeout)*time.Second)
}

// config leaves to the handler what is refused: its errors return a message to the queue.
func config(of func(ledgersqs.Message) Message, log *slog.Logger) *ledgersqs.Config {
	return &ledgersqs.Config{
		Timeout: PerItem + margin,
		Refused: func(_ context.Context, _ ledgersqs.Message, why error) error { return why },
		Log: func(ctx context.Context, m ledgersqs.Message, why error) {
			of(m).Log(log).WarnContext(ctx, "message goes back to the queue", "error", why)
		},
	}
}

// stays returns a message to the queue, whatever package ledgersqs would make of the error.
type stays struct {
	error
	wait time.Duration
}

// Unwrap is what tells ledgersqs when the message comes again.
func (s stays) Unwrap() error { return &ledger.InProgressError{Wait: s.wait} }

// toQueue makes of a handler's error one with which the message comes again.
func toQueue(err error) error {
	if err == nil {
		return nil
	}
	later := new(LaterError)
	errors.As(err, &later)
	return stays{err, later.After}
}

// Run receives messages, one after the other, and has them handled until the context ends.
func Run(ctx context.Context, q Queue, handle Handler, log *slog.Logger) {
	s := &source{Queue: q}
	of, do := s.handler(handle)
	_ = ledgersqs.Run(ctx, s, "queue", do, config(of, log)) // its input is good
}

// Work has messages handled that were received already.
func Work(ctx context.Context, q Queue, messages []Message, handle Handler, log *slog.Logger) {
	if len(messages) == 0 {
		return
	}
	s := &source{Queue: q, ready: messages}
	of, do := s.handler(handle)
	_ = ledgersqs.Poll(ctx, s, "queue", do, config(of, log))
}

func (s *source) handler(handle Handler) (of func(ledgersqs.Message) Message, do ledgersqs.Handler) {
	of = func(m ledgersqs.Message) Message { return s.last[m.Receipt] }
	return of, func(ctx context.Context, m ledgersqs.Message) error { return toQueue(handle(ctx, of(m))) }
}

// Function returns the function of Lambda behind the event source mapping of a queue that
// gives up a message after maxReceives; 0 is never.
func Function(q Queue, maxReceives int, handle Handler, log *slog.Logger) (func(context.Context, ledgersqs.Event) (ledgersqs.Response, error), error) {
	of := func(m ledgersqs.Message) Message { return messageOf(m, maxReceives) }
	cfg := config(of, log)
	cfg.Client, cfg.URL = &source{Queue: q}, "queue"
	return ledgersqs.Lambda(func(ctx context.Context, m ledgersqs.Message) error { return toQueue(handle(ctx, of(m))) }, cfg)
}

// messageOf returns the message as the queue itself would have delivered it.
func messageOf(m ledgersqs.Message, maxReceives int) Message {
	own := Message{ID: m.ID, Body: m.Body, Receipt: m.Receipt, Receives: m.Receives(), MaxReceives: maxReceives, Attributes: map[string]string{}}
	for name, attribute := range m.Attributes {
		if attribute.String != "" {
			own.Attributes[name] = attribute.String
		}
	}
	if sent, err := strconv.ParseInt(m.System["SentTimestamp"], 10, 64); err == nil {
		own.SentAt = time.UnixMilli(sent)
	}
	return own
}
