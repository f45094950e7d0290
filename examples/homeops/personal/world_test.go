package personal_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/personal"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/schema"
)

func settings(t testing.TB) config.Config {
	t.Helper()
	cfg, err := config.Load(func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// on returns the tool for a bot on a database.
func on(t testing.TB, db *dynamodb.Client, now func() time.Time) *personal.Tool {
	t.Helper()
	cfg := settings(t)
	a, err := app.New(app.Options{
		Config: cfg, DB: db, Now: now, Queue: queue.NewMemory(queue.Config{Now: now}),
		Sender: &telegram.Console{}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return &personal.Tool{DB: db, App: a, Config: cfg}
}

// told gives the bot all updates, each at its time, and returns the tables as they
// are then.
func told(t testing.TB, updates string) *dynamotest.Snapshot {
	t.Helper()
	now := time.Unix(1773073000, 0)
	server := dynamotest.NewServer(&dynamotest.Config{Now: func() time.Time { return now }})
	tool := on(t, server.Client(), func() time.Time { return now })
	if err := schema.Create(t.Context(), server.Client(), tool.App.Tables(false)...); err != nil {
		t.Fatal(err)
	}
	if err := tool.App.Seed(t.Context(), app.Seeds{"-4123456789": {"fixat disken": "diskning"}}); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(strings.NewReader(updates))
	for lines.Scan() {
		tell(t, tool, lines.Text(), &now)
	}
	return server.Snapshot()
}

var dated = regexp.MustCompile(`"date":(\d+)`)

func tell(t testing.TB, tool *personal.Tool, update string, now *time.Time) {
	t.Helper()
	found := dated.FindStringSubmatch(update)
	if found == nil {
		return
	}
	var seconds int64 // of the message itself, not of the message that it replies to
	fmt.Sscan(found[1], &seconds)
	if at := time.Unix(seconds, 0); at.After(*now) && at.Year() == 2026 && at.Month() < time.May {
		*now = at
	}
	_ = tool.App.Worker.Handle(t.Context(), queue.Message{ID: "1", Body: update, Receives: 1}) // some updates are poison
}

var whole = sync.OnceValues(func() (string, error) {
	text, err := os.ReadFile("../run/testdata/conversation.jsonl")
	return string(text), err
})

// rows returns all rows of all tables, as JSON, by table and key.
func rows(t testing.TB, db *dynamotest.DB) map[string]string {
	t.Helper()
	cfg, all := settings(t), map[string]string{}
	for table, key := range map[string][]string{
		cfg.MessagesTable: {"chatId", "messageId"}, cfg.ActivitiesTable: {"chatId", "activityId"},
		cfg.CountersTable: {"chatId", "date"}, cfg.HomeopsTable: {"pk", "sk"}, cfg.LedgerTable: {"pk"},
	} {
		for _, row := range db.Items(table) {
			var plain map[string]any
			if err := attributevalue.UnmarshalMapWithOptions(row, &plain, func(o *attributevalue.DecoderOptions) { o.UseNumber = true }); err != nil {
				t.Fatal(err)
			}
			for name, value := range plain {
				if set, ok := value.([]string); ok {
					slices.Sort(set)
					plain[name] = set
				}
			}
			id := map[string]any{}
			for _, name := range key {
				id[name] = plain[name]
			}
			all[table+" "+asText(t, id)] = asText(t, plain)
		}
	}
	return all
}

func asText(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// holding returns the keys of the rows that contain an id as a whole number.
func holding(all map[string]string, id string) (found []string) {
	number := regexp.MustCompile(`(^|[^-0-9])` + id + `([^0-9]|$)`)
	for key, row := range all {
		if number.MatchString(nonce.ReplaceAllString(row, "")) {
			found = append(found, key)
		}
	}
	slices.Sort(found)
	return found
}

// A nonce is random text that may look like a short number: one of a counter's
// entry, or of a ledger's claim.
var nonce = regexp.MustCompile(`~[\w-]+"|"claim":"[^"]*"`)

// without returns a row without some attributes.
func without(t testing.TB, row string, attributes ...string) string {
	t.Helper()
	var plain map[string]any
	if err := json.Unmarshal([]byte(row), &plain); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(plain, func(name string, _ any) bool { return slices.Contains(attributes, name) })
	return asText(t, plain)
}
