package dmstatus_test

import (
	"context"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/dmstatus"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

var noon = time.Date(2026, 2, 18, 11, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

func open(t *testing.T) (*dynamotest.DB, *dmstatus.Store, string) {
	t.Helper()
	db := dynamotest.Open(t, pricetest.Watch)
	table := db.Name("homeops")
	s := store(t, db.Client(), table)
	db.Create(s.Table())
	return db, s, table
}

func store(t *testing.T, api record.API, table string) *dmstatus.Store {
	t.Helper()
	s, err := dmstatus.New(api, table, clock)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func at(t *testing.T, when time.Time, id string) event.Event {
	t.Helper()
	return recordtest.Event(t, when, "telegram", "5001", id)
}

func set(t *testing.T, s *dmstatus.Store, status dmstatus.Status, ev event.Event, want event.Outcome) {
	t.Helper()
	got, err := s.Set(t.Context(), dmstatus.Change{User: "5001", Chat: "5001", Status: status, Event: ev})
	if err != nil || got != want {
		t.Errorf("Set(%s) = %v, %v, want %v", status, got, err, want)
	}
}

func wantStatus(t *testing.T, s *dmstatus.Store, want dmstatus.Status) {
	t.Helper()
	if got, ok, err := s.Get(t.Context(), "5001"); err != nil || !ok || got != want {
		t.Errorf("Get = %q, %v, %v, want %q", got, ok, err, want)
	}
}

func TestTheLaterEventWinsInAnyOrder(t *testing.T) {
	t.Parallel()
	db, s, table := open(t)
	start, block := at(t, noon, "1"), at(t, noon.Add(time.Minute), "2")
	if _, ok, err := s.Get(t.Context(), "5001"); ok || err != nil {
		t.Errorf("before anything: %v, %v", ok, err)
	}
	set(t, s, dmstatus.Started, start, event.Created)
	golden.Want(t, db.Client(), table, "testdata/status.json", "pk", "sk")
	set(t, s, dmstatus.Stopped, block, event.Created)
	set(t, s, dmstatus.Started, start, event.Duplicate) // redelivered late
	wantStatus(t, s, dmstatus.Stopped)
}

// In one second started wins, in any order, also over a row of an earlier version,
// which knew no ranks.
func TestInOneSecondStartedWins(t *testing.T) {
	t.Parallel()
	for _, order := range [][]dmstatus.Status{{dmstatus.Started, dmstatus.Stopped}, {dmstatus.Stopped, dmstatus.Started}} {
		for _, ids := range [][]string{{"1", "2"}, {"2", "1"}, {"1", "1"}} { // which one sorts first does not matter
			_, s, _ := open(t)
			for i, status := range order {
				if _, err := s.Set(t.Context(), dmstatus.Change{User: "5001", Chat: "5001", Status: status, Event: at(t, noon, ids[i])}); err != nil {
					t.Error(err)
				}
			}
			wantStatus(t, s, dmstatus.Started)
		}
	}
	db, s, table := open(t)
	item := golden.Item(t, "testdata/status.json")
	item["event"], item["status"] = record.Text(at(t, noon, "1").String()), record.Text("stopped")
	recordtest.Put(t, db.Client(), table, item)
	wantStatus(t, s, dmstatus.Stopped)
	set(t, s, dmstatus.Started, at(t, noon, "2"), event.Created)
	set(t, s, dmstatus.Stopped, at(t, noon, "1"), event.Duplicate)
	wantStatus(t, s, dmstatus.Started)
}

func TestRowsOfTheOlderSystem(t *testing.T) {
	t.Parallel()
	db, s, table := open(t)
	golden.Put(t, db.Client(), table, "testdata/typescript.json")
	wantStatus(t, s, dmstatus.Started)
	set(t, s, dmstatus.Stopped, at(t, noon, "1"), event.Created)
	wantStatus(t, s, dmstatus.Stopped)
}

func TestBadInputIsRefusedBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	s := store(t, recordtest.Silent(t), "homeops")
	ok := dmstatus.Change{User: "5001", Chat: "5001", Status: dmstatus.Started, Event: at(t, noon, "1")}
	for field, change := range map[string]func(*dmstatus.Change){
		"Partition": func(c *dmstatus.Change) { c.User = "" },
		"Status":    func(c *dmstatus.Change) { c.Status = "paused" },
		"Event":     func(c *dmstatus.Change) { c.Event = at(t, noon.Add(2*time.Hour), "1") },
	} {
		c := ok
		change(&c)
		_, err := s.Set(t.Context(), c)
		recordtest.WantBad(t, err, "dmstatus", field)
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	db, s, _ := open(t)
	pricetest.Run(t, db, []pricetest.Case{
		{Func: "Store.Set", Call: func(ctx context.Context) error {
			_, err := s.Set(ctx, dmstatus.Change{User: "5001", Chat: "5001", Status: dmstatus.Started, Event: at(t, noon, "1")})
			return err
		}},
		{Func: "Store.Get", Call: func(ctx context.Context) error { _, _, err := s.Get(ctx, "5001"); return err }},
	}, s)
}
