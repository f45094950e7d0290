package pattern_test

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/tzclock"
)

// clock is what the stores of the tests take for now. The table has no TTL, so
// it may differ from the wall's.
var clock = time.Date(2026, 3, 29, 18, 0, 0, 0, time.UTC)

// open returns a store on a table of its own.
func open(t *testing.T, zone tzclock.Zone) (*dynamotest.DB, *pattern.Store) {
	t.Helper()
	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond))
	store, err := pattern.New(db.Client(), db.Name("homeops"), zone, &pattern.Config{
		Now: recordtest.Clock(clock), ConsistentReads: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	recordtest.Create(t, db.Client(), store.Table())
	return db, store
}

func washing(ev event.Event) pattern.Observe {
	return pattern.Observe{Scope: "-100123", Actor: "42", Name: "diskning", Event: ev}
}

func mustObserve(t *testing.T, store *pattern.Store, o pattern.Observe, want event.Outcome) {
	t.Helper()
	if out, err := store.Observe(t.Context(), o); err != nil || out != want {
		t.Fatalf("Observe(%v) = %v, %v, want %v", o.Event.Time(), out, err, want)
	}
}

func mustGet(t *testing.T, store *pattern.Store, scope, actor, name string) pattern.Habit {
	t.Helper()
	habit, ok, err := store.Get(t.Context(), scope, actor, name)
	if err != nil || !ok {
		t.Fatalf("Get = %v, %v", ok, err)
	}
	return habit
}

func TestObserve(t *testing.T) {
	t.Parallel()
	_, store := open(t, tzclock.Stockholm)
	if habit, ok, err := store.Get(t.Context(), "-100123", "42", "diskning"); err != nil || ok || habit != (pattern.Habit{}) {
		t.Fatalf("Get of nothing = %+v, %v, %v", habit, ok, err)
	}
	late, early := recordtest.At(t, "2026-03-28T23:30:00.5Z"), recordtest.At(t, "2026-03-23T06:00:00Z")
	mustObserve(t, store, washing(late), event.Created) // Sunday 00:30 in Stockholm
	mustObserve(t, store, washing(early), event.Created)
	mustObserve(t, store, washing(early), event.Duplicate)
	mustObserve(t, store, washing(late), event.Duplicate)
	want := pattern.Habit{
		Scope: "-100123", Actor: "42", Name: "diskning",
		ByDay: [7]int64{time.Sunday: 1, time.Monday: 1}, ByHour: [24]int64{0: 1, 7: 1},
		Total: 2, LastSeen: late.Time(),
	}
	if diff := cmp.Diff(want, mustGet(t, store, "-100123", "42", "diskning")); diff != "" {
		t.Errorf("habit (-want +got):\n%s", diff)
	}
}

// The weekday and hour are what a clock on the wall shows at the event's time:
// on both nights on which clocks change, and either side of local midnight.
func TestLocalTime(t *testing.T) {
	t.Parallel()
	newYork := tzclock.MustLoad("America/New_York")
	kolkata := tzclock.MustLoad("Asia/Kolkata")
	for name, tc := range map[string]struct {
		zone tzclock.Zone
		at   string
		day  time.Weekday
		hour int
	}{
		"before clocks go forward":              {tzclock.Stockholm, "2026-03-29T00:59:59.999Z", time.Sunday, 1},
		"after clocks went forward":             {tzclock.Stockholm, "2026-03-29T01:00:00Z", time.Sunday, 3},
		"after the short day":                   {tzclock.Stockholm, "2025-03-30T22:00:00Z", time.Monday, 0},
		"the hour that comes twice, first":      {tzclock.Stockholm, "2025-10-26T00:30:00Z", time.Sunday, 2},
		"the hour that comes twice, again":      {tzclock.Stockholm, "2025-10-26T01:30:00Z", time.Sunday, 2},
		"after the long day":                    {tzclock.Stockholm, "2025-10-26T23:00:00Z", time.Monday, 0},
		"another zone's night, forward":         {newYork, "2026-03-08T07:00:00Z", time.Sunday, 3},
		"a zone of half hours, before midnight": {kolkata, "2026-03-28T18:29:00Z", time.Saturday, 23},
		"a zone of half hours, after midnight":  {kolkata, "2026-03-28T18:30:00Z", time.Sunday, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, store := open(t, tc.zone)
			mustObserve(t, store, washing(recordtest.At(t, tc.at)), event.Created)
			got := mustGet(t, store, "-100123", "42", "diskning")
			if got.ByDay[tc.day] != 1 || got.ByHour[tc.hour] != 1 || got.Total != 1 {
				t.Errorf("counted on %v at %v, want %v at %d", got.ByDay, got.ByHour, tc.day, tc.hour)
			}
		})
	}
}

