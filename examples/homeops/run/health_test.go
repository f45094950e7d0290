package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
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

const statusToken = "a-token-of-some-length"

const groupMessage = `{"update_id":1,"message":{"message_id":1,"date":%d,"from":{"id":7,"is_bot":false,"first_name":"Eva"},"chat":{"id":-5,"type":"group"},"text":"Diskat"}}`

// -page writes the page, and the report is the same as without it. A replay that
// fails writes nothing.
func TestPageFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "page.html")
	updates := fmt.Sprintf(groupMessage, 1773140000)
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run(t, nil, "", "-page", path, "-updates", "testdata/none"); got.exit != exitFailed {
		t.Errorf("%+v", got)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "before" {
		t.Errorf("a replay that fails leaves %q, %v", text, err)
	}
	want := run(t, nil, updates, "-updates", "-")
	if diff := cmp.Diff(want.out, run(t, nil, updates, "-updates", "-", "-page", path).out); diff != "" {
		t.Errorf("another report with a page:\n%s", diff)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"<bdi>Eva</bdi>", "<bdi>diskning</bdi>", "As of <time datetime=\"2026-03-10T10:53:20Z\">Tuesday 10 March 2026, 11:53</time>", "inside this process", "</html>\n"} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%q is not in the page", part)
		}
	}
	if strings.Contains(string(text), "refresh") {
		t.Error("the page is loaded anew, though it is a file")
	}
	sums := regexp.MustCompile(`(?m)^ *all +(\d+) +([\d.]+) +([\d.]+)$`).FindStringSubmatch(want.out)
	if sums == nil || !strings.Contains(string(text), fmt.Sprintf(`<td class="sum">%s</td><td class="sum">%s</td><td class="sum">%s</td>`, sums[1], sums[2], sums[3])) {
		t.Errorf("the report's sums %q are not in the page", sums)
	}
	if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
		t.Errorf("files: %v, %v", files, err)
	}
	for _, bad := range []string{filepath.Join(folder, "none", "page.html"), folder} {
		if got := run(t, nil, updates, "-updates", "-", "-page", bad); got.exit != exitFailed || !strings.Contains(got.err, "-page: ") {
			t.Errorf("%s: %+v", bad, got)
		}
	}
}

// get asks for the status page with a token.
func (s *server) get(path, given string) (*http.Response, string) {
	s.t.Helper()
	return s.getAs("anybody", path, given)
}

