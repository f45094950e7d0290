package promise_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/promise"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

const home = "-4123456789"

var (
	noon    = time.Date(2026, 2, 18, 11, 0, 0, 0, time.UTC)
	tonight = noon.Add(12 * time.Hour)
)

func store(t testing.TB, api record.API, table string) *promise.Store {
	t.Helper()
	s, err := promise.New(api, table, recordtest.Clock(noon.Add(1000*time.Hour)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func open(t *testing.T) (*dynamotest.DB, *promise.Store, string) {
	t.Helper()
	db := dynamotest.Open(t, pricetest.Watch, dynamotest.MaxBackoff(time.Millisecond))
	table := db.Name("homeops")
	s := store(t, db.Client(), table)
	db.Create(s.Table())
	return db, s, table
}

func at(t testing.TB, when time.Time, id string) event.Event {
	t.Helper()
	return recordtest.Event(t, when, "telegram", home, id)
}

func dishes(ev event.Event, deadline time.Time) promise.Make {
	return promise.Make{
		Event: ev, User: "42", Description: "diska ikväll", Activity: "diskning",
		Household: home, Chat: home, Source: 17, Deadline: deadline,
	}
}

func make1(t testing.TB, s *promise.Store, m promise.Make, want event.Outcome) promise.Promise {
	t.Helper()
	p, out, err := s.Make(t.Context(), m)
	if err != nil || out != want {
		t.Fatalf("Make = %v, %v, want %v", out, err, want)
	}
	return p
}

func done(ev event.Event) promise.Deed {
	return promise.Deed{User: "42", Household: home, Activity: "diskning", Event: ev}
}

func keep(t testing.TB, s *promise.Store, d promise.Deed, want string) promise.Promise {
	t.Helper()
	p, ok, err := s.Keep(t.Context(), d)
	if err != nil || ok != (want != "") || p.ID != want {
		t.Errorf("Keep = %q, %v, %v, want %q", p.ID, ok, err, want)
	}
	return p
}

func wantOverdue(t testing.TB, s *promise.Store, at time.Time, want ...string) {
	t.Helper()
	all, err := s.Overdue(t.Context(), at)
	var got []string
	for _, p := range all {
		got = append(got, p.User+"/"+p.ID)
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("overdue at %s (-want +got):\n%s%v", at, diff, err)
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	db, s, table := open(t)
	p := make1(t, s, dishes(at(t, noon, "17"), tonight), event.Created)
	want := promise.Promise{
		User: "42", ID: "2026-02-18T11:00:00.000Z#" + at(t, noon, "17").String(), Description: "diska ikväll", Activity: "diskning",
		Household: home, Chat: home, Source: 17, MadeAt: noon, Deadline: tonight, Status: promise.Active,
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("Make (-want +got):\n%s", diff)
	}
	golden.Want(t, db.Client(), table, "testdata/active.json", "pk", "sk")
	other := dishes(at(t, noon, "17"), tonight.Add(time.Hour))
	other.Description = "something else"
	if diff := cmp.Diff(want, make1(t, s, other, event.Duplicate)); diff != "" { // the first one stays
		t.Errorf("Make again (-want +got):\n%s", diff)
	}
	golden.Want(t, db.Client(), table, "testdata/active.json", "pk", "sk")

	deed := at(t, noon.Add(2*time.Hour), "18")
	want.Status, want.Settled = promise.Fulfilled, deed
	if diff := cmp.Diff(want, keep(t, s, done(deed), p.ID)); diff != "" {
		t.Errorf("Keep (-want +got):\n%s", diff)
	}
	golden.Want(t, db.Client(), table, "testdata/fulfilled.json", "pk", "sk")
	if diff := cmp.Diff(want, make1(t, s, other, event.Duplicate)); diff != "" { // delivered again late
		t.Errorf("Make after Keep (-want +got):\n%s", diff)
	}
	got, ok, err := s.Get(t.Context(), "42", p.ID)
	if diff := cmp.Diff(want, got); diff != "" || !ok || err != nil {
		t.Errorf("Get = %v, %v (-want +got):\n%s", ok, err, diff)
	}
	golden.Want(t, db.Client(), table, "testdata/fulfilled.json", "pk", "sk")
}

func TestPrices(t *testing.T) {
	t.Parallel()
	db, s, _ := open(t)
	var ids []string
	for i, id := range []string{"1", "2", "3"} {
		ids = append(ids, make1(t, s, dishes(at(t, noon.Add(time.Duration(i)), id), tonight), event.Created).ID)
	}
	ends := at(t, noon.Add(time.Hour), "4")
	pricetest.Run(t, db, []pricetest.Case{
		{Func: "Store.Make", Call: func(ctx context.Context) error {
			_, _, err := s.Make(ctx, dishes(at(t, noon, "5"), tonight))
			return err
		}},
		{Func: "Store.Get", Call: func(ctx context.Context) error { _, _, err := s.Get(ctx, "42", ids[0]); return err }},
		{Func: "Store.Of", Call: func(ctx context.Context) error { _, err := s.Of(ctx, "42", noon); return err }},
		{Func: "Store.Overdue", Call: func(ctx context.Context) error { _, err := s.Overdue(ctx, tonight); return err }},
		{Func: "Store.Expire", Call: func(ctx context.Context) error {
			_, err := s.Expire(ctx, promise.Promise{User: "42", ID: ids[1]}, ends)
			return err
		}},
		{Func: "Store.Keep", Call: func(ctx context.Context) error {
			_, _, err := s.Keep(ctx, done(at(t, noon.Add(time.Hour), "6")))
			return err
		}},
	}, s)
}

func TestBadInputIsRefusedBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	s := store(t, recordtest.Silent(t), "homeops")
	ahead := at(t, noon.Add(1002*time.Hour), "1")
	for what, c := range map[string]struct {
		field  string
		change func(*promise.Make)
	}{
		"an event ahead":      {"Event", func(m *promise.Make) { m.Event, m.Deadline = ahead, ahead.Time() }},
		"no event":            {"Event", func(m *promise.Make) { m.Event, m.Deadline = event.Event{}, event.Event{}.Time() }},
		"no deadline":         {"Deadline", func(m *promise.Make) { m.Deadline = time.Time{} }},
		"a deadline before":   {"Deadline", func(m *promise.Make) { m.Deadline = noon.Add(-time.Millisecond) }},
		"a deadline too far":  {"Deadline", func(m *promise.Make) { m.Deadline = noon.Add(promise.MaxAhead + 1) }},
		"a deadline long ago": {"Deadline", func(m *promise.Make) { m.Deadline = time.Unix(-1<<40, 0) }},
	} {
		m := dishes(at(t, noon, "1"), tonight)
		c.change(&m)
		_, out, err := s.Make(t.Context(), m)
		recordtest.WantBad(t, err, "promise", c.field, what)
		if out != 0 {
			t.Errorf("%s: %v", what, out)
		}
	}
	_, err := s.Expire(t.Context(), promise.Promise{User: "42", ID: "1"}, event.Event{})
	recordtest.WantBad(t, err, "promise", "Event", "expire without event")
	_, _, err = s.Get(t.Context(), "", "1")
	recordtest.WantBad(t, err, "promise", "Partition", "get of nobody")
	if _, err := promise.New(nil, "homeops", nil); err == nil {
		t.Error("a Store on nothing")
	}
}