// Golden items: ours, and how rows in the shapes of the TypeScript system are
// read and counted into: with one form of lastSeen and some days and hours;
// with the other form, later than the event, no maps, and attributes of others.
func TestGolden(t *testing.T) {
	t.Parallel()
	db, store := open(t, tzclock.Stockholm)
	table := store.Table().Name

	for _, text := range []string{"2026-03-29T01:15:00Z", "2026-03-29T17:15:00Z"} {
		mustObserve(t, store, pattern.Observe{Scope: "hus#47", Actor: "anna%", Name: "diskning", Event: recordtest.At(t, text)}, event.Created)
	}
	clock := clock.Add(12 * time.Hour) // an event after it is too far ahead
	later, err := pattern.New(db.Client(), table, tzclock.Stockholm, &pattern.Config{Now: recordtest.Clock(clock)})
	if err != nil {
		t.Fatal(err)
	}
	mustObserve(t, later, pattern.Observe{Scope: "hus#47", Actor: "anna%", Name: "diskning", Event: recordtest.At(t, "2026-03-30T05:30:00Z")}, event.Created)
	golden.Want(t, db.Client(), table, "testdata/habit.json", "pk", "sk")

	for _, name := range []string{"older", "older_bare"} {
		golden.Put(t, db.Client(), table, "testdata/"+name+".json")
	}
	want := pattern.Habit{
		Scope: "-100123", Actor: "42", Name: "diskning",
		ByDay: [7]int64{time.Monday: 5, time.Tuesday: 2}, ByHour: [24]int64{0: 1, 8: 4, 19: 2}, Total: 7,
		LastSeen: time.Date(2026, 2, 17, 18, 30, 0, 123_000_000, time.UTC),
	}
	if diff := cmp.Diff(want, mustGet(t, store, "-100123", "42", "diskning")); diff != "" {
		t.Errorf("older row (-want +got):\n%s", diff)
	}
	want = pattern.Habit{
		Scope: "-100123", Actor: "42", Name: "100% städning #1", Total: 3,
		LastSeen: time.Date(2026, 4, 1, 6, 0, 0, 0, time.UTC),
	}
	if diff := cmp.Diff(want, mustGet(t, store, "-100123", "42", "100% städning #1")); diff != "" {
		t.Errorf("older row without maps (-want +got):\n%s", diff)
	}
	for name, row := range map[string]string{"diskning": "older_counted", "100% städning #1": "older_bare_counted"} {
		o := pattern.Observe{Scope: "-100123", Actor: "42", Name: name, Event: recordtest.At(t, "2026-03-29T17:15:00Z")}
		mustObserve(t, store, o, event.Created)
		mustObserve(t, store, o, event.Duplicate)
		golden.Want(t, db.Client(), table, "testdata/"+row+".json", "pk", "sk")
	}
}

