package function

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

// Batch returns the function behind the event source mapping of an SQS queue that
// gives up a message after maxReceives; 0 is never. The mapping must ask for
// ReportBatchItemFailures: the function reports each message that failed, and never
// fails as a whole. The context ends [Margin] before the invocation does. A message
// that is not begun by then is reported as failed.
func Batch(maxReceives int, handle queue.Handler, log *slog.Logger) func(context.Context, events.SQSEvent) (events.SQSEventResponse, error) {
	return func(ctx context.Context, in events.SQSEvent) (events.SQSEventResponse, error) {
		own, cancel := inTime(ctx)
		defer cancel()
		messages := make([]queue.Message, len(in.Records))
		for i, record := range in.Records {
			messages[i] = messageOf(record, maxReceives)
		}
		failed := queue.Process(own, messages, func(ctx context.Context, m queue.Message) error {
			if ctx.Err() != nil {
				return errNotBegun
			}
			return handle(ctx, m)
		})
		var out events.SQSEventResponse
		for _, m := range messages {
			if err, bad := failed[m.ID]; bad {
				m.Log(log).WarnContext(ctx, "message goes back to the queue", "error", err)
				out.BatchItemFailures = append(out.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.ID})
			}
		}
		return out, nil
	}
}

var errNotBegun = errors.New("not begun: the time of the invocation is over")

// messageOf returns the record as the queue itself would have delivered it.
func messageOf(record events.SQSMessage, maxReceives int) queue.Message {
	m := queue.Message{
		ID: record.MessageId, Body: record.Body, Receipt: record.ReceiptHandle,
		Attributes: map[string]string{}, MaxReceives: maxReceives,
	}
	for name, attribute := range record.MessageAttributes {
		if attribute.StringValue != nil { // a String or a Number
			m.Attributes[name] = *attribute.StringValue
		}
	}
	m.Receives, _ = strconv.Atoi(record.Attributes["ApproximateReceiveCount"])
	if sent, err := strconv.ParseInt(record.Attributes["SentTimestamp"], 10, 64); err == nil {
		m.SentAt = time.UnixMilli(sent)
	}
	return m
}
