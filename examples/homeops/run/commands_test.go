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
	"github.com/homeops/ddbpatterns/examples/homeops/personal"
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

func TestExportAndErase(t *testing.T) {
	t.Parallel()
	server := dynamotest.NewServer(nil)
	endpoint := httptest.NewServer(server.Handler())
	defer endpoint.Close()
	env := map[string]string{"DYNAMO_ENDPOINT": endpoint.URL, "DYNAMO_TTL_DAYS": "20"}
	in := `{"update_id":1,"message":{"message_id":1,"date":1773140000,"from":{"id":7042,"first_name":"Eva"},"chat":{"id":-5,"type":"group"},"text":"Jag har diskat"}}`
	if got := run(t, env, in, "-updates", "-"); got.exit != exitOK {
		t.Fatalf("%+v", got)
	}
	exported := run(t, env, "", "export", "person", "7042")
	var records []string
	for line := range strings.Lines(exported.out) {
		var row personal.Row
		if err := json.Unmarshal([]byte(line), &row); err != nil || row.Item == nil || row.Key == nil || !strings.HasPrefix(line, `{"table":"homeops`) {
			t.Errorf("%s: %v", line, err)
		}
		records = append(records, row.Record)
	}
	if got := strings.Join(records, " "); exported.exit != exitOK || got != "habit name message member effort activity person" {
		t.Errorf("%q: %+v", got, exported)
	}
	for _, want := range []string{"1 message found\n", "Looked through: -5\n", "after 20 days and an hour", "35 days", "dlq list"} {
		if !strings.Contains(exported.err, want) {
			t.Errorf("%q is not in %s", want, exported.err)
		}
	}
	if got := run(t, env, "", "erase", "person", "7042"); got != exported {
		t.Errorf("without -write: %+v", got)
	}
	got := run(t, env, "", "erase", "-write", "person", "7042", "-6")
	if got.exit != exitOK || got.out != "" || !strings.Contains(got.err, "1 activity gone or changed\n") ||
		!strings.Contains(got.err, "homeops erase person 7042 -5 -6 -write\n") {
		t.Errorf("%+v", got)
	}
	for _, command := range [][]string{{"erase", "person", "7042", "-5", "-write"}, {"export", "person", "1"}} {
		got := run(t, env, "", command...)
		if got.exit != exitOK || got.out != "" || !strings.Contains(got.err, "no key leads to stored data of person "+command[2]+"\n") {
			t.Errorf("%v: %+v", command, got)
		}
	}
	if got := run(t, env, "", "export", "person", "1"); !strings.Contains(got.err, "\nLooked through: no chat\n") {
		t.Errorf("%+v", got)
	}
	if got := run(t, env, "", "erase", "chat", "-5", "-write"); got.exit != exitOK || !strings.Contains(got.err, "1 household gone or changed\n") {
		t.Errorf("%+v", got)
	}
}

func TestExportAndEraseAreRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"export"},
		{"export", "person"},
		{"export", "-write", "person", "7"},
		{"erase", "chats", "-5"},
		{"erase", "person", "-5"},
		{"erase", "person", "x"},
		{"erase", "person", "0"},
		{"erase", "person", "07"},
		{"erase", "chat", "-5", "-6"},
		{"erase", "person", "7", "y"},
	} {
		if got := run(t, map[string]string{"DYNAMO_ENDPOINT": "http://127.0.0.1:1"}, "", args...); got.exit != exitUsage || !strings.Contains(got.err, "homeops export person ID") {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if got := run(t, nil, "", "erase", "person", "7", "-write"); got.exit != exitFailed || !strings.Contains(got.err, "erase: set DYNAMO_ENDPOINT or AWS credentials: otherwise the database would end") {
		t.Errorf("%+v", got)
	}
}
