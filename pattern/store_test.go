package pattern_test

import (
	"errors"
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
		Total: 2, LastSeen: late.Time(), UpdatedAt: clock,
	}
	if diff := cmp.Diff(want, mustGet(t, store, "-100123", "42", "diskning")); diff != "" {
		t.Errorf("habit (-want +got):\n%s", diff)
	}
}

// Things that follow from one event are events of their own.
func TestNthCountsApart(t *testing.T) {
	t.Parallel()
	_, store := open(t, tzclock.UTC)
	first := recordtest.At(t, "2026-03-28T12:00:00Z")
	second, err := first.Nth(2)
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range []event.Event{second, first} {
		mustObserve(t, store, washing(ev), event.Created)
		mustObserve(t, store, washing(ev), event.Duplicate)
	}
	if got := mustGet(t, store, "-100123", "42", "diskning"); got.Total != 2 {
		t.Errorf("total %d, want 2", got.Total)
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
		"the last hour of the short day":        {tzclock.Stockholm, "2025-03-30T21:59:59Z", time.Sunday, 23},
		"after the short day":                   {tzclock.Stockholm, "2025-03-30T22:00:00Z", time.Monday, 0},
		"the hour that comes twice, first":      {tzclock.Stockholm, "2025-10-26T00:30:00Z", time.Sunday, 2},
		"the hour that comes twice, again":      {tzclock.Stockholm, "2025-10-26T01:30:00Z", time.Sunday, 2},
		"after clocks went back":                {tzclock.Stockholm, "2025-10-26T02:00:00Z", time.Sunday, 3},
		"the 25th hour of the long day":         {tzclock.Stockholm, "2025-10-26T22:30:00Z", time.Sunday, 23},
		"after the long day":                    {tzclock.Stockholm, "2025-10-26T23:00:00Z", time.Monday, 0},
		"another zone's night, forward":         {newYork, "2026-03-08T07:00:00Z", time.Sunday, 3},
		"another zone's day before":             {newYork, "2026-03-09T03:59:00Z", time.Sunday, 23},
		"a zone of half hours, before midnight": {kolkata, "2026-03-28T18:29:00Z", time.Saturday, 23},
		"a zone of half hours, after midnight":  {kolkata, "2026-03-28T18:30:00Z", time.Sunday, 0},
		"UTC":                                   {tzclock.UTC, "2026-03-28T23:30:00Z", time.Saturday, 23},
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

// An event older than all that a full row remembers is refused; the row and
// its answers stay.
func TestTooOld(t *testing.T) {
	t.Parallel()
	_, store := open(t, tzclock.UTC)
	start := recordtest.At(t, "2026-03-01T12:00:00Z").Time()
	for i := range 33 {
		mustObserve(t, store, washing(recordtest.At(t, start.Add(time.Duration(i)*time.Hour).Format(time.RFC3339))), event.Created)
	}
	before := mustGet(t, store, "-100123", "42", "diskning")
	for name, text := range map[string]string{"dropped from the ring": "2026-03-01T12:00:00Z", "never seen": "2026-02-28T12:00:00Z"} {
		out, err := store.Observe(t.Context(), washing(recordtest.At(t, text)))
		if !errors.Is(err, event.ErrTooOld) || out != 0 {
			t.Errorf("%s: %v, %v, want too old", name, out, err)
		}
	}
	mustObserve(t, store, washing(recordtest.At(t, "2026-03-01T13:00:00Z")), event.Duplicate)
	if after := mustGet(t, store, "-100123", "42", "diskning"); after != before || after.Total != 33 {
		t.Errorf("habit %+v after, %+v before", after, before)
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
		LastSeen:  time.Date(2026, 2, 17, 18, 30, 0, 123_000_000, time.UTC),
		UpdatedAt: time.Date(2026, 2, 17, 18, 30, 0, 123_000_000, time.UTC),
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

// All follows the pages of a partition of more than 1 MB, by name.
func TestAllPages(t *testing.T) {
	t.Parallel()
	db, store := open(t, tzclock.UTC)
	if all, err := store.All(t.Context(), "-100123", "42"); err != nil || all != nil {
		t.Errorf("All of nobody = %v, %v", all, err)
	}
	want := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "z", "å"}
	for _, name := range want {
		putLarge(t, db, store.Table().Name, "PATTERN#-100123#42", name)
	}
	var got []string
	cost := db.Meter(func() {
		all, err := store.All(t.Context(), "-100123", "42")
		if err != nil {
			t.Error(err)
		}
		for _, habit := range all {
			got = append(got, habit.Name)
			if habit.Total != 3 || habit.Scope != "-100123" || habit.Actor != "42" {
				t.Errorf("%+v", habit)
			}
		}
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("All (-want +got):\n%s", diff)
	}
	if cost.Requests != 2 {
		t.Errorf("%d requests, want 2 pages", cost.Requests)
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	db, store := open(t, tzclock.UTC)
	good := washing(recordtest.At(t, "2026-03-28T12:00:00Z"))
	change := func(f func(*pattern.Observe)) pattern.Observe { o := good; f(&o); return o }
	cost := db.Meter(func() {
		for name, tc := range map[string]struct {
			o     pattern.Observe
			field string
		}{
			"no scope":     {change(func(o *pattern.Observe) { o.Scope = "" }), "Scope"},
			"no actor":     {change(func(o *pattern.Observe) { o.Actor = "" }), "Actor"},
			"no name":      {change(func(o *pattern.Observe) { o.Name = "" }), "Name"},
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
	})
	if cost.Requests != 0 {
		t.Errorf("%d requests were sent", cost.Requests)
	}
	mustObserve(t, store, change(func(o *pattern.Observe) { o.Event = recordtest.At(t, "2026-03-29T19:00:00Z") }), event.Created)
	mustObserve(t, store, change(func(o *pattern.Observe) { o.Name = strings.Repeat("å", 512) }), event.Created)
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

// A row that cannot be read is an error everywhere, and is never written over.
func TestUnreadableRow(t *testing.T) {
	t.Parallel()
	db, store := open(t, tzclock.UTC)
	table := store.Table().Name
	golden.Put(t, db.Client(), table, "testdata/unreadable.json")
	const want = "attribute mon is not a number"
	if _, err := store.Observe(t.Context(), washing(recordtest.At(t, "2026-03-28T12:00:00Z"))); !named(err, "Observe", want) {
		t.Errorf("Observe: %v", err)
	}
	if _, _, err := store.Get(t.Context(), "-100123", "42", "diskning"); !named(err, "Get", want) {
		t.Errorf("Get: %v", err)
	}
	if _, err := store.All(t.Context(), "-100123", "42"); !named(err, "All", want) {
		t.Errorf("All: %v", err)
	}
	golden.Want(t, db.Client(), table, "testdata/unreadable.json", "pk", "sk")
}

// named reports whether err is of the method and says what.
func named(err error, method, what string) bool {
	return err != nil && strings.HasPrefix(err.Error(), "pattern: "+method+" on table ") && strings.Contains(err.Error(), what)
}

func TestMissingTable(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond))
	store, err := pattern.New(db.Client(), db.Name("nowhere"), tzclock.UTC, nil)
	if err != nil {
		t.Fatal(err)
	}
	for op, call := range map[string]func() error{
		"Observe": func() error {
			_, err := store.Observe(t.Context(), washing(recordtest.At(t, "2026-03-28T12:00:00Z")))
			return err
		},
		"Get": func() error { _, _, err := store.Get(t.Context(), "s", "a", "n"); return err },
		"All": func() error { _, err := store.All(t.Context(), "s", "a"); return err },
	} {
		if err := call(); !named(err, op, "ResourceNotFound") {
			t.Errorf("%s: %v", op, err)
		}
	}
}
