package run

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/internal/serving/servingtest"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
)

const (
	patience  = servingtest.Patience
	publicURL = "https://hooks.example.com"
)

// atOnce is an Ending that waits only for work in hand.
var atOnce = Ending{Notice: func(context.Context) {}, Answer: patience, Post: patience}

// server is the program with -serve, on a port of its own.
type server struct {
	*servingtest.Running
	t *testing.T
}

func startServer(t *testing.T, p Program, args ...string) *server {
	t.Helper()
	return &server{t: t, Running: servingtest.Start(t, func(ctx context.Context, out, err io.Writer) int {
		p.Args, p.Out, p.Err = append([]string{"-serve", "127.0.0.1:0", "-log", "json"}, args...), out, err
		return p.Run(ctx)
	})}
}

func (s *server) end(want int) {
	s.t.Helper()
	s.End(s.t, want)
}

func (s *server) do(method, path, body string, header http.Header) (status int, answer string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Error(err)
	}
	return response.StatusCode, strings.TrimSpace(string(text))
}

func (s *server) get(path string) (status int, answer string) {
	s.t.Helper()
	return s.do(http.MethodGet, path, "", nil)
}

// ready waits until readiness has the line.
func (s *server) ready(line string) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); ; runtime.Gosched() {
		_, text := s.get("/readyz")
		if strings.Contains("\n"+text+"\n", "\n"+line) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("never %s:\n%s\n%s", line, text, s.Log)
		}
	}
}

// aloware posts a webhook that must be answered 200 with this text.
func (s *server) aloware(body, want string) {
	s.t.Helper()
	status, answer := s.do(http.MethodPost, "/aloware", body, http.Header{"Authorization": {"Bearer t"}})
	if status != http.StatusOK || answer != want {
		s.t.Errorf("%s: %d %s, want %s", body, status, answer, want)
	}
}

func call(id int, status string) string {
	return fmt.Sprintf(`{"event":"OutboundPhoneCall-DispositionCompleted","body":{"id":%d,"type":1,"direction":2,"created_at":"1999-11-21 06:01:00",`+
		`"contact_id":44500,"current_status":%q,"disposition_status":%[2]q,"duration":33,"talk_time":8}}`, id, status)
}

// signed is the header of a body that HubSpot signs with the secret.
func signed(secret, body string) http.Header {
	stamp := strconv.FormatInt(time.Now().UnixMilli(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(http.MethodPost + publicURL + "/hubspot" + body + stamp))
	return http.Header{
		"X-Hubspot-Request-Timestamp": {stamp},
		"X-Hubspot-Signature-V3":      {base64.StdEncoding.EncodeToString(mac.Sum(nil))},
	}
}

const (
	change    = `{"eventId":4108526299,"subscriptionId":25,"portalId":62515,"appId":54321,"occurredAt":943164060123,"subscriptionType":"contact.propertyChange","attemptNumber":0,"objectId":123,"propertyName":"lifecyclestage","propertyValue":"customer","changeSource":"CRM_UI"}`
	changeKey = "HUBSPOT:62515:25:contact.propertyChange:123:lifecyclestage:943164060123:4108526299"
)

// With only a secret the service accepts HubSpot's webhooks, and ends in order.
// Readiness fails first, and webhooks are still accepted. All facts are posted to
// standard output, because they would be lost with the process.
func TestServeEndsInOrder(t *testing.T) {
	t.Parallel()
	noticed := make(chan struct{})
	s := startServer(t, Program{
		Env:    environment(map[string]string{"HUBSPOT_CLIENT_SECRET": "hush", "QUILL_PUBLIC_URL": publicURL + "/"}),
		Ending: Ending{Notice: func(context.Context) { <-noticed }, Answer: patience, Post: patience},
	})
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/": 404, "/aloware": 404, "/hubspot": 405} {
		if got, _ := s.get(path); got != want {
			t.Errorf("%s: %d", path, got)
		}
	}
	batch := "[" + change + "," + change + "]"
	if got, answer := s.do(http.MethodPost, "/hubspot", batch, signed("guessed", batch)); got != http.StatusUnauthorized {
		t.Errorf("a guessed secret: %d %s", got, answer)
	}
	for _, want := range []string{
		`{"received":2,"new":1,"duplicate":1,"refused":0,"waiting":0}`,
		`{"received":2,"new":0,"duplicate":2,"refused":0,"waiting":0}`,
	} {
		if got, answer := s.do(http.MethodPost, "/hubspot", batch, signed("hush", batch)); got != http.StatusOK || answer != want {
			t.Errorf("%d %s, want %s", got, answer, want)
		}
	}
	s.ready("ready\nreceived 4\nnew 1\nduplicate 3\nrefused 0\nwaiting 0\nignored 0\nincomplete 0\nold 0\nlater 0\nunstored 0\nspooled 0\nforged 1\nunread 0\nposted ")

	s.Stop()
	s.Log.Until(t, `"msg":"ending"`)
	s.ready("not ready\n") // as soon as it says so, and until the listener closes
	if got, _ := s.get("/healthz"); got != http.StatusOK {
		t.Errorf("alive no more: %d", got)
	}
	last := strings.Replace("["+change+"]", "4108526299", "4108526300", 1)
	if got, answer := s.do(http.MethodPost, "/hubspot", last, signed("hush", last)); got != http.StatusOK {
		t.Errorf("while it ends: %d %s", got, answer)
	}
	close(noticed)
	s.end(exitOK)
	for key, want := range map[string]int{changeKey: 1, strings.Replace(changeKey, "4108526299", "4108526300", 1): 1} {
		if got := strings.Count(s.Console.String(), `"key":"`+key+`"`); got != want {
			t.Errorf("%s is posted %d times:\n%s", key, got, s.Console)
		}
	}
	s.Log.Until(t, "what is stored ends with this process")
	s.Log.Until(t, `"msg":"ended"`)
}

