package run

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/internal/serving"
	"github.com/homeops/ddbpatterns/examples/internal/serving/servingtest"
	"github.com/homeops/ddbpatterns/examples/internal/sleep"
)

const (
	secretToken = "s3cret"
	patience    = servingtest.Patience
)

// server is the program with -serve, on a port of its own.
type server struct {
	*servingtest.Running
	t *testing.T
}

func startServer(t *testing.T, p Program) *server {
	t.Helper()
	return &server{t: t, Running: servingtest.Start(t, func(ctx context.Context, out, err io.Writer) int {
		p.Args, p.Out, p.Err = []string{"-serve", "127.0.0.1:0", "-log", "json"}, out, err
		return p.Run(ctx)
	})}
}

func (s *server) status(path string) int {
	s.t.Helper()
	return s.do(http.MethodGet, path, "", "")
}

func (s *server) do(method, path, secret, body string) int {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if secret != "" {
		request.Header.Set(ingest.SecretHeader, secret)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

// ask posts a question, which is answered at any hour.
func (s *server) ask(id int64) {
	s.t.Helper()
	body := fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%[1]d,"date":%d,"from":{"id":7,"is_bot":false,"first_name":"Eva"},`+
		`"chat":{"id":-5,"type":"group"},"text":"Vem diskade senast?"}}`, id, time.Now().Unix())
	status := s.do(http.MethodPost, "/telegram", secretToken, body)
	for status == http.StatusServiceUnavailable { // until what waits could be worked on at the end
		status = s.do(http.MethodPost, "/telegram", secretToken, body)
	}
	if status != http.StatusOK {
		s.t.Errorf("an update is answered %d", status)
	}
}

func (s *server) end(want int) {
	s.t.Helper()
	s.End(s.t, want)
}

func environment(env map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { value, ok := env[name]; return value, ok }
}

// botAPI is Telegram's side of sendMessage. Each call waits until the test lets
// it go, or until a failed test ends.
func botAPI(t *testing.T) (url string, began <-chan string, letGo chan<- bool) {
	t.Helper()
	calls, going, over := make(chan string), make(chan bool), make(chan struct{})
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sent struct{ Text string }
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || r.URL.Path != "/bot42:token/sendMessage" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		select {
		case calls <- sent.Text:
		case <-over:
		}
		select {
		case <-going:
		case <-over:
		}
		fmt.Fprint(w, `{"ok":true,"result":{"message_id":99}}`)
	}))
	t.Cleanup(func() {
		close(over)
		api.Close()
	})
	return api.URL, calls, going
}

// atOnce is a notice that does not wait.
func atOnce(context.Context) {}

// While the service ends, readiness fails, requests that still come are taken,
// and messages in hand are finished.
func TestServeEndsInOrder(t *testing.T) {
	t.Parallel()
	url, began, letGo := botAPI(t)
	noticed := make(chan struct{})
	s := startServer(t, Program{
		Env:    environment(map[string]string{"TELEGRAM_SECRET_TOKEN": secretToken, "TELEGRAM_BOT_TOKEN": "42:token", "TELEGRAM_API_URL": url}),
		Ending: Ending{Notice: func(context.Context) { <-noticed }, Answer: patience, Empty: patience},
	})
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/": 404, "/telegram": 405} {
		if got := s.status(path); got != want {
			t.Errorf("%s: %d", path, got)
		}
	}
	if got := s.do(http.MethodPost, "/telegram", "guessed", "{}"); got != http.StatusUnauthorized {
		t.Errorf("a guessed secret: %d", got)
	}

	s.ask(1)
	if got, want := <-began, "diskning: aldrig, vad jag vet"; got != want {
		t.Errorf("said %q", got)
	}
	s.Stop()
	s.Log.Until(t, `"msg":"ending"`)
	for s.status("/readyz") != http.StatusServiceUnavailable { // and fails when the listener closes
		runtime.Gosched()
	}
	if got := s.status("/healthz"); got != http.StatusOK {
		t.Errorf("alive no more: %d", got)
	}
	s.ask(2)
	<-began
	s.ask(3) // no poller is left for it
	close(noticed)
	select {
	case code := <-s.Exit:
		t.Fatalf("ended with %d and two items in hand", code)
	default:
	}
	s.Log.Until(t, `"msg":"takes no more requests"`)
	letGo <- true
	letGo <- true
	<-began
	letGo <- true
	s.end(exitOK)
	s.Log.Until(t, "what is stored ends with this process")
}

// A message in hand has its own time, even when the time for the rest of the
// queue is over.
func TestServeFinishesWhatIsInHand(t *testing.T) {
	t.Parallel()
	url, began, letGo := botAPI(t)
	s := startServer(t, Program{
		Env:    environment(map[string]string{"TELEGRAM_SECRET_TOKEN": secretToken, "TELEGRAM_BOT_TOKEN": "42:token", "TELEGRAM_API_URL": url}),
		Ending: Ending{Notice: atOnce, Answer: patience, Empty: time.Millisecond},
	})
	s.ask(1)
	<-began
	s.Stop()
	select {
	case code := <-s.Exit:
		t.Errorf("ended with %d and an item in hand", code)
	case <-time.After(200 * time.Millisecond):
	}
	letGo <- true
	if !t.Failed() {
		s.end(exitOK)
	}
}

// The DynamoDB inside the process has its tables with TTL and the phrases to
// start with, and deletes what has expired.
func TestServeSetsUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg, err := config.Load(environment(map[string]string{"TELEGRAM_SECRET_TOKEN": secretToken}))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Program{Out: io.Discard}.newService(t.Context(), cfg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.setUp(t.Context(), app.Seeds{"-5": {"fixat grejen": "diskning"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.app.Seen.MarkSeen(t.Context(), "K"); err != nil {
			t.Fatal(err)
		}
		rows := func(table string) int32 {
			out, err := s.db.Client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &table})
			if err != nil {
				t.Fatal(err)
			}
			return out.Count
		}
		if seeded, marked := rows(cfg.HomeopsTable), rows(cfg.LedgerTable); seeded != 1 || marked != 1 {
			t.Errorf("%d phrases, %d marks", seeded, marked)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var expiring sync.WaitGroup
		expiring.Go(func() { serving.Expire(ctx, s.db.Embedded) })
		_ = sleep.For(t.Context(), cfg.LedgerRetention+3*24*time.Hour) // in the bubble
		if marked := rows(cfg.LedgerTable); marked != 0 {
			t.Error("what has expired is never deleted")
		}
		cancel()
		expiring.Wait()
		if h := s.server; h.ReadHeaderTimeout == 0 || h.ReadTimeout == 0 || h.WriteTimeout == 0 || h.MaxHeaderBytes == 0 {
			t.Error("a slow sender may hold a connection for ever")
		}
	})
}

// Without a bot's token replies are written to standard output. A database that
// stopped answering does not keep the process from ending: the log says what is
// lost.
func TestServeSaysWhatItLoses(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	inner := dynamotest.NewServer(nil).Handler()
	dynamo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte(`"messageId":{"N":"2"}`)) { // the second message is to be saved
			broken.Store(true)
		}
		if broken.Load() {
			http.Error(w, `{"__type":"com.amazonaws.dynamodb.v20120810#ValidationException","message":"broken"}`, http.StatusBadRequest)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	defer dynamo.Close()
	s := startServer(t, Program{
		Env:    environment(map[string]string{"TELEGRAM_SECRET_TOKEN": secretToken, "DYNAMO_ENDPOINT": dynamo.URL}),
		Ending: Ending{Notice: atOnce, Answer: patience, Empty: 10 * time.Millisecond},
	})
	s.ask(1)
	s.Console.Until(t, "[-5] diskning: aldrig, vad jag vet\n")
	s.ask(2)
	s.Log.Until(t, `"message goes back to the queue"`)
	s.Stop()
	s.end(exitFailed)
	s.Log.Until(t, " items and 0 dead letters are lost with the queue: they are in the log") // the hour's job may be one
	s.Log.Until(t, `"msg":"an item is lost with the queue"`)
	s.Log.Until(t, `"chat_id":"-5","message_id":"2","receives":1,"bytes":171,"reason":`)
	s.Log.Until(t, `"body":"{\"update_id\":2,`)
}

