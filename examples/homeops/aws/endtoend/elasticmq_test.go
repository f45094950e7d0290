package endtoend

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/internal/backend"
	"github.com/homeops/ddbpatterns/examples/homeops/aws/sqsqueue"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

// The functions on queues of a real server: the worker answers what ingest sends.
// What fails for the last time becomes a dead letter with its reason, and so does
// what ingest refuses.
func TestFunctionsOnSQS(t *testing.T) {
	t.Parallel()
	backend.OnEachSQS(t, func(t *testing.T, server backend.Server) {
		made := server.NewQueue(t, queue.Visibility, 2)
		q, err := sqsqueue.Open(t.Context(), sqs.NewFromConfig(server.Config()), made.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t)
		maps.Copy(w.env, server.Environment())
		w.env["MESSAGES_QUEUE_URL"] = made.URL
		ingest, worker := start(t, ingestBinary, w.env), start(t, workerBinary, w.env)
		for _, update := range []string{"{poison", says(1, question)} {
			if status := w.ingest(ingest, post(update)); status != http.StatusOK {
				t.Errorf("%s: %d", update, status)
			}
		}
		deliver := func() (failed int) {
			t.Helper()
			batch, err := q.Receive(t.Context(), 1, 10*time.Second)
			if err != nil || len(batch) != 1 {
				t.Fatalf("received %v, %v", batch, err)
			}
			var out events.SQSEventResponse
			worker.invoke(eventOf(batch), &out)
			if len(out.BatchItemFailures) == 0 {
				err = q.Delete(t.Context(), batch[0].Receipt)
			} else {
				err = q.Release(t.Context(), batch[0].Receipt, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
			return len(out.BatchItemFailures)
		}
		if failed := deliver(); failed > 0 {
			t.Error("the question failed")
		}
		if diff := cmp.Diff([]string{answer}, w.bot.all()); diff != "" {
			t.Error(diff)
		}
		w.onRequest(func(*http.Request, []byte) { panic(refused{}) }, nil)
		w.ingest(ingest, post(says(2, question)))
		if first, last := deliver(), deliver(); first != 1 || last != 0 {
			t.Errorf("failed %d, %d", first, last)
		}
		var why []string
		for len(why) < 2 {
			letters, err := q.DeadLetters().Receive(t.Context(), 10, time.Minute)
			if err != nil || len(letters) == 0 {
				t.Fatalf("dead: %q, %v", why, err)
			}
			for _, m := range letters {
				why = append(why, m.Why())
			}
		}
		if all := strings.Join(why, "\n"); !strings.Contains(all, "not an update") || !strings.Contains(all, "refused by the test") {
			t.Errorf("dead:\n%s", all)
		}
	})
}
