package crash_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/schema"
)

// row is an item in plain Go values.
type row = map[string]any

// tables are all rows, by table and key.
type tables map[string]map[string]row

// newApp returns the pipeline on the database, with a sender that sends to
// nobody.
func newApp(t *testing.T, db *dynamodb.Client, q queue.Queue) *app.App {
	t.Helper()
	environment := map[string]string{"QUIET_HOURS": "never"}
	cfg, err := config.Load(func(name string) (string, bool) { value, ok := environment[name]; return value, ok })
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(app.Options{Config: cfg, DB: db, Now: time.Now, Queue: q, Sender: &telegram.Console{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func createTables(t *testing.T, endpoint string) {
	t.Helper()
	if err := newApp(t, dynamotest.Connect(endpoint), queue.NewMemory(queue.Config{})).CreateTables(t.Context(), true); err != nil {
		t.Fatal(err)
	}
}

// undisturbed returns the tables after the same updates, one at a time in one
// process.
func undisturbed(t *testing.T, s stream) tables {
	t.Helper()
	server := dynamotest.NewServer(nil)
	q := queue.NewMemory(queue.Config{})
	a := newApp(t, server.Client(), q)
	if err := a.CreateTables(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if err := a.Seed(t.Context(), s.seeds); err != nil {
		t.Fatal(err)
	}
	webhook := &ingest.Handler{Secret: secret, Queue: q, Log: slog.New(slog.DiscardHandler)}
	for _, p := range s.posts {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/telegram", strings.NewReader(p.body))
		request.Header.Set(ingest.SecretHeader, secret)
		webhook.ServeHTTP(httptest.NewRecorder(), request)
		batch, err := q.Receive(t.Context(), 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		a.Worker.Work(t.Context(), batch)
	}
	if q.Len() > 0 {
		t.Fatalf("%d items are left of an undisturbed run", q.Len())
	}
	return scan(t.Context(), t, server.Client(), a)
}

func read(ctx context.Context, t *testing.T, endpoint string) tables {
	t.Helper()
	db := dynamotest.Connect(endpoint)
	return scan(ctx, t, db, newApp(t, db, queue.NewMemory(queue.Config{})))
}

func scan(ctx context.Context, t *testing.T, db *dynamodb.Client, a *app.App) tables {
	t.Helper()
	definitions, err := schema.Merge(a.Tables(true)...)
	if err != nil {
		t.Fatal(err)
	}
	all := tables{}
	for _, definition := range definitions {
		all[definition.Name] = map[string]row{}
		pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{TableName: &definition.Name})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range page.Items {
				r := row{}
				if err := attributevalue.UnmarshalMap(item, &r); err != nil {
					t.Fatal(err)
				}
				all[definition.Name][fmt.Sprint(r[definition.Key.Partition.Name], " ", r[definition.Key.Sort.Name])] = r
			}
		}
	}
	return all
}

// ofWriting lists the attributes that say when a row was written, not what
// happened.
var ofWriting = []string{"createdAt", "updatedAt"}

// ofOrder lists, by type of row, the attributes that depend on which of
// somebody's messages was handled first, or was one of the day's replies.
var ofOrder = map[any][]string{
	"USER":      {"nameEvent", "householdEvent", "languageEvent", "spoken"},
	"MEMBER":    {"event"},
	"HOUSEHOLD": {"event"},
	"NAME":      {"namedBy"},
	"EFFORT":    {"ema", "value", "recent"},
	"PREF":      {"ema", "value", "recent"},
}

// byTheClock reports whether an hour's job makes the row, of the Sunday or the day
// that is over. The processes take the hour from the machine's clock.
func byTheClock(key string, r row) bool {
	return r["type"] == "BALANCE" || r["type"] == "SUMMARY" || r["sk"] == "interactionFrequency" || strings.Contains(key, "#answers ")
}

// compare compares the tables. Messages, activities and habits must be the same to
// the last attribute. Averages depend on the order of arrival: their number of
// samples must be the same. People must be the same except for the message that
// named them. Counters are compared by how much is used.
func compare(t *testing.T, want, got tables, bot *botAPI, s stream) {
	t.Helper()
	for _, name := range []string{"homeops-messages", "homeops-activities", "homeops"} {
		if diff := cmp.Diff(plain(want[name]), plain(got[name])); diff != "" {
			t.Errorf("%s, undisturbed (-) and with kills (+):\n%.4000s", name, diff)
		}
	}
	if len(got["homeops-activities"]) < len(s.posts)/3 {
		t.Errorf("%d activities: the comparison sees nothing", len(got["homeops-activities"]))
	}
	checkGrants(t, want["homeops-response-counters"], got["homeops-response-counters"], bot)
}

func plain(rows map[string]row) map[string]row {
	all := map[string]row{}
	for key, r := range rows {
		if byTheClock(key, r) {
			continue
		}
		kept := row{}
		for name, value := range r {
			if !slices.Contains(ofWriting, name) && !slices.Contains(ofOrder[r["type"]], name) {
				kept[name] = value
			}
		}
		all[key] = kept
	}
	return all
}

// checkGrants checks that the counters are min(cap, asked), as in the undisturbed
// run, and that each grant sent at most one message.
func checkGrants(t *testing.T, want, got map[string]row, bot *botAPI) {
	t.Helper()
	bot.mu.Lock()
	defer bot.mu.Unlock()
	sent := map[string]int{} // by chat
	for message, n := range bot.sent {
		chat, answered, _ := strings.Cut(message, "/")
		if answered == "0" { // said unasked, by an hour's job
			continue
		}
		sent[chat] += n
		if n > 1 {
			t.Errorf("message %s was answered %d times", message, n)
		}
	}
	granted, grants := 0, map[string]int{} // by chat: the hour may lie in two days
	maps.DeleteFunc(got, byTheClock)
	for key, r := range got {
		used, _ := r["count"].(float64)
		if w, _ := want[key]["count"].(float64); w != used {
			t.Errorf("counter %s: %v used, %v undisturbed", key, used, w)
		}
		granted += int(used)
		chat, _, _ := strings.Cut(key, " ")
		grants[chat] += int(used)
	}
	for chat, n := range sent {
		if n > grants[chat] {
			t.Errorf("chat %s: %d messages sent for %d grants", chat, n, grants[chat])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d counters, %d undisturbed", len(got), len(want))
	}
	// A kill between grant and send costs a message; more than a few would be a
	// fault.
	sum := 0
	for _, n := range sent {
		sum += n
	}
	t.Logf("%d messages sent for %d grants", sum, granted)
	if sum < granted*8/10 {
		t.Errorf("only %d messages were sent for %d grants", sum, granted)
	}
}

// checkDead checks that each poison update is a dead letter, and no other update.
func checkDead(ctx context.Context, t *testing.T, q queue.Queue, s stream) {
	t.Helper()
	want, got := map[string]bool{}, map[string]bool{}
	for _, p := range s.posts {
		if p.poison {
			want[p.body] = true
		}
	}
	for empty := 0; empty < 2; empty++ {
		letters, err := q.DeadLetters().Receive(ctx, 10, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range letters {
			empty = 0
			body, whole := m.Content()
			if got[string(body)] = true; !whole || !want[string(body)] {
				t.Errorf("dead, and not poison: %s, for %s", body, m.Why())
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the poison (-) and the dead letters (+):\n%s", diff)
	}
	t.Logf("%s dead letters", strconv.Itoa(len(got)))
}
