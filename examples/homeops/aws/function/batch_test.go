package function_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/function"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/ledgersqs"
)

// record is a record as Lambda writes it.
const record = `{"messageId":"id-1","receiptHandle":"receipt","body":"{\"update_id\":1}","md5OfBody":"0","eventSource":"aws:sqs",
	"attributes":{"ApproximateReceiveCount":"2","SentTimestamp":"1795329006731","ApproximateFirstReceiveTimestamp":"1795329006800"},
	"messageAttributes":{
		"chatId":{"stringValue":"-5","stringListValues":[],"binaryListValues":[],"dataType":"String"},
		"telegramMessageId":{"stringValue":"7","stringListValues":[],"binaryListValues":[],"dataType":"Number"},
		"image":{"binaryValue":"AAE=","stringListValues":[],"binaryListValues":[],"dataType":"Binary"}}}`

func batchOf(t *testing.T, records ...string) (in ledgersqs.Event) {
	t.Helper()
	if err := json.Unmarshal([]byte(`{"Records":[`+strings.Join(records, ",")+`]}`), &in); err != nil {
		t.Fatal(err)
	}
	return in
}

// batch is the function of a queue that gives up after three receives.
func batch(t *testing.T, handle queue.Handler, log *slog.Logger) func(context.Context, ledgersqs.Event) (ledgersqs.Response, error) {
	t.Helper()
	f, err := queue.Function(queue.NewMemory(queue.Config{}), 3, handle, log)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestBatchHandsMessagesOver(t *testing.T) {
	t.Parallel()
	var got queue.Message
	handle := func(_ context.Context, m queue.Message) error { got = m; return nil }
	out, err := batch(t, handle, slog.New(slog.DiscardHandler))(t.Context(), batchOf(t, record))
	if err != nil || len(out.Failures) > 0 {
		t.Errorf("%v, %v", out, err)
	}
	want := queue.Message{
		ID: "id-1", Body: `{"update_id":1}`, Attributes: map[string]string{"chatId": "-5", "telegramMessageId": "7"},
		Receives: 2, MaxReceives: 3, Receipt: "receipt", SentAt: time.UnixMilli(1795329006731),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if text, err := json.Marshal(out); err != nil || strings.Contains(string(text), "itemIdentifier") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestBatchReportsWhatFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		ctx = lambdacontext.NewContext(ctx, &lambdacontext.LambdaContext{AwsRequestID: "request-1"})
		began, handled := time.Now(), []string(nil)
		handle := func(ctx context.Context, m queue.Message) error {
			handled = append(handled, m.ID)
			switch m.ID {
			case "id-2":
				return errors.New("broken")
			case "id-3":
				<-ctx.Done() // as one that waits for a database
				return ctx.Err()
			}
			return nil
		}
		var in []string
		for _, id := range []string{"id-1", "id-2", "id-3", "id-4"} {
			in = append(in, strings.Replace(record, "id-1", id, 1))
		}
		var log bytes.Buffer
		out, err := batch(t, handle, function.Log(&log))(ctx, batchOf(t, in...))
		if err != nil {
			t.Fatal(err)
		}
		want := []ledgersqs.Failure{{ID: "id-2"}, {ID: "id-3"}, {ID: "id-4"}}
		if diff := cmp.Diff(want, out.Failures); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"id-1", "id-2", "id-3"}, handled); diff != "" {
			t.Error(diff)
		}
		if took := time.Since(began); took != 30*time.Second-function.Margin {
			t.Errorf("took %v", took)
		}
		for _, want := range []string{`"error":"broken"`, `not begun: the time is over"`, `"delivery":"id-4"`, `"requestId":"request-1"`} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s is not in the log:\n%s", want, &log)
			}
		}
		if strings.Contains(log.String(), "update_id") {
			t.Errorf("the log has the text:\n%s", &log)
		}
	})
}

// A logger with attributes and groups still logs the invocation's id.
func TestLogNamesTheInvocation(t *testing.T) {
	t.Parallel()
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "request-1"})
	var log bytes.Buffer
	logger := function.Log(&log)
	logger.With("step", 1).WithGroup("g").InfoContext(ctx, "with")
	logger.Info("without")
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"requestId":"request-1"`) || strings.Contains(lines[1], "requestId") {
		t.Errorf("logged:\n%s", &log)
	}
}
