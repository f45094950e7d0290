package function_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/function"
)

// The worker's function has two callers: a schedule names a job, whose time ends
// before the invocation's and whose error is the invocation's; all else are records.
func TestWorkerHasTwoCallers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		began, broken := time.Now(), errors.New("broken")
		var records int
		batch := func(_ context.Context, in events.SQSEvent) (events.SQSEventResponse, error) {
			records += len(in.Records)
			return events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{{ItemIdentifier: "id-1"}}}, nil
		}
		job := func(ctx context.Context, name string) error {
			<-ctx.Done() // as one that waits for a queue
			if name == "hourly" {
				return nil
			}
			return broken
		}
		worker := function.Worker(batch, job)
		out, err := worker(ctx, json.RawMessage(`{"Records":[`+record+`]}`))
		if text, _ := json.Marshal(out); err != nil || records != 1 || string(text) != `{"batchItemFailures":[{"itemIdentifier":"id-1"}]}` {
			t.Errorf("%d records, %s, %v", records, text, err)
		}
		if _, err := worker(ctx, json.RawMessage(`{"job":"hourly"}`)); err != nil || time.Since(began) != 30*time.Second-function.Margin {
			t.Errorf("the job ends after %v: %v", time.Since(began), err)
		}
		if _, err := worker(ctx, json.RawMessage(`{"job":"daily"}`)); !errors.Is(err, broken) || records != 1 {
			t.Errorf("%d records, %v", records, err)
		}
		for _, wrong := range []string{`{`, `{"Records":7}`} {
			if _, err := worker(ctx, json.RawMessage(wrong)); err == nil {
				t.Errorf("%s is taken", wrong)
			}
		}
	})
}
