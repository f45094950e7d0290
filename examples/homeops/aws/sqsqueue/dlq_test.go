package sqsqueue_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/internal/backend"
	"github.com/homeops/ddbpatterns/examples/homeops/aws/sqsqueue"
	"github.com/homeops/ddbpatterns/examples/homeops/dlq"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

// What an operator does with dead letters, on SQS.
func TestOperatorsAtWork(t *testing.T) {
	t.Parallel()
	backend.OnEachSQS(t, func(t *testing.T, s backend.Server) {
		made := s.NewQueue(t, time.Minute, queue.MaxReceives)
		q, err := sqsqueue.Open(t.Context(), sqs.NewFromConfig(s.Config()), made.URL, &sqsqueue.Config{MaxBytes: 2000})
		if err != nil {
			t.Fatal(err)
		}
		operate := func(c dlq.Command) string {
			t.Helper()
			var out strings.Builder
			if err := c.Run(t.Context(), q, &out); err != nil {
				t.Fatalf("%+v: %v\n%s", c, err, &out)
			}
			return out.String()
		}
		kill(t, q)

		listed := operate(dlq.Command{Name: dlq.List})
		for _, want := range []string{
			`(?m)^\S+ +-5 +7 +20\S+ +\d +no such table$`, `(?m)^\S+ +20\S+ +\d +no JSON$`, `(?m)^\S+ +20\S+ +\d +too large$`, `(?m)^3 dead letters\.`,
		} {
			if !regexp.MustCompile(want).MatchString(listed) {
				t.Errorf("no line is like %s:\n%s", want, listed)
			}
		}
		cut := regexp.MustCompile(`(?m)^(\S+) .*too large$`).FindStringSubmatch(listed)
		if cut == nil {
			t.Fatal("the letter that is cut has no id")
		}
		if shown := operate(dlq.Command{Name: dlq.Show, IDs: cut[1:]}); !regexp.MustCompile(`(?m)^bytes +5000$`).MatchString(shown) {
			t.Errorf("shown as\n%s", shown)
		}
		if sent := operate(dlq.Command{Name: dlq.Redrive, All: true}); !strings.Contains(sent, "\n1 sent again, 2 not\n") {
			t.Errorf("sent again:\n%s", sent)
		}
		poison := regexp.MustCompile(`(?m)^(\S+) .*no JSON$`).FindStringSubmatch(listed)
		if sent := operate(dlq.Command{Name: dlq.Redrive, IDs: poison[1:]}); !strings.Contains(sent, "\n1 sent again, 0 not\n") {
			t.Errorf("sent again by its id:\n%s", sent)
		}

		var got []string
		for range 2 {
			m := next(t, q)
			got = append(got, m.Body+" of chat "+m.Attributes[queue.ChatID])
			if m.Receives != 1 || m.Attributes[queue.Reason] != "" {
				t.Errorf("does not begin anew: %+v", m)
			}
		}
		slices.Sort(got)
		if want := []string{"hej of chat -5", "{poison of chat "}; !slices.Equal(got, want) {
			t.Errorf("received %q, want %q", got, want)
		}
		if depth, err := q.Depth(t.Context()); err != nil || depth != (queue.Depth{InFlight: 2, Dead: 1}) {
			t.Errorf("%+v, %v", depth, err)
		}
	})
}

// kill leaves a letter of the worker's, and two of the webhook's, the second of
// which is cut.
func kill(t *testing.T, q queue.Queue) {
	t.Helper()
	_, err := q.Send(t.Context(), "hej", map[string]string{queue.ChatID: "-5", queue.MessageID: "7"})
	if err == nil {
		err = q.Bury(t.Context(), next(t, q), "no such table")
	}
	if err == nil {
		err = q.Refuse(t.Context(), []byte("{poison"), nil, "no JSON")
	}
	if err == nil {
		err = q.Refuse(t.Context(), make([]byte, 5000), nil, "too large")
	}
	if err != nil {
		t.Fatal(err)
	}
}

func next(t *testing.T, q queue.Queue) queue.Message {
	t.Helper()
	batch, err := q.Receive(t.Context(), 1, 20*time.Second)
	if err != nil || len(batch) != 1 {
		t.Fatalf("received %d, %v", len(batch), err)
	}
	return batch[0]
}