func TestServeWithPowerBI(t *testing.T) {
	t.Parallel()
	dynamo := httptest.NewServer(dynamotest.NewServer(nil).Handler())
	defer dynamo.Close()
	env := dataset()
	env["DYNAMO_ENDPOINT"], env["ALOWARE_TOKEN"] = dynamo.URL, "t"
	played := powerbitest.New(powerbitest.Config{})
	s := startServer(t, Program{Env: environment(env), PowerBI: playedBy(played), Ending: atOnce, Idle: time.Millisecond})
	s.aloware(call(1, "completed"), `{"received":1,"new":1,"duplicate":0,"refused":0,"waiting":0}`)
	s.ready("posted 1\n")
	s.aloware(call(1, "completed"), `{"received":1,"new":0,"duplicate":1,"refused":0,"waiting":0}`)
	s.Stop()
	s.end(exitOK)
	if keys := played.Keys("Communications"); len(keys) != 1 || keys["ALOWARE:CALL:1"] != 1 {
		t.Errorf("posted %v", keys)
	}
	if v := played.Violations(); v != nil {
		t.Error(v)
	}
}

// In a lasting database, facts wait for a sink that accepts them. The service
// says what keeps the poster from posting, and still accepts webhooks.
func TestServeWhosePosterIsRefused(t *testing.T) {
	t.Parallel()
	dynamo := httptest.NewServer(dynamotest.NewServer(nil).Handler())
	defer dynamo.Close()
	env := dataset()
	env["DYNAMO_ENDPOINT"], env["ALOWARE_TOKEN"], env["POWERBI_CLIENT_SECRET"] = dynamo.URL, "t", "another"
	played := powerbitest.New(powerbitest.Config{})
	s := startServer(t, Program{Env: environment(env), PowerBI: playedBy(played), Ending: atOnce, Idle: time.Millisecond})
	s.aloware(call(1, "completed"), `{"received":1,"new":1,"duplicate":0,"refused":0,"waiting":0}`)
	s.ready("poster ")
	if status, text := s.get("/readyz"); status != http.StatusOK || !strings.HasPrefix(text, "ready\n") {
		t.Errorf("%d %s", status, text)
	}
	s.Stop()
	s.end(exitOK)
	if rows := played.Counts().Rows; rows != 0 {
		t.Errorf("%d rows under another secret", rows)
	}
	exit, out, _ := called(t, Program{Env: environment(env)}, "facts", "ALOWARE:CALL:1")
	if exit != exitOK || !strings.Contains(out, `"key":"ALOWARE:CALL:1"`) || strings.Contains(out, "postedAt") {
		t.Errorf("exit %d, %s", exit, out)
	}
}

// Rows go to a file, and a restarted service continues it.
func TestServeToAFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rows.jsonl")
	for range 2 {
		s := startServer(t, Program{Env: environment(map[string]string{"ALOWARE_TOKEN": "t"}), Ending: atOnce}, "-sink", file)
		s.aloware(call(1, "completed"), `{"received":1,"new":1,"duplicate":0,"refused":0,"waiting":0}`)
		s.Stop()
		s.end(exitOK)
		if s.Console.String() != "" {
			t.Errorf("on standard output: %s", s.Console)
		}
	}
	rows, err := os.ReadFile(file)
	if n := strings.Count(string(rows), `"key":"ALOWARE:CALL:1"`); err != nil || n != 2 { // each had a database of its own
		t.Errorf("%d, %v:\n%s", n, err, rows)
	}
}

