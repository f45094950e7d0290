package endtoend

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	// The packages of the binaries, for the same reason as in start.
	_ "github.com/homeops/ddbpatterns/examples/homeops/app"
	_ "github.com/homeops/ddbpatterns/examples/homeops/aws/coldstart"
	_ "github.com/homeops/ddbpatterns/examples/homeops/aws/function"
	_ "github.com/homeops/ddbpatterns/examples/homeops/ingest"
	_ "github.com/homeops/ddbpatterns/examples/internal/database"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/internal/process"
)

// The binaries of the functions.
var ingestBinary, workerBinary string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	folder, err := os.MkdirTemp("", "homeops-functions-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	command := exec.Command("go", "build", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-o", folder+string(filepath.Separator),
		"../cmd/homeops-ingest", "../cmd/homeops-worker")
	if text, err := command.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, text)
		return 1
	}
	ingestBinary, workerBinary = filepath.Join(folder, "homeops-ingest"), filepath.Join(folder, "homeops-worker")
	return m.Run()
}

const (
	patience = 30 * time.Second // for what must happen at once
	timeout  = 30 * time.Second // of a function
)

// lambda is a fake of Lambda for one process of a function: it starts it, and
// is its Runtime API and its Extensions API.
type lambda struct {
	t       testing.TB
	command *exec.Cmd
	log     *process.Buffer
	exited  chan struct{} // closed when the process has ended

	started    time.Time
	idle       chan struct{} // the process asks for its next invocation
	next       chan invocation
	extension  chan struct{} // closed when the extension has registered and waits
	over       chan struct{} // closed at the end of the test
	mu         sync.Mutex    // guards what follows
	running    map[string]chan result
	registered bool
	invoked    int
}

type invocation struct {
	id, event string
	deadline  time.Time
}

// result is how an invocation ended: with or without a response.
type result struct {
	body  []byte
	fault string // what the process told Lambda of, or that it ended
	took  time.Duration
}

// start starts the binary in an environment of its own.
func start(t testing.TB, binary string, environment map[string]string) *lambda {
	t.Helper()
	// Go caches a result as long as the files that the test looks at are the
	// same. It does not know those of a binary that the test builds.
	if _, err := os.Stat(filepath.Join("../cmd", filepath.Base(binary), "main.go")); err != nil {
		t.Fatal(err)
	}
	l := &lambda{
		t: t, log: new(process.Buffer), exited: make(chan struct{}), idle: make(chan struct{}, 1), next: make(chan invocation),
		extension: make(chan struct{}), over: make(chan struct{}), running: map[string]chan result{},
	}
	api := http.NewServeMux()
	api.HandleFunc("GET /2018-06-01/runtime/invocation/next", l.serveNext)
	api.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/{how}", l.serveResult)
	api.HandleFunc("POST /2020-01-01/extension/register", l.serveRegister)
	api.HandleFunc("GET /2020-01-01/extension/event/next", l.serveEvent)
	server := httptest.NewServer(api)
	environment = maps.Clone(environment)
	environment["AWS_LAMBDA_RUNTIME_API"] = strings.TrimPrefix(server.URL, "http://")
	l.command = exec.Command(binary)
	for name, value := range environment {
		l.command.Env = append(l.command.Env, name+"="+value)
	}
	l.command.Stdout, l.command.Stderr = l.log, l.log
	l.started = time.Now()
	if err := l.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = l.command.Wait() // ProcessState has it
		close(l.exited)
	}()
	t.Cleanup(func() {
		l.kill()
		close(l.over)
		server.Close()
		l.checkLog()
	})
	return l
}

// checkLog looks for what a log must not contain.
func (l *lambda) checkLog() {
	for _, secret := range []string{secretToken, botToken, "diskat", "diskade", "AWS_SECRET"} {
		if strings.Contains(l.log.String(), secret) {
			l.t.Errorf("%q is in the log:\n%s", secret, l.log)
		}
	}
	for line := range strings.Lines(l.log.String()) {
		if !json.Valid([]byte(line)) {
			l.t.Errorf("not JSON: %s", line)
		}
	}
	if l.t.Failed() {
		l.t.Logf("log of %s:\n%s", filepath.Base(l.command.Path), l.log)
	}
}

// kill is what Lambda does to a process at an invocation's deadline.
func (l *lambda) kill() {
	_ = l.command.Process.Kill() // it may have ended
	<-l.exited
}

