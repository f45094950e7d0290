package app_test

import (
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

func tables(t *testing.T, ttl bool) []schema.Table {
	t.Helper()
	cfg, err := config.Load(func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(app.Options{Config: cfg, DB: dynamotest.New(t, nil).Client(), Now: time.Now, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	merged, err := schema.Merge(a.Tables(ttl)...)
	if err != nil {
		t.Fatal(err)
	}
	return merged
}

// What people wrote, did and taught cannot be replaced; counters last a day.
func TestWhatIsKept(t *testing.T) {
	t.Parallel()
	for _, ttl := range []bool{true, false} {
		kept := map[string]bool{"homeops-messages": true, "homeops-activities": true, "homeops": true}
		for _, table := range tables(t, ttl) {
			if table.PointInTimeRecovery != kept[table.Name] || table.Retain != kept[table.Name] {
				t.Errorf("%s: backups %t, kept %t", table.Name, table.PointInTimeRecovery, table.Retain)
			}
			if !ttl && table.TTL != "" {
				t.Errorf("%s: a replay's table has the TTL %s", table.Name, table.TTL)
			}
			delete(kept, table.Name)
		}
		if len(kept) > 0 {
			t.Errorf("no table %v", kept)
		}
	}
}

// With a retention messages expire. A message that is older than the retention is
// worked on all the same.
func TestMessagesAreKeptAsLongAsIsSet(t *testing.T) {
	t.Parallel()
	cfg, err := config.Load(func(name string) (string, bool) {
		return map[string]string{"MESSAGES_TTL_DAYS": "15"}[name], true
	})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	db := dynamotest.New(t, &dynamotest.Config{Now: func() time.Time { return now }})
	a, err := app.New(app.Options{
		Config: cfg, DB: db.Client(), Now: func() time.Time { return now }, Queue: queue.NewMemory(queue.Config{}),
		Sender: &telegram.Console{}, Log: slog.New(slog.DiscardHandler),
	})
	if err == nil {
		err = a.CreateTables(t.Context(), true)
	}
	if err != nil || a.Messages.Table().TTL != "ttl" {
		t.Fatal(a.Messages.Table().TTL, err)
	}
	old := now.AddDate(0, 0, -20).Unix()
	for _, date := range []int64{now.Unix(), old, old} {
		body := fmt.Sprintf(`{"update_id":1,"message":{"message_id":%d,"date":%d,"from":{"id":7,"first_name":"Bo"},"chat":{"id":-5,"type":"group"},"text":"Jag har diskat"}}`, date%1000+1, date)
		if err := a.Worker.Handle(t.Context(), queue.Message{ID: "1", Body: body, Receives: 1}); err != nil {
			t.Error(err)
		}
	}
	rows := db.Items(cfg.MessagesTable)
	if len(rows) != 1 || record.Read(rows[0]).Int("ttl") != now.AddDate(0, 0, 15).Unix() {
		t.Errorf("%v", rows)
	}
	if all := db.Items(cfg.ActivitiesTable); len(all) != 2 {
		t.Errorf("%d activities", len(all))
	}
}
