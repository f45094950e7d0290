package crash_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/internal/backend"
	"github.com/homeops/ddbpatterns/examples/homeops/aws/internal/process"
)

// botAPI is a fake of Telegram's Bot API: it keeps what it was asked to send.
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

const secret = "crash-secret"

// world is everything that runs during a test.
type world struct {
	t       *testing.T
	homeops string
	env     map[string]string
	queue   backend.Queue
	dynamo  *process.Process
	webhook *process.Process
	bot     *botAPI
	seeds   string
}

func newWorld(t *testing.T, server backend.Server, s stream) *world {
	t.Helper()
	w := &world{t: t, homeops: process.Build(t, "../cmd/homeops"), bot: newBotAPI(t), queue: server.NewQueue(t, visibility, maxReceives)}
	w.dynamo = process.Start(t, process.Build(t, "../../../../dynamotest/cmd/dynamotest"), nil,
		"-addr", "127.0.0.1:0", "-data", filepath.Join(t.TempDir(), "data"))
	w.env = server.Environment()
	maps.Copy(w.env, map[string]string{
		"DYNAMO_ENDPOINT": w.dynamo.URL, "MESSAGES_QUEUE_URL": w.queue.URL, "TELEGRAM_API_URL": w.bot.URL,
		"TELEGRAM_SECRET_TOKEN": secret, "TELEGRAM_BOT_TOKEN": "42:token", "QUIET_HOURS": "never",
	})
	text, err := json.Marshal(s.seeds)
	if err != nil {
		t.Fatal(err)
	}
	w.seeds = filepath.Join(t.TempDir(), "seeds.json")
	if err := os.WriteFile(w.seeds, text, 0o600); err != nil {
		t.Fatal(err)
	}
	createTables(t, w.dynamo.URL)
	w.webhook = w.start("-pollers", "0", "-seeds", w.seeds)
	return w
}

func (w *world) start(args ...string) *process.Process {
	w.t.Helper()
	return process.Start(w.t, w.homeops, w.env, append([]string{"-serve", "127.0.0.1:0", "-log", "json"}, args...)...)
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
