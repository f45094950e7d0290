package run

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/dlq"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/internal/database"
	"github.com/homeops/ddbpatterns/schema"
)

func TestReadyzHasFigures(t *testing.T) {
	t.Parallel()
	inBubble(t, false, []dynamotest.Fault{{Do: dynamotest.Delay(100 * time.Millisecond), Times: -1}}, func(t *testing.T, l *live) {
		for range 4 { // and the hour's job
			l.post()
		}
		l.do(http.MethodPost, "/telegram", "{poison")
		time.Sleep(time.Millisecond)
		if got, want := l.readiness(), "200 ready\nwaiting 3\nin flight 2\ndead 1\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		l.queue = uncounted{l.queue}
		if got, want := l.readiness(), "200 ready\ndepth unknown\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		l.stop()
		<-l.done
		if got, want := l.readiness(), "503 not ready\ndepth unknown\n"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		l.log.Until(t, `level=WARN msg="depth of the queue" error=trouble`)
	})
}

// uncounted is a queue that does not answer how deep it is. It waits as long as
// it may.
type uncounted struct{ queue.Queue }

func (uncounted) Depth(ctx context.Context) (queue.Depth, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		return queue.Depth{}, errors.New("for ever")
	}
	<-ctx.Done()
	return queue.Depth{}, errTrouble
}

// The log has the depth at the start, at the end, and when it has changed a
// minute later.
func TestTheLogHasTheDepth(t *testing.T) {
	t.Parallel()
	inBubble(t, false, nil, func(t *testing.T, l *live) {
		depths := func() (all []string) {
			for line := range strings.Lines(l.log.String()) {
				if _, depth, found := strings.Cut(line, `level=INFO msg="depth of the queue" `); found {
					all = append(all, strings.TrimSpace(depth))
				}
			}
			return all
		}
		time.Sleep(10 * time.Minute)
		l.do(http.MethodPost, "/telegram", "{poison")
		time.Sleep(10 * time.Minute)
		want := []string{"waiting=0 in_flight=0 dead=0", "waiting=0 in_flight=0 dead=1"}
		if diff := cmp.Diff(want, depths()); diff != "" {
			t.Error(diff)
		}
		if err := l.end(); err == nil {
			t.Error("the dead letter is not said to be lost")
		}
		if diff := cmp.Diff(append(want, want[1]), depths()); diff != "" {
			t.Error(diff)
		}
	})
}

// A service shows the dead letters in its process to those who have its secret;
// it does not show those of a queue that lasts.
func TestDeadLettersAreServed(t *testing.T) {
	t.Parallel()
	for _, deployed := range []bool{false, true} {
		inBubble(t, deployed, nil, func(t *testing.T, l *live) {
			l.do(http.MethodPost, "/telegram", "{poison")
			want := map[bool]int{false: http.StatusOK, true: http.StatusNotFound}[deployed]
			// m-1 is the job of the hour.
			for _, target := range []string{"GET /dlq", "GET /dlq/m-2", "POST /dlq/redrive?all=true"} {
				method, path, _ := strings.Cut(target, " ")
				if w := l.do(method, path, ""); w.Code != want {
					t.Errorf("deployed %v, %s: %d %s", deployed, target, w.Code, w.Body)
				}
				w := httptest.NewRecorder()
				l.server.Handler.ServeHTTP(w, httptest.NewRequest(method, path, nil))
				if w.Code != want && w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "poison") {
					t.Errorf("without the secret, %s: %d %s", target, w.Code, w.Body)
				}
			}
		})
	}
}

// letterEnv is the environment of both the command and the service.
var letterEnv = map[string]string{"TELEGRAM_SECRET_TOKEN": secretToken}

// homeops dlq works on the queue of a running service.
func TestDeadLettersOfAService(t *testing.T) {
	t.Parallel()
	s := startServer(t, Program{Env: environment(letterEnv), Ending: Ending{Notice: atOnce, Answer: patience, Empty: patience}})
	if status := s.do(http.MethodPost, "/telegram", secretToken, "{poison"); status != http.StatusOK {
		t.Errorf("answered %d", status)
	}
	s.Log.Until(t, `"msg":"dead letter"`)
	if got := run(t, letterEnv, "", "dlq", "list", "-at", s.URL); got.exit != exitOK || !strings.Contains(got.out, "telegram: not an update") {
		t.Errorf("list: %+v", got)
	}
	if got := run(t, map[string]string{"TELEGRAM_SECRET_TOKEN": "another"}, "", "dlq", "list", "-at", s.URL); got.exit != exitFailed || got.out != "" {
		t.Errorf("another secret: %+v", got)
	}
	s.Stop()
	s.end(exitFailed)
}

