package function

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-lambda-go/events"
)

// Worker returns the worker's function, which has two callers: the queue's event
// source mapping, whose records go to batch, and the schedule, which names a job.
func Worker(
	batch func(context.Context, events.SQSEvent) (events.SQSEventResponse, error),
	job func(ctx context.Context, name string) error,
) func(context.Context, json.RawMessage) (any, error) {
	return func(ctx context.Context, in json.RawMessage) (any, error) {
		var scheduled struct {
			Job string `json:"job"`
		}
		if err := json.Unmarshal(in, &scheduled); err != nil {
			return nil, fmt.Errorf("reading the event: %w", err)
		}
		if scheduled.Job != "" {
			own, cancel := inTime(ctx)
			defer cancel()
			return nil, job(own, scheduled.Job)
		}
		var records events.SQSEvent
		if err := json.Unmarshal(in, &records); err != nil {
			return nil, fmt.Errorf("reading the records: %w", err)
		}
		return batch(ctx, records)
	}
}