// The service says that facts are lost if they end with the process and cannot
// be posted.
func TestServeSaysWhatItLoses(t *testing.T) {
	t.Parallel()
	env := dataset()
	env["ALOWARE_TOKEN"], env["POWERBI_CLIENT_SECRET"] = "t", "another"
	ending := atOnce
	ending.Post = 100 * time.Millisecond
	s := startServer(t, Program{Env: environment(env), PowerBI: playedBy(powerbitest.New(powerbitest.Config{})), Ending: ending})
	s.aloware(call(1, "completed"), `{"received":1,"new":1,"duplicate":0,"refused":0,"waiting":0}`)
	s.Stop()
	s.end(exitFailed)
	s.Log.Until(t, "facts that are not posted are lost with the database")
}

// Without its database the service accepts no webhooks, and readiness says so.
func TestServeWithoutItsDatabase(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	inner := dynamotest.NewServer(nil).Handler()
	dynamo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() {
			http.Error(w, `{"__type":"com.amazonaws.dynamodb.v20120810#AccessDeniedException","message":"broken"}`, http.StatusBadRequest)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	defer dynamo.Close()
	p := Program{Env: environment(map[string]string{"ALOWARE_TOKEN": "t", "DYNAMO_ENDPOINT": dynamo.URL}), Ending: atOnce}
	s := startServer(t, p)
	s.ready("ready\n")
	broken.Store(true)
	s.ready("database\n")
	if got, _ := s.get("/readyz"); got != http.StatusServiceUnavailable {
		t.Errorf("readiness: %d", got)
	}
	status, answer := s.do(http.MethodPost, "/aloware", call(1, "completed"), http.Header{"Authorization": {"Bearer t"}})
	if want := `{"received":1,"new":0,"duplicate":0,"refused":0,"waiting":1}`; status != http.StatusServiceUnavailable || answer != want {
		t.Errorf("%d %s", status, answer)
	}
	broken.Store(false)
	s.ready("ready\n")
	s.aloware(call(1, "completed"), `{"received":1,"new":1,"duplicate":0,"refused":0,"waiting":0}`)
	s.Stop()
	s.end(exitOK)

	broken.Store(true)
	if exit, _, said := called(t, p, "-serve", "127.0.0.1:0"); exit != exitFailed || !strings.Contains(said, "creating tables on DynamoDB at "+dynamo.URL) {
		t.Errorf("exit %d, %q", exit, said)
	}
}

// The service is ended in an outage. What waits is answered 200 from the spool, within
// the time of the end, and the next service takes it in.
func TestServeEndsInAnOutage(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	waits := make(chan struct{}, 1)
	inner := dynamotest.NewServer(nil).Handler()
	dynamo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !broken.Load() {
			inner.ServeHTTP(w, r)
			return
		}
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".TransactWriteItems") {
			select {
			case waits <- struct{}{}:
			default:
			}
		}
		http.Error(w, "away", http.StatusServiceUnavailable)
	}))
	defer dynamo.Close()
	dir := filepath.Join(t.TempDir(), "spool")
	env := map[string]string{"ALOWARE_TOKEN": "t", "DYNAMO_ENDPOINT": dynamo.URL, "QUILL_SPOOL": dir}
	p := Program{Env: environment(env), Ending: atOnce, Idle: time.Millisecond}
	s := startServer(t, p)
	if exit, _, said := called(t, p, "-serve", "127.0.0.1:0"); exit != exitFailed || !strings.Contains(said, "QUILL_SPOOL: spool: "+dir+": another process") {
		t.Errorf("a second process: %d %s", exit, said)
	}
	broken.Store(true)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		s.aloware(call(1, "completed"), `{"received":1,"new":0,"duplicate":0,"refused":0,"waiting":1}`)
	}()
	<-waits
	s.Stop()
	<-answered
	s.Log.Until(t, "a webhook is in the spool")
	s.end(exitOK)

	broken.Store(false)
	s = startServer(t, p)
	s.ready("spool 0\n")
	s.ready("new 1\n")
	s.aloware(call(1, "completed"), `{"received":1,"new":0,"duplicate":1,"refused":0,"waiting":0}`)
	s.Stop()
	s.end(exitOK)
}