// Ids and names that hold the separator, or look encoded, have rows of their
// own, and no actor's list shows a neighbour's.
func TestSeparators(t *testing.T) {
	t.Parallel()
	_, store := open(t, tzclock.UTC)
	ids := [][3]string{
		{"a#b", "c", "n"}, {"a", "b#c", "n"}, {"a%23b", "c", "n"}, {"a", "b", "c#n"}, {"a", "b", "c"}, {"a", "b#", "c"}, {"a", "bb", "c"},
	}
	ev := recordtest.At(t, "2026-03-28T12:00:00Z")
	for _, id := range ids {
		mustObserve(t, store, pattern.Observe{Scope: id[0], Actor: id[1], Name: id[2], Event: ev}, event.Created)
	}
	for _, id := range ids {
		if got := mustGet(t, store, id[0], id[1], id[2]); got.Total != 1 || got.Scope != id[0] || got.Actor != id[1] || got.Name != id[2] {
			t.Errorf("%q: %+v", id, got)
		}
	}
	all, err := store.All(t.Context(), "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, habit := range all {
		names = append(names, habit.Name)
	}
	if diff := cmp.Diff([]string{"c", "c#n"}, names); diff != "" {
		t.Errorf("All (-want +got):\n%s", diff)
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	store, err := pattern.New(recordtest.Silent(t), "homeops", tzclock.UTC, &pattern.Config{Now: recordtest.Clock(clock)})
	if err != nil {
		t.Fatal(err)
	}
	good := washing(recordtest.At(t, "2026-03-28T12:00:00Z"))
	change := func(f func(*pattern.Observe)) pattern.Observe { o := good; f(&o); return o }
	for name, tc := range map[string]struct {
		o     pattern.Observe
		field string
	}{
		"no scope":     {change(func(o *pattern.Observe) { o.Scope = "" }), "Scope"},
		"no actor":     {change(func(o *pattern.Observe) { o.Actor = "" }), "Actor"},
		"no UTF-8":     {change(func(o *pattern.Observe) { o.Name = "\xff" }), "Name"},
		"long name":    {change(func(o *pattern.Observe) { o.Name = strings.Repeat("å", 513) }), "Name"},
		"long key":     {change(func(o *pattern.Observe) { o.Scope = strings.Repeat("#", 682) }), "Scope and Actor"},
		"no event":     {change(func(o *pattern.Observe) { o.Event = event.Event{} }), "Event"},
		"event's zero": {change(func(o *pattern.Observe) { o.Event = recordtest.Bound(o.Event) }), "Event"},
		"future":       {change(func(o *pattern.Observe) { o.Event = recordtest.At(t, "2026-03-29T19:00:00.001Z") }), "Event"},
	} {
		out, err := store.Observe(t.Context(), tc.o)
		recordtest.WantBad(t, err, "pattern", tc.field, name)
		if out != 0 {
			t.Errorf("%s: %v", name, out)
		}
		if tc.field == "Event" {
			continue
		}
		_, ok, err := store.Get(t.Context(), tc.o.Scope, tc.o.Actor, tc.o.Name)
		recordtest.WantBad(t, err, "pattern", tc.field, "Get, "+name)
		if ok {
			t.Errorf("Get, %s: found", name)
		}
		if tc.field == "Name" {
			continue
		}
		_, err = store.All(t.Context(), tc.o.Scope, tc.o.Actor)
		recordtest.WantBad(t, err, "pattern", tc.field, "All, "+name)
	}
	_, live := open(t, tzclock.UTC)
	mustObserve(t, live, change(func(o *pattern.Observe) { o.Event = recordtest.At(t, "2026-03-29T19:00:00Z") }), event.Created)
	mustObserve(t, live, change(func(o *pattern.Observe) { o.Name = strings.Repeat("å", 512) }), event.Created)
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil).Client()
	for name, tc := range map[string]struct {
		api   record.API
		table string
		zone  tzclock.Zone
		field string
	}{
		"no api":   {nil, "homeops", tzclock.UTC, "api"},
		"no table": {db, "", tzclock.UTC, "table"},
		"no zone":  {db, "homeops", tzclock.Zone{}, "zone"},
	} {
		store, err := pattern.New(tc.api, tc.table, tc.zone, nil)
		recordtest.WantBad(t, err, "pattern", tc.field, name)
		if store != nil {
			t.Errorf("%s: a store", name)
		}
	}
}
