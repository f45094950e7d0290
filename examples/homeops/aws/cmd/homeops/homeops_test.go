package main_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/aws/internal/backend"
	"github.com/homeops/ddbpatterns/examples/homeops/aws/internal/process"
	"github.com/homeops/ddbpatterns/examples/homeops/aws/sqsqueue"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

const secret = "s3cret"

// service is the command with -serve.
type service struct {
	*process.Process
	t *testing.T
}

func start(t *testing.T, file string, env map[string]string) service {
	t.Helper()
	return service{process.Start(t, file, env, "-serve", "127.0.0.1:0", "-log", "json"), t}
}

func (p service) post(body string, want int) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.URL+"/telegram", strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set(ingest.SecretHeader, secret)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != want {
		p.t.Errorf("%.40s is answered %d, want %d\n%s", body, response.StatusCode, want, &p.Log)
	}
}

func (p service) until(what string, so func() bool) {
	p.t.Helper()
	for deadline := time.After(process.Patience); !so(); {
		select {
		case <-deadline:
			p.t.Fatalf("never: %s\n%s\n%s", what, &p.Console, &p.Log)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (p service) says(text string) {
	p.t.Helper()
	p.until(text, func() bool { return strings.Contains(p.Console.String(), text) })
}

func update(id int, text string) string {
	return fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%[1]d,"date":%d,"from":{"id":7,"is_bot":false,"first_name":"Eva"},`+
		`"chat":{"id":-5,"type":"group"},"text":%q}}`, id, time.Now().Unix(), text)
}

// tables serves a DynamoDB with the tables of homeops, and leads the process
// there by its environment.
func tables(t *testing.T, environment map[string]string) {
	t.Helper()
	server := dynamotest.NewServer(nil)
	listening := httptest.NewServer(server.Handler())
	t.Cleanup(listening.Close)
	environment["DYNAMO_ENDPOINT"] = listening.URL
	cfg, err := config.Load(func(name string) (string, bool) { value, ok := environment[name]; return value, ok })
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(app.Options{Config: cfg, DB: server.Client(), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = a.CreateTables(t.Context(), true)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Posted updates go through SQS to the worker. Poison becomes a dead letter.
// Nothing is lost with the process.
func TestServeOnSQS(t *testing.T) {
	t.Parallel()
	backend.OnEachSQS(t, func(t *testing.T, s backend.Server) {
		// moto gives a message to a receiver that has ended if its long poll had
		// begun. Such a message comes again after the visibility.
		made := s.NewQueue(t, 5*time.Second, 10)
		env := s.Environment()
		env["MESSAGES_QUEUE_URL"], env["TELEGRAM_SECRET_TOKEN"] = made.URL, secret
		tables(t, env)
		client := sqs.NewFromConfig(s.Config())
		q, err := sqsqueue.Open(t.Context(), client, made.URL, nil)
		if err != nil {
			t.Fatal(err)
		}

		file := process.Build(t, ".")
		p := start(t, file, env)
		p.post(update(1, "Vem diskade senast?"), http.StatusOK)
		p.says("[-5] diskning: aldrig, vad jag vet\n")
		p.post("{poison", http.StatusOK)
		letter := theLetter(t, p, q)
		if body, whole := letter.Content(); string(body) != "{poison" || !whole || !strings.Contains(letter.Why(), "telegram: not an update") {
			t.Errorf("%s is dead for %s", body, letter.Why())
		}
		p.until("the queue is empty", func() bool {
			depth, err := q.Depth(t.Context())
			return err == nil && depth == queue.Depth{Dead: 1}
		})
		p.End()

		// Messages that come while no worker runs wait.
		if _, err := q.Send(t.Context(), update(2, "Vem diskade senast?"), map[string]string{queue.ChatID: "-5", queue.MessageID: "2"}); err != nil {
			t.Fatal(err)
		}
		p = start(t, file, env)
		p.says("[-5] diskning: aldrig, vad jag vet\n")

		// An update that cannot be enqueued is not acknowledged: Telegram
		// repeats it.
		if _, err := client.DeleteQueue(t.Context(), &sqs.DeleteQueueInput{QueueUrl: aws.String(made.URL)}); err != nil {
			t.Fatal(err)
		}
		p.post(update(3, "Vem diskade senast?"), http.StatusInternalServerError)
		p.End()
	})
}

func theLetter(t *testing.T, p service, q queue.Queue) (letter queue.Message) {
	t.Helper()
	p.until("a dead letter", func() bool {
		batch, err := q.DeadLetters().Receive(t.Context(), 1, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if len(batch) == 1 {
			letter = batch[0]
		}
		return len(batch) == 1
	})
	return letter
}
