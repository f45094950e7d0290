package app_test

import (
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
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

// What people wrote, did and taught cannot be had again; counters last a day.
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
