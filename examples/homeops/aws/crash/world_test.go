package crash_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/internal/backend"
)

// botAPI plays Telegram's Bot API: it keeps what it was asked to send.
type botAPI struct {
	*httptest.Server
	mu   sync.Mutex
	sent map[string]int // how often each message was answered: "chat/message"
}

func newBotAPI(t *testing.T) *botAPI {
	b := &botAPI{sent: map[string]int{}}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var out struct {
			Chat  int64 `json:"chat_id"`
			Reply struct {
				Message int64 `json:"message_id"`
			} `json:"reply_parameters"`
		}
		if err := json.NewDecoder(r.Body).Decode(&out); err != nil || !strings.HasSuffix(r.URL.Path, "/sendMessage") {
			http.Error(w, `{"ok":false,"error_code":400,"description":"not sendMessage"}`, http.StatusBadRequest)
			return
		}
		b.mu.Lock()
		b.sent[fmt.Sprintf("%d/%d", out.Chat, out.Reply.Message)]++
		b.mu.Unlock()
		io.WriteString(w, `{"ok":true,"result":{"message_id":9000001}}`)
	}))
	t.Cleanup(b.Close)
	return b
}

// build builds a command of this repository.
func build(t *testing.T, folder, pkg string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), filepath.Base(pkg))
	command := exec.CommandContext(t.Context(), "go", "build", "-o", out, pkg)
	command.Dir = folder
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", pkg, err, text)
	}
	return out
}

// process is a running command.
type process struct {
	command *exec.Cmd
	log     string
	address string // where it listens, in the words of its first line that says so
	done    chan struct{}
}

// start starts a command and waits until a line of its output tells where it listens.
func start(t *testing.T, name, path string, env []string, listens func(line string) (string, bool), args ...string) *process {
	t.Helper()
	p := &process{command: exec.Command(path, args...), log: filepath.Join(t.TempDir(), name+".log"), done: make(chan struct{})}
	log, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	reading, writing := io.Pipe()
	p.command.Env = append(os.Environ(), env...)
	p.command.Stdout = io.MultiWriter(log, writing)
	p.command.Stderr = p.command.Stdout
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(reading)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if address, ok := listens(lines.Text()); ok {
				select {
				case found <- address:
				default:
				}
			}
		}
		_, _ = io.Copy(io.Discard, reading)
	}()
	go func() {
		_ = p.command.Wait()
		_ = writing.Close()
		_ = log.Close()
		close(p.done)
	}()
	t.Cleanup(p.kill)
	select {
	case p.address = <-found:
	case <-p.done:
		t.Fatalf("%s ended at once:\n%s", name, p.tail())
	case <-time.After(time.Minute):
		t.Fatalf("%s does not start:\n%s", name, p.tail())
	}
	return p
}

// kill ends the process as a power cut does.
func (p *process) kill() {
	_ = p.command.Process.Signal(syscall.SIGKILL)
	<-p.done
}

// tail is the end of what it wrote.
func (p *process) tail() string {
	text, _ := os.ReadFile(p.log)
	return string(text[max(0, len(text)-4000):])
}

// serving reads the log line of homeops that tells its address.
func serving(line string) (string, bool) {
	var entry struct{ Msg, Address string }
	if json.Unmarshal([]byte(line), &entry) != nil || entry.Msg != "serving" {
		return "", false
	}
	return "http://" + entry.Address, true
}

// listening reads the line of dynamotest.
func listening(line string) (string, bool) {
	return strings.CutPrefix(line, "dynamotest: listening on ")
}

const secret = "crash-secret"

// world is what runs during a test.
type world struct {
	t       *testing.T
	homeops string
	env     []string
	queue   backend.Queue
	dynamo  *process
	webhook *process
	bot     *botAPI
	seeds   string
}

func newWorld(t *testing.T, server backend.Server, s stream) *world {
	t.Helper()
	w := &world{t: t, homeops: build(t, "..", "./cmd/homeops"), bot: newBotAPI(t), queue: server.NewQueue(t, visibility, maxReceives)}
	w.dynamo = start(t, "dynamotest", build(t, "../../../..", "./dynamotest/cmd/dynamotest"), nil, listening,
		"-addr", "127.0.0.1:0", "-data", filepath.Join(t.TempDir(), "data"))
	for name, value := range server.Environment() {
		w.env = append(w.env, name+"="+value)
	}
	w.env = append(w.env, "DYNAMO_ENDPOINT="+w.dynamo.address, "MESSAGES_QUEUE_URL="+w.queue.URL, "TELEGRAM_API_URL="+w.bot.URL,
		"TELEGRAM_SECRET_TOKEN="+secret, "TELEGRAM_BOT_TOKEN=42:token", "QUIET_HOURS=never")
	text, err := json.Marshal(s.seeds)
	if err != nil {
		t.Fatal(err)
	}
	w.seeds = filepath.Join(t.TempDir(), "seeds.json")
	if err := os.WriteFile(w.seeds, text, 0o600); err != nil {
		t.Fatal(err)
	}
	createTables(t, w.dynamo.address)
	w.webhook = w.start("webhook", "-pollers", "0", "-seeds", w.seeds)
	return w
}

func (w *world) start(name string, args ...string) *process {
	w.t.Helper()
	return start(w.t, name, w.homeops, w.env, serving, append([]string{"-serve", "127.0.0.1:0", "-log", "json"}, args...)...)
}

// deliver posts an update until it is acknowledged, as Telegram does.
func deliver(ctx context.Context, url string, p post) error {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/telegram", bytes.NewReader([]byte(p.body)))
		if err != nil {
			return err
		}
		request.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("answered %s: %w", response.Status, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}
