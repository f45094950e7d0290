package run

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
)

// toldAPI plays setWebhook and getMe of the Bot API.
func toldAPI(t *testing.T, private bool) (url string, told map[string]any) {
	t.Helper()
	told = map[string]any{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bot42:token/setWebhook":
			if err := json.NewDecoder(r.Body).Decode(&told); err != nil {
				t.Error(err)
			}
			fmt.Fprint(w, `{"ok":true,"result":true}`)
		case "/bot42:token/getMe":
			fmt.Fprintf(w, `{"ok":true,"result":{"id":42,"username":"chores_bot","can_read_all_group_messages":%t}}`, !private)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"ok":false,"error_code":404,"description":"Not Found"}`)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, told
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	for _, private := range []bool{false, true} {
		url, told := toldAPI(t, private)
		env := map[string]string{"TELEGRAM_BOT_TOKEN": "42:token", "TELEGRAM_SECRET_TOKEN": "s3cret", "TELEGRAM_API_URL": url}
		got := run(t, env, "", "webhook", "https://bot.example/")
		if got.exit != exitOK || !strings.HasPrefix(got.out, "@chores_bot gets its updates at https://bot.example/telegram\n") ||
			strings.Contains(got.out, "/setprivacy") != private {
			t.Errorf("%+v", got)
		}
		want := map[string]any{
			"url": "https://bot.example/telegram", "secret_token": "s3cret",
			"allowed_updates": []any{"message", "channel_post", "my_chat_member"},
		}
		if diff := cmp.Diff(want, told); diff != "" {
			t.Error(diff)
		}
		env["TELEGRAM_BOT_TOKEN"] = "42:wrong"
		if got := run(t, env, "", "webhook", "https://bot.example/"); got.exit != exitFailed || !strings.Contains(got.err, "404 Not Found") || strings.Contains(got.err, "42:wrong") {
			t.Errorf("%+v", got)
		}
	}
	for _, args := range [][]string{{"webhook"}, {"seed"}, {"webhook", "a", "b"}} {
		if got := run(t, nil, "", args...); got.exit != exitUsage || !strings.Contains(got.err, "homeops seed FILE") {
			t.Errorf("%v: %+v", args, got)
		}
	}
	for _, address := range []string{"http://bot.example", "bot.example", "https://"} {
		if got := run(t, nil, "", "webhook", address); got.exit != exitFailed || !strings.Contains(got.err, "https") {
			t.Errorf("%s: %+v", address, got)
		}
	}
}

func TestSeed(t *testing.T) {
	t.Parallel()
	if got := run(t, nil, "", "seed", "testdata/seeds.json"); got.exit != exitFailed || !strings.Contains(got.err, "would end with this command") {
		t.Errorf("%+v", got)
	}
	if got := run(t, map[string]string{"AWS_ACCESS_KEY_ID": "AKIA"}, "", "seed", "testdata/seeds.json"); got.exit != exitFailed || !strings.Contains(got.err, "AWS_ACCESS_KEY_ID: must be set together with") {
		t.Errorf("half a key: %+v", got)
	}
	server := dynamotest.NewServer(nil)
	endpoint := httptest.NewServer(server.Handler())
	defer endpoint.Close()
	env := map[string]string{"DYNAMO_ENDPOINT": endpoint.URL}
	if got := run(t, env, "", "seed", "testdata/seeds.json"); got.exit != exitFailed || !strings.Contains(got.err, "table homeops does not exist on DynamoDB at "+endpoint.URL+": first deploy") {
		t.Errorf("without tables: %+v", got)
	}
	createTables(t, server)
	for range 2 { // again changes nothing
		if got := run(t, env, "", "seed", "testdata/seeds.json"); got.exit != exitOK || !strings.Contains(got.out, "1 chats have their phrases") {
			t.Errorf("%+v", got)
		}
	}
	bad := filepath.Join(t.TempDir(), "bad.json")
	for text, want := range map[string]string{
		`{"x": {"fixat": "diskning"}}`: `a chat id must be a whole number, is "x"`,
		`{"": {"fixat": "diskning"}}`:  `a chat id must be a whole number, is ""`,
		`{"-5": {"": "diskning"}}`:     "seeds of chat -5: alias: Phrase",
	} {
		if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := run(t, env, "", "seed", bad); got.exit != exitFailed || !strings.Contains(got.err, want) {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func createTables(t *testing.T, server *dynamotest.Server) {
	t.Helper()
	cfg, err := config.Load(environment(nil))
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(app.Options{Config: cfg, DB: server.Client(), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.CreateTables(t.Context(), true); err != nil {
		t.Fatal(err)
	}
}