func (s *server) getAs(user, path, given string) (*http.Response, string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+path, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	if given != "" {
		request.SetBasicAuth(user, given)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	for header, want := range map[string]string{
		"Cache-Control": "no-store", "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	} {
		if got := reply.Header.Get(header); got != want && reply.StatusCode != http.StatusNotFound {
			s.t.Errorf("%s: %s is %q", reply.Status, header, got)
		}
	}
	return reply, string(body)
}

// spentOn reads what the page says was spent on the table of aliases and habits.
func spentOn(t *testing.T, page string) (requests int, reads float64) {
	t.Helper()
	row := regexp.MustCompile(`<bdi>homeops</bdi></th><td>(\d+)</td><td>([\d.]+)</td>`).FindStringSubmatch(page)
	if row == nil {
		t.Fatalf("nothing was spent: %s", page)
	}
	if _, err := fmt.Sscan(row[1]+" "+row[2], &requests, &reads); err != nil {
		t.Fatal(err)
	}
	return requests, reads
}

func TestStatusPage(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	inner := dynamotest.NewServer(nil).Handler()
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			http.Error(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ValidationException","message":"secret-detail"}`, http.StatusBadRequest)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	defer endpoint.Close()
	for name, address := range map[string]string{"embedded": "", "elsewhere": endpoint.URL} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t, Program{
				Env:    environment(map[string]string{"TELEGRAM_SECRET_TOKEN": secretToken, "STATUS_TOKEN": statusToken, "DYNAMO_ENDPOINT": address}),
				Ending: Ending{Notice: atOnce, Answer: patience, Empty: patience},
			})
			households(t, s)
			for _, bad := range []string{"", secretToken, statusToken + "x"} {
				reply, body := s.get("/status", bad)
				if reply.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(reply.Header.Get("WWW-Authenticate"), "Basic ") || strings.Contains(body, "<") {
					t.Errorf("%q: %s %q", bad, reply.Status, body)
				}
			}
			s.Log.Until(t, "denied")
			const reloads = `http-equiv="refresh" content="30"`
			live, body := s.get("/status", statusToken)
			if _, still := s.get("/status?still", statusToken); !strings.Contains(body, reloads) || strings.Contains(still, reloads) {
				t.Error("only the page that is not held still is loaded anew")
			}
			if got := live.Header.Get("Content-Type"); got != "text/html; charset=utf-8" {
				t.Error(got)
			}
			s.Log.Until(t, `"msg":"depth"`) // the hour's job is begun
			for body = ""; !strings.Contains(body, "<dt>In flight</dt><dd>0</dd>"); {
				_, body = s.get("/status", statusToken)
			}
			_, before := s.get("/status", statusToken)
			_, after := s.get("/status", statusToken)
			if strings.Contains(after, "cost is not known") {
				t.Error("what the start has asked for is counted")
			}
			requests, reads := spentOn(t, before)
			more, read := spentOn(t, after)
			if more-requests != 1 || read-reads != 0.5 { // the list of households, which is empty
				t.Errorf("a page costs %d requests and %g RCU more", more-requests, read-reads)
			}
			if got := s.do(http.MethodPost, "/status", "", ""); got != http.StatusMethodNotAllowed {
				t.Errorf("posted: %d", got)
			}
			if address == "" {
				return
			}
			broken.Store(true)
			reply, body := s.get("/status", statusToken)
			if reply.StatusCode != http.StatusServiceUnavailable || reply.Header.Get("Refresh") != "30" || strings.Contains(body, "secret-detail") {
				t.Errorf("without tables: %s %q", reply.Status, body)
			}
			s.Log.Until(t, "secret-detail")
			broken.Store(false)
		})
	}
}

// households asks for pages of one household. The token of one chat is not another's.
func households(t *testing.T, s *server) {
	t.Helper()
	printed := run(t, map[string]string{"STATUS_TOKEN": statusToken}, "", "token", "-5")
	password, ok := strings.CutPrefix(printed.out, "user -5\npassword ")
	password = strings.TrimSpace(password)
	if !ok || printed.exit != exitOK || len(password) != 32 {
		t.Fatalf("%+v", printed)
	}
	for user, want := range map[string]int{"-5": http.StatusOK, "-6": http.StatusUnauthorized, "": http.StatusUnauthorized} {
		reply, body := s.getAs(user, "/status", password)
		if reply.StatusCode != want || strings.Contains(body, "Dead letters") || strings.Contains(body, "homeops-") {
			t.Errorf("as %q: %s %s", user, reply.Status, body)
		}
	}
	for _, args := range [][]string{{"token", "x"}, {"token", "-05"}, {"token"}} {
		if got := run(t, map[string]string{"STATUS_TOKEN": statusToken}, "", args...); got.exit == exitOK || got.out != "" {
			t.Errorf("%q: %+v", args, got)
		}
	}
	if got := run(t, nil, "", "token", "-5"); got.exit != exitFailed || !strings.Contains(got.err, "STATUS_TOKEN") {
		t.Errorf("without the operator's: %+v", got)
	}
}

// Without a token there is no page.
func TestNoStatusPage(t *testing.T) {
	t.Parallel()
	s := startServer(t, Program{
		Env:    environment(map[string]string{"TELEGRAM_SECRET_TOKEN": secretToken}),
		Ending: Ending{Notice: atOnce, Answer: patience, Empty: patience},
	})
	for _, given := range []string{"", " "} {
		if reply, _ := s.get("/status", given); reply.StatusCode != http.StatusNotFound {
			t.Errorf("%q: %s", given, reply.Status)
		}
	}
}