// The queue's dead letters end with the process: the log keeps them, and the
// exit code says so.
func TestServeWritesItsDeadLetters(t *testing.T) {
	t.Parallel()
	s := startServer(t, Program{
		Env:    environment(map[string]string{"TELEGRAM_SECRET_TOKEN": secretToken}),
		Ending: Ending{Notice: atOnce, Answer: patience, Empty: patience},
	})
	future := `{"update_id":3,"message":{"message_id":30,"date":3825000000,"from":{"id":7},"chat":{"id":-5,"type":"group"},"text":"hej"}}`
	long := strings.Replace(future, "hej", "h"+strings.Repeat("å", 50_000), 1) // the 64 KiB end within one
	text, _, _ := strings.Cut(long, "å")
	if (64<<10-len(text))%2 == 0 {
		t.Fatal("the 64 KiB end between two")
	}
	for _, body := range []string{"{poison", future, long} {
		if status := s.do(http.MethodPost, "/telegram", secretToken, body); status != http.StatusOK {
			t.Errorf("%.20s is answered %d", body, status)
		}
	}
	s.Log.Until(t, `"chat_id":"","message_id":"","receives":0,"bytes":7,"reason":"telegram: not an update`)
	for _, body := range []string{future, long} {
		s.Log.Until(t, `"chat_id":"-5","message_id":"30","receives":1,"bytes":`+fmt.Sprint(len(body))+`,"reason":"worker: date lies`)
	}
	s.Stop()
	s.end(exitFailed)
	s.Log.Until(t, "0 items and 3 dead letters are lost with the queue: they are in the log")
	for _, want := range []string{`"body":"{poison"`, `"body":"{\"update_id\":3,`, strings.Repeat("å", (64<<10-len(text))/2) + `"}`} {
		s.Log.Until(t, want)
	}
}
