package app_test

import (
	"encoding/json"
	"flag"
	"io"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/internal/stacktest"
	"github.com/homeops/ddbpatterns/schema"
)

var update = flag.Bool("update", false, "write testdata/tables.json")

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

// What a stack makes of the tables: a change of it is a change of what is deployed.
func TestTablesOfTheStack(t *testing.T) {
	t.Parallel()
	const golden = "testdata/tables.json"
	resources, err := schema.CloudFormation(tables(t, true)...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(resources, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the resources changed (-update writes them anew):\n%s", diff)
	}
}

// The resources that are in the file, deployed, are as the stores define them, and
// whatever is changed by hand is seen.
func TestTablesAsDeployed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/tables.json")
	if err != nil {
		t.Fatal(err)
	}
	var resources map[string]struct{ Properties map[string]any }
	if err := json.Unmarshal(text, &resources); err != nil {
		t.Fatal(err)
	}
	defined := tables(t, true)
	if len(defined) != 5 || len(resources) != 5 {
		t.Fatalf("%d tables, %d resources", len(defined), len(resources))
	}
	for _, table := range defined {
		stacktest.Check(t, table, resources[schema.LogicalID(table.Name)].Properties)
	}
}

// Messages and activities cannot be had again; counters last a day.
func TestWhatIsKept(t *testing.T) {
	t.Parallel()
	for _, ttl := range []bool{true, false} {
		kept := map[string]bool{"homeops-messages": true, "homeops-activities": true}
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