// waitIdle waits until the process asks for an invocation.
func (l *lambda) waitIdle() {
	l.t.Helper()
	select {
	case <-l.idle:
	case <-l.exited:
		l.t.Fatalf("ended: %v\n%s", l.command.ProcessState, l.log)
	case <-time.After(patience):
		l.t.Fatalf("asks for nothing\n%s", l.log)
	}
}

// warm waits until the process is ready for an invocation.
func (l *lambda) warm() {
	l.t.Helper()
	l.waitIdle()
	l.idle <- struct{}{} // for begin
}

// begin begins an invocation and returns where its result will be.
func (l *lambda) begin(event any, timeout time.Duration) <-chan result {
	l.t.Helper()
	text, err := json.Marshal(event)
	if err != nil {
		l.t.Fatal(err)
	}
	l.waitIdle()
	done, ended := make(chan result, 1), make(chan result, 1)
	l.mu.Lock()
	l.invoked++
	of := invocation{id: fmt.Sprintf("request-%d", l.invoked), event: string(text), deadline: time.Now().Add(timeout)}
	l.running[of.id] = done
	l.mu.Unlock()
	began := time.Now()
	l.next <- of
	go func() {
		var r result
		select {
		case r = <-done:
		case <-l.exited:
			r = result{fault: l.command.ProcessState.String()}
		}
		r.took = time.Since(began)
		ended <- r
	}()
	return ended
}

// invoke is one invocation, which must end with a response.
func (l *lambda) invoke(event, response any) time.Duration {
	l.t.Helper()
	return l.take(l.begin(event, timeout), response)
}

// take waits for a response.
func (l *lambda) take(ended <-chan result, response any) time.Duration {
	l.t.Helper()
	select {
	case r := <-ended:
		if err := json.Unmarshal(r.body, response); err != nil || r.fault != "" {
			l.t.Fatalf("the invocation failed: %s %s: %v\n%s", r.body, r.fault, err, l.log)
		}
		return r.took
	case <-time.After(patience):
		l.t.Fatalf("no response\n%s", l.log)
		return 0
	}
}

func (l *lambda) serveNext(w http.ResponseWriter, r *http.Request) {
	select {
	case l.idle <- struct{}{}:
	default:
		l.t.Error("asks for two invocations at once")
	}
	select {
	case of := <-l.next:
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", of.id)
		w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(of.deadline.UnixMilli(), 10))
		w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-north-1:123456789012:function:homeops")
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, of.event)
	case <-r.Context().Done():
	case <-l.over:
	}
}

func (l *lambda) serveResult(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the process was killed
	}
	l.mu.Lock()
	done := l.running[r.PathValue("id")]
	delete(l.running, r.PathValue("id"))
	l.mu.Unlock()
	if done == nil {
		l.t.Errorf("%s of an invocation that is not running", r.URL.Path)
		http.Error(w, "", http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	if r.PathValue("how") == "response" {
		done <- result{body: body}
	} else {
		done <- result{fault: r.PathValue("how") + " " + string(body)}
	}
}

const extensionID = "extension-1"

func (l *lambda) serveRegister(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Events []string }
	err := json.NewDecoder(r.Body).Decode(&asked)
	l.mu.Lock()
	again := l.registered
	l.registered = true
	l.mu.Unlock()
	if err != nil || len(asked.Events) > 0 || r.Header.Get("Lambda-Extension-Name") == "" || again {
		l.t.Errorf("registers with %v, %v, %v", asked, r.Header, err) // internal extensions get no SHUTDOWN
	}
	w.Header().Set("Lambda-Extension-Identifier", extensionID)
}

func (l *lambda) serveEvent(_ http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Lambda-Extension-Identifier") != extensionID {
		l.t.Errorf("waits for events as %v", r.Header)
	}
	close(l.extension)
	select {
	case <-r.Context().Done():
	case <-l.over:
	}
}

// signal sends the process a signal.
func (l *lambda) signal(s syscall.Signal) {
	l.t.Helper()
	if err := l.command.Process.Signal(s); err != nil {
		l.t.Fatal(err)
	}
}

// waitEnd waits until the process has ended by itself.
func (l *lambda) waitEnd() (exit int) {
	l.t.Helper()
	select {
	case <-l.exited:
	case <-time.After(patience):
		l.t.Fatalf("does not end\n%s", l.log)
	}
	return l.command.ProcessState.ExitCode()
}

// waitLog waits until the text is in the log, which may lag behind a response.
func (l *lambda) waitLog(text string) {
	l.t.Helper()
	deadline := time.After(patience)
	for !strings.Contains(l.log.String(), text) {
		select {
		case <-time.After(time.Millisecond):
		case <-deadline:
			l.t.Fatalf("never logged: %s", text)
		}
	}
}