// With a queue of its own the command reads that queue, and needs neither a
// service nor a secret.
func TestDeadLettersOfAQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue.NewMemory(queue.Config{})
		if err := q.Refuse(t.Context(), []byte("{poison"), nil, "no JSON"); err != nil {
			t.Fatal(err)
		}
		env := map[string]string{"MESSAGES_QUEUE_URL": "http://127.0.0.1:9324/1/q"}
		var out, errs strings.Builder
		p := Program{Env: environment(env), Out: &out, Err: &errs}
		p.Queue = func(_ context.Context, cfg config.Config, _ *slog.Logger) (queue.Queue, error) {
			if cfg.QueueURL != env["MESSAGES_QUEUE_URL"] {
				t.Errorf("opens %s", cfg.QueueURL)
			}
			return q, nil
		}
		p.Args = []string{"dlq", "show", "m-1"}
		if exit := p.Run(t.Context()); exit != exitOK || !strings.HasSuffix(out.String(), "\n\n{poison\n") {
			t.Errorf("exit %d: %s%s", exit, &out, &errs)
		}
		p.Args = []string{"dlq", "redrive", "m-1"}
		if exit := p.Run(t.Context()); exit != exitOK || q.Len() != 1 {
			t.Errorf("exit %d: %s%s", exit, &out, &errs)
		}
		p.Queue = func(context.Context, config.Config, *slog.Logger) (queue.Queue, error) { return nil, errTrouble }
		if exit := p.Run(t.Context()); exit != exitFailed || !strings.Contains(errs.String(), "homeops: trouble\n") {
			t.Errorf("exit %d: %s", exit, &errs)
		}
	})
}

func TestDeadLettersRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		env  map[string]string
		args []string
		exit int
		want string
	}{
		"no secret":         {nil, []string{"list"}, exitUsage, "For a queue on SQS set MESSAGES_QUEUE_URL"},
		"a queue elsewhere": {map[string]string{"MESSAGES_QUEUE_URL": "http://127.0.0.1:9324/1/q"}, []string{"list"}, exitUsage, "-C examples/homeops ./aws/cmd/homeops"},
		"two places":        {map[string]string{"MESSAGES_QUEUE_URL": "http://127.0.0.1:9324/1/q"}, []string{"list", "-at", "http://x"}, exitUsage, "exclude each other"},
		"half a key":        {map[string]string{"MESSAGES_QUEUE_URL": "http://127.0.0.1:9324/1/q", "AWS_ACCESS_KEY_ID": "AKIA"}, []string{"list"}, exitUsage, "AWS_ACCESS_KEY_ID: must be set together with"},
		"no address":        {letterEnv, []string{"list", "-at", "127.0.0.1:8080"}, exitUsage, `-at must be a URL such as http://127.0.0.1:8080, is "127.0.0.1:8080"`},
		"help":              {nil, []string{"-h"}, exitOK, "homeops dlq show ID"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run(t, tc.env, "", append([]string{"dlq"}, tc.args...)...)
			if got.exit != tc.exit || got.out != "" || !strings.Contains(got.err, tc.want) {
				t.Errorf("%+v", got)
			}
		})
	}
	if letters, err := (Program{Args: []string{"dlq", "-all", "redrive"}}).letters(); err != nil || !cmp.Equal(letters.Command, dlq.Command{Name: dlq.Redrive, All: true, IDs: []string{}}) {
		t.Errorf("%+v, %v", letters, err)
	}
}

// If the queue is deployed, so are the tables: the start fails with the name of
// a table that is missing or differs, and nothing is created.
func TestServeVerifiesDeployedTables(t *testing.T) {
	t.Parallel()
	dynamo := httptest.NewServer(dynamotest.NewServer(nil).Handler())
	defer dynamo.Close()
	env := map[string]string{"TELEGRAM_SECRET_TOKEN": secretToken, "MESSAGES_QUEUE_URL": "http://127.0.0.1:9324/1/q", "DYNAMO_ENDPOINT": dynamo.URL}
	q := func(context.Context, config.Config, *slog.Logger) (queue.Queue, error) {
		return queue.NewMemory(queue.Config{}), nil
	}
	start := func() string {
		var errs strings.Builder
		p := Program{Env: environment(env), Args: []string{"-serve", "127.0.0.1:0"}, Err: &errs, Queue: q}
		if exit := p.Run(t.Context()); exit != exitFailed {
			t.Errorf("exit %d", exit)
		}
		return errs.String()
	}
	cfg, err := config.Load(environment(env))
	if err != nil {
		t.Fatal(err)
	}
	db := database.Endpoint(cfg.Settings).Client
	if got := start(); !strings.Contains(got, "homeops: checking the tables on DynamoDB at "+dynamo.URL+", which the deployed queue needs: schema: table homeops-messages") ||
		!strings.Contains(got, "table QuillIdempotencyLedger") {
		t.Errorf("missing tables: %s", got)
	}
	s, err := (Program{Queue: q, Out: new(strings.Builder)}).newService(t.Context(), cfg, discard)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := schema.Merge(s.app.Tables(true)...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range tables {
		if tables[i].Name == cfg.LedgerTable {
			tables[i].TTL = ""
		}
	}
	if err := schema.Create(t.Context(), db, tables...); err != nil {
		t.Fatal(err)
	}
	if got := start(); !strings.Contains(got, "schema: table QuillIdempotencyLedger differs: ") || strings.Contains(got, "homeops-messages") {
		t.Errorf("a table without TTL: %s", got)
	}
	if err := schema.Create(t.Context(), db, s.app.Tables(true)...); err != nil {
		t.Fatal(err)
	}
	running := startServer(t, Program{Env: environment(env), Queue: q, Ending: Ending{Notice: atOnce, Answer: patience, Empty: patience}})
	running.ask(1)
	running.Console.Until(t, "aldrig, vad jag vet")
	running.Stop()
	running.end(exitOK)
}
