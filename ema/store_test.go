package ema_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

// clock is what the stores of the tests take for now. The table has no TTL, so
// it may differ from the wall's.
var clock = time.Date(2026, 3, 29, 18, 0, 0, 0, time.UTC)

// open returns a database with a store of efforts, on a table of its own, in
// which each value moves an average half of the way.
func open(t *testing.T) (*dynamotest.DB, *ema.Store) {
	t.Helper()
	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond), pricetest.Watch)
	table := db.Name("homeops")
	store := storeOf(t, db, table, ema.Config{})
	recordtest.Create(t, db.Client(), store.Table())
	return db, store
}

func storeOf(t *testing.T, db *dynamotest.DB, table string, cfg ema.Config) *ema.Store {
	t.Helper()
	cfg.Alpha, cfg.Now, cfg.ConsistentReads = 0.5, recordtest.Clock(clock), true
	store, err := ema.New(db.Client(), table, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// preferences are averages of another kind, whose older system called them value.
var preferences = ema.Config{Prefix: "PREF", Names: map[string]string{"ema": "value"}}

func ago(t testing.TB, hours int) event.Event {
	t.Helper()
	return recordtest.Event(t, clock.Add(time.Duration(-hours)*time.Hour), "test")
}

func effort(ev event.Event, value float64) ema.Observe {
	return ema.Observe{Subject: "42", Metric: "diskning", Event: ev, Value: value}
}

func mustObserve(t *testing.T, store *ema.Store, o ema.Observe, want event.Outcome) {
	t.Helper()
	if out, err := store.Observe(t.Context(), o); err != nil || out != want {
		t.Fatalf("Observe(%g) = %v, %v, want %v", o.Value, out, err, want)
	}
}

func mustGet(t *testing.T, store *ema.Store, subject, metric string) ema.Average {
	t.Helper()
	average, ok, err := store.Get(t.Context(), subject, metric)
	if err != nil || !ok {
		t.Fatalf("Get = %v, %v", ok, err)
	}
	return average
}

// The first value is the average, the others move it in the order in which
// they arrive, and each event counts once, whatever value it brings.
func TestObserve(t *testing.T) {
	t.Parallel()
	_, store := open(t)
	if average, ok, err := store.Get(t.Context(), "42", "diskning"); err != nil || ok || average != (ema.Average{}) {
		t.Fatalf("Get of nothing = %+v, %v, %v", average, ok, err)
	}
	for i, step := range []struct {
		hours int
		value float64
		out   event.Outcome
		want  float64
	}{
		{2, 4, event.Created, 4},
		{1, 8, event.Created, 6},
		{3, 0, event.Created, 3}, // an earlier event that arrives late counts now
		{1, 8, event.Duplicate, 3},
		{1, 9, event.Duplicate, 3},
		{3, 0, event.Duplicate, 3},
		{0, -5, event.Created, -1},
	} {
		mustObserve(t, store, effort(ago(t, step.hours), step.value), step.out)
		if got := mustGet(t, store, "42", "diskning"); got.Value != step.want {
			t.Errorf("after step %d the average is %g, want %g", i, got.Value, step.want)
		}
	}
	want := ema.Average{Subject: "42", Metric: "diskning", Value: -1, Samples: 4}
	if diff := cmp.Diff(want, mustGet(t, store, "42", "diskning")); diff != "" {
		t.Errorf("average (-want +got):\n%s", diff)
	}
}

// Golden items: ours, and how rows in the shapes of the TypeScript system are
// read and learned into: with a count; and without one, with the other form of
// updatedAt and attributes of others.
func TestGolden(t *testing.T) {
	t.Parallel()
	db, efforts := open(t)
	table := efforts.Table().Name
	prefs := storeOf(t, db, table, preferences)
	ev := recordtest.At(t, "2026-03-29T17:15:00Z")

	mustObserve(t, efforts, ema.Observe{Subject: "anna#%", Metric: "diskning", Event: ev, Value: 4}, event.Created)
	mustObserve(t, efforts, ema.Observe{Subject: "anna#%", Metric: "diskning", Event: recordtest.At(t, "2026-03-28T12:00:00Z"), Value: 3}, event.Created)
	golden.Want(t, db.Client(), table, "testdata/effort.json", "pk", "sk")
	mustObserve(t, prefs, ema.Observe{Subject: "42", Metric: "ignoreRate", Event: ev, Value: 0.25}, event.Created)
	golden.Want(t, db.Client(), table, "testdata/preference.json", "pk", "sk")

	golden.Put(t, db.Client(), table, "testdata/older_effort.json")
	golden.Put(t, db.Client(), table, "testdata/older_preference.json")
	for _, tc := range []struct {
		store *ema.Store
		want  ema.Average
		file  string
	}{
		{efforts, ema.Average{
			Subject: "42", Metric: "diskning", Value: 2, Samples: 9,
		}, "older_effort_counted"},
		{prefs, ema.Average{
			Subject: "42", Metric: "responseTimingPref", Value: 120.5,
		}, "older_preference_counted"},
	} {
		if diff := cmp.Diff(tc.want, mustGet(t, tc.store, tc.want.Subject, tc.want.Metric)); diff != "" {
			t.Errorf("older row (-want +got):\n%s", diff)
		}
		o := ema.Observe{Subject: tc.want.Subject, Metric: tc.want.Metric, Event: ev, Value: 4}
		mustObserve(t, tc.store, o, event.Created)
		mustObserve(t, tc.store, o, event.Duplicate)
		golden.Want(t, db.Client(), table, "testdata/"+tc.file+".json", "pk", "sk")
	}
}

// A row that counts no values has no average yet, whatever stands there.
func TestNoSamplesIsColdStart(t *testing.T) {
	t.Parallel()
	db, store := open(t)
	recordtest.Put(t, db.Client(), store.Table().Name, ddb.Item{"pk": item.S("EFFORT#42"), "sk": item.S("diskning"), "ema": item.N(0), "samples": item.N(0)})
	recordtest.Put(t, db.Client(), store.Table().Name, ddb.Item{"pk": item.S("EFFORT#42"), "sk": item.S("tvätt"), "samples": item.N(3)})
	for metric, samples := range map[string]int64{"diskning": 1, "tvätt": 4} {
		mustObserve(t, store, ema.Observe{Subject: "42", Metric: metric, Event: ago(t, 0), Value: 8}, event.Created)
		if got := mustGet(t, store, "42", metric); got.Value != 8 || got.Samples != samples {
			t.Errorf("%+v, want the value 8 of %d samples", got, samples)
		}
	}
}

func TestSeparators(t *testing.T) {
	t.Parallel()
	_, store := open(t)
	subjects := []string{"a#b", "a%23b", "a", "a#", "ab"}
	for i, subject := range subjects {
		mustObserve(t, store, ema.Observe{Subject: subject, Metric: "b#c", Event: ago(t, 0), Value: float64(i)}, event.Created)
	}
	for i, subject := range subjects {
		want := []ema.Average{{Subject: subject, Metric: "b#c", Value: float64(i), Samples: 1}}
		all, err := store.All(t.Context(), subject)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, all); diff != "" {
			t.Errorf("All(%q) (-want +got):\n%s", subject, diff)
		}
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	store, err := ema.New(recordtest.Silent(t), "homeops", &ema.Config{Now: recordtest.Clock(clock)})
	if err != nil {
		t.Fatal(err)
	}
	good := effort(ago(t, 1), 4)
	change := func(f func(*ema.Observe)) ema.Observe { o := good; f(&o); return o }
	for name, tc := range map[string]struct {
		o     ema.Observe
		field string
	}{
		"no subject":   {change(func(o *ema.Observe) { o.Subject = "" }), "Subject"},
		"long subject": {change(func(o *ema.Observe) { o.Subject = strings.Repeat("#", 681) }), "Subject"},
		"no UTF-8":     {change(func(o *ema.Observe) { o.Metric = "\xff" }), "Metric"},
		"long metric":  {change(func(o *ema.Observe) { o.Metric = strings.Repeat("å", 513) }), "Metric"},
		"no event":     {change(func(o *ema.Observe) { o.Event = event.Event{} }), "Event"},
		"future":       {change(func(o *ema.Observe) { o.Event = recordtest.At(t, "2026-03-29T19:00:00.001Z") }), "Event"},
		"NaN":          {change(func(o *ema.Observe) { o.Value = math.NaN() }), "Value"},
		"too large":    {change(func(o *ema.Observe) { o.Value = 1e126 }), "Value"},
		"too small":    {change(func(o *ema.Observe) { o.Value = 1e-131 }), "Value"},
	} {
		out, err := store.Observe(t.Context(), tc.o)
		recordtest.WantBad(t, err, "ema", tc.field, name)
		if out != 0 {
			t.Errorf("%s: %v", name, out)
		}
		if tc.field == "Subject" {
			_, err = store.All(t.Context(), tc.o.Subject)
			recordtest.WantBad(t, err, "ema", tc.field, "All, "+name)
		}
		if tc.field == "Subject" || tc.field == "Metric" {
			_, ok, err := store.Get(t.Context(), tc.o.Subject, tc.o.Metric)
			recordtest.WantBad(t, err, "ema", tc.field, "Get, "+name)
			if ok {
				t.Errorf("Get, %s: found", name)
			}
		}
	}
	_, live := open(t)
	mustObserve(t, live, change(func(o *ema.Observe) { o.Subject = strings.Repeat("#", 680) }), event.Created)
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil).Client()
	for name, tc := range map[string]struct {
		api   record.API
		table string
		cfg   ema.Config
		field string
	}{
		"no api":         {nil, "homeops", ema.Config{}, "api"},
		"no table":       {db, "", ema.Config{}, "table"},
		"no such name":   {db, "homeops", ema.Config{Names: map[string]string{"value": "x"}}, `Config.Names["value"]`},
		"a long prefix":  {db, "homeops", ema.Config{Prefix: strings.Repeat("A", 256)}, "Config.Prefix"},
		"no UTF-8":       {db, "homeops", ema.Config{Prefix: "A\xff"}, "Config.Prefix"},
		"prefix of two":  {db, "homeops", ema.Config{Prefix: "A#B"}, "Config.Prefix"},
		"negative alpha": {db, "homeops", ema.Config{Alpha: -0.1}, "Config.Alpha"},
		"alpha above 1":  {db, "homeops", ema.Config{Alpha: 1.1}, "Config.Alpha"},
		"alpha NaN":      {db, "homeops", ema.Config{Alpha: math.NaN()}, "Config.Alpha"},
	} {
		store, err := ema.New(tc.api, tc.table, &tc.cfg)
		recordtest.WantBad(t, err, "ema", tc.field, name)
		if store != nil {
			t.Errorf("%s: a store", name)
		}
	}
	cfg := ema.Config{Alpha: 1}
	if _, err := ema.New(db, "homeops", &cfg); err != nil || cfg.Prefix != "" || cfg.Now != nil {
		t.Errorf("%v, %+v", err, cfg) // the caller's Config stays the caller's
	}
}

func TestUnreadableRow(t *testing.T) {
	t.Parallel()
	db, store := open(t)
	table := store.Table().Name
	golden.Put(t, db.Client(), table, "testdata/unreadable.json")
	const want = "attribute ema is not a number"
	if _, err := store.Observe(t.Context(), effort(ago(t, 0), 1)); !named(err, "Observe", want) {
		t.Errorf("Observe: %v", err)
	}
	if _, _, err := store.Get(t.Context(), "42", "diskning"); !named(err, "Get", want) {
		t.Errorf("Get: %v", err)
	}
	if _, err := store.All(t.Context(), "42"); !named(err, "All", want) {
		t.Errorf("All: %v", err)
	}
	golden.Want(t, db.Client(), table, "testdata/unreadable.json", "pk", "sk")
}

// named reports whether err is of the method and says what.
func named(err error, method, what string) bool {
	return err != nil && strings.HasPrefix(err.Error(), "ema: "+method+" on table ") && strings.Contains(err.Error(), what)
}
