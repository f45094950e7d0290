package memory_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/memory"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

const (
	home    = "-100123"
	away    = "-200"
	martin  = "42"
	rebecca = "77"
)

var monday = time.Date(2026, 3, 23, 8, 0, 0, 0, time.UTC)

func open(t testing.TB) (*dynamotest.DB, *activity.Store, *memory.Memory) {
	t.Helper()
	db := dynamotest.Open(t, pricetest.Watch)
	acts, err := activity.New(db.Client(), db.Name("homeops-activities"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Create(t.Context(), db.Client(), acts.Table()); err != nil {
		t.Fatal(err)
	}
	return db, acts, remember(t, acts)
}

func remember(t testing.TB, acts *activity.Store) *memory.Memory {
	t.Helper()
	mem, err := memory.New(acts, tzclock.Stockholm)
	if err != nil {
		t.Fatal(err)
	}
	return mem
}

var messages atomic.Int64 // ids, shared by parallel tests

func did(t testing.TB, scope, actor, name string, at time.Time) activity.Activity {
	t.Helper()
	ev := recordtest.Event(t, at, "telegram", scope, strconv.FormatInt(messages.Add(1), 10))
	return activity.Activity{Scope: scope, Actor: actor, Event: ev, Name: name, Kind: "chore"}
}

func mustRecord(t testing.TB, acts *activity.Store, all ...activity.Activity) {
	t.Helper()
	if _, err := acts.RecordMany(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

// putOld writes a row as the TypeScript system did.
func putOld(t testing.TB, db *dynamotest.DB, acts *activity.Store, name string, at time.Time, stamp int64) {
	t.Helper()
	recordtest.Put(t, db.Client(), acts.Table().Name, ddb.Item{
		"chatId":            item.S(home),
		"activityId":        item.S(did(t, home, martin, name, at).Event.String()),
		"userId":            item.Digits(martin),
		"timestamp":         item.N(stamp),
		"activity":          item.S(name),
		"activityTimestamp": item.S(fmt.Sprint(name, "#", stamp)),
	})
}

// The two questions after the last activity find it among other names, actors
// and scopes, whatever was recorded last.
func TestLast(t *testing.T) {
	t.Parallel()
	_, acts, mem := open(t)
	at := func(minute int) time.Time { return monday.Add(time.Duration(minute) * time.Minute) }
	hers := did(t, home, rebecca, "diskning", at(2))
	his := did(t, home, martin, "diskning", at(1))
	elsewhere := did(t, away, martin, "diskning", at(9))
	mustRecord(t, acts,
		hers, his, elsewhere, // the newest is not the last recorded
		did(t, home, martin, "diskning", at(0)),
		did(t, home, martin, "disk", at(5)), did(t, home, martin, "diskning#2", at(6)), did(t, home, rebecca, "disknin", at(7)),
	)
	for _, tc := range []struct {
		what, scope, actor, name string
		want                     activity.Activity
		found                    bool
	}{
		{"who did it last", home, "", "diskning", hers, true},
		{"when did he", home, martin, "diskning", his, true},
		{"her elsewhere", away, rebecca, "diskning", activity.Activity{}, false},
		{"never done", home, "", "pantning", activity.Activity{}, false},
		{"a scope that only begins alike", "-1001234", "", "diskning", activity.Activity{}, false},
	} {
		var got activity.Activity
		var ok bool
		var err error
		if tc.actor == "" {
			got, ok, err = mem.LastOf(t.Context(), tc.scope, tc.name)
		} else {
			got, ok, err = mem.LastBy(t.Context(), tc.scope, tc.actor, tc.name)
		}
		if err != nil || ok != tc.found || got.Event != tc.want.Event || got.Scope != tc.want.Scope {
			t.Errorf("%s: %+v, %v, %v, want %+v", tc.what, got, ok, err, tc.want)
		}
	}
}

// The seeds' Limit before a filter missed an older match: a last activity is
// found behind any number of newer ones of other names and actors, at the
// price of one read, and so it stays however long its own history is.
func TestLastCostsOneReadHoweverLongTheHistory(t *testing.T) {
	t.Parallel()
	db, acts, mem := open(t)
	first := did(t, home, martin, "pantning", monday)
	all := []activity.Activity{first}
	for i := range 500 {
		all = append(all, did(t, home, []string{martin, rebecca}[i%2], []string{"diskning", "tvätt"}[i/250], monday.Add(time.Duration(i+1)*time.Minute)))
	}
	mustRecord(t, acts, all...)
	one := dynamotest.Price{Requests: 1, RCU: 0.5}
	for name, want := range map[string]activity.Activity{"pantning": first, "diskning": all[250], "tvätt": all[500]} {
		db.Meter(func() {
			got, ok, err := mem.LastOf(t.Context(), home, name)
			if !ok || err != nil || got.Event != want.Event {
				t.Errorf("LastOf %s: %+v, %v, %v", name, got, ok, err)
			}
		}).Want(t, one)
		db.Meter(func() {
			got, ok, err := mem.LastBy(t.Context(), home, want.Actor, name)
			if !ok || err != nil || got.Event != want.Event {
				t.Errorf("LastBy %s: %+v, %v, %v", name, got, ok, err)
			}
		}).Want(t, one)
	}
}

// Rows of an older system that only look alike stand before the last activity
// in its index. They are not an answer, and cost nothing while they are few. Until
// Backfill completes them, more of them are read in pages that double.
func TestLastSkipsLookalikes(t *testing.T) {
	t.Parallel()
	db, acts, mem := open(t)
	last := did(t, home, martin, "diskning", monday)
	mustRecord(t, acts, last, did(t, home, martin, "diskning", monday.Add(-time.Hour)))
	for i, name := range []string{"diskning#2", "diskning#9", "diskning#5#1"} {
		at := monday.Add(time.Duration(i+1) * time.Hour)
		putOld(t, db, acts, name, at, at.UnixMilli())
	}
	check := func() {
		got, ok, err := mem.LastOf(t.Context(), home, "diskning")
		if !ok || err != nil || got.Event != last.Event {
			t.Errorf("LastOf: %+v, %v, %v", got, ok, err)
		}
	}
	db.Meter(check).Want(t, dynamotest.Price{Requests: 1, RCU: 0.5})
	for i := range 32 {
		at := monday.Add(time.Duration(i+9) * time.Hour)
		putOld(t, db, acts, "diskning#"+strconv.Itoa(2+i%8), at, at.UnixMilli())
	}
	db.Meter(check).Want(t, dynamotest.Price{Requests: 4, RCU: 2}) // pages of 4, 5, 10 and 20
}

// A local week goes from Monday 00:00 to Monday 00:00 of the zone, also when
// clocks change in it: it has 167 hours in March and 169 in October.
func TestWeeks(t *testing.T) {
	t.Parallel()
	stockholm := tzclock.Stockholm.Location()
	for name, start := range map[string]time.Time{
		"clocks go forward": time.Date(2026, 3, 23, 0, 0, 0, 0, stockholm),
		"clocks go back":    time.Date(2025, 10, 20, 0, 0, 0, 0, stockholm),
		"neither":           time.Date(2026, 2, 2, 0, 0, 0, 0, stockholm),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, acts, mem := open(t)
			end := start.AddDate(0, 0, 7)
			for i, at := range []time.Time{
				start.Add(-time.Millisecond), start, start.Add(time.Millisecond), start.Add(50 * time.Hour),
				end.Add(-time.Hour), end.Add(-time.Millisecond), end,
			} {
				mustRecord(t, acts, did(t, home, []string{martin, rebecca}[i%2], "diskning", at))
			}
			for _, of := range []time.Time{start, start.Add(100 * time.Hour), end.Add(-1)} {
				for actor, want := range map[string]int{"": 5, martin: 2, rebecca: 3} {
					got, err := mem.ThisWeek(t.Context(), memory.ThisWeek{Scope: home, Actor: actor, Name: "diskning", Of: of})
					if got != want || err != nil {
						t.Errorf("week of %v, actor %q: %d, %v, want %d", of, actor, got, err, want)
					}
				}
			}
			tally, err := mem.TallyWeek(t.Context(), home, start.Add(100*time.Hour))
			want := []activity.Tally{{Actor: martin, Name: "diskning", Kind: "chore", Count: 2}, {Actor: rebecca, Name: "diskning", Kind: "chore", Count: 3}}
			if diff := cmp.Diff(want, tally); err != nil || diff != "" {
				t.Errorf("TallyWeek: %v (-want +got):\n%s", err, diff)
			}
			got, err := mem.ThisWeek(t.Context(), memory.ThisWeek{Scope: home, Name: "diskning", Of: end})
			if got != 1 || err != nil {
				t.Errorf("the next week: %d, %v", got, err)
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	db, acts, mem := open(t)
	_, nothing := memory.New(nil, tzclock.Stockholm)
	_, nowhere := memory.New(acts, tzclock.Zone{})
	week := memory.ThisWeek{Scope: home, Name: "x", Of: monday}
	last := func(_ activity.Activity, _ bool, err error) error { return err }
	count := func(_ int, err error) error { return err }
	tally := func(_ []activity.Tally, err error) error { return err }
	with := func(change func(*memory.ThisWeek)) memory.ThisWeek { w := week; change(&w); return w }
	cost := db.Meter(func() {
		for want, err := range map[string]error{
			"memory: acts must not be nil":         nothing,
			"memory: zone must be given":           nowhere,
			"memory: scope must not be empty":      last(mem.LastOf(t.Context(), "", "x")),
			"memory: name must not be empty":       last(mem.LastOf(t.Context(), home, "")),
			"memory: actor must be a whole":        last(mem.LastBy(t.Context(), home, "", "x")),
			"memory: Filter must have a Scope":     count(mem.CountBy(t.Context(), activity.Filter{Actor: martin})),
			"memory: Filter must have a Scope a":   count(mem.CountBy(t.Context(), activity.Filter{Scope: home})),
			"memory: Filter.To lies before":        count(mem.CountBy(t.Context(), activity.Filter{Scope: home, Name: "x", From: monday, To: monday.Add(-1)})),
			"memory: Filter.Consistent must be":    count(mem.CountBy(t.Context(), activity.Filter{Scope: home, Name: "x", Consistent: true})),
			"memory: Filter.Actor must be a whole": count(mem.CountBy(t.Context(), activity.Filter{Scope: home, Name: "x", Actor: "anna"})),
			"memory: scope must not be":            tally(mem.TallyWeek(t.Context(), "", monday)),
			"memory: scope must be valid UTF-8":    tally(mem.TallyWeek(t.Context(), "\xff", monday)),
			"memory: of must be set to any":        tally(mem.TallyWeek(t.Context(), home, time.Time{})),
			"memory: Of must be set":               count(mem.ThisWeek(t.Context(), with(func(w *memory.ThisWeek) { w.Of = time.Time{} }))),
			"memory: Name must not be":             count(mem.ThisWeek(t.Context(), with(func(w *memory.ThisWeek) { w.Name = "" }))),
			"memory: Scope must not be empty":      count(mem.ThisWeek(t.Context(), with(func(w *memory.ThisWeek) { w.Scope = "" }))),
			"memory: Actor must be a whole":        count(mem.ThisWeek(t.Context(), with(func(w *memory.ThisWeek) { w.Actor = "anna" }))),
		} {
			var bad *event.InputError
			if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		}
	})
	if cost.Requests != 0 {
		t.Errorf("%d requests were sent", cost.Requests)
	}
}

// Trouble is an error, never "no such activity".
func TestTroubleIsAnError(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	acts, err := activity.New(db.Client(), db.Name("not-created"), nil)
	if err != nil {
		t.Fatal(err)
	}
	mem := remember(t, acts)
	_, ok, err := mem.LastBy(t.Context(), home, martin, "diskning")
	var missing *types.ResourceNotFoundException
	want := "memory: LastBy on table " + acts.Table().Name + ": operation error DynamoDB: Query"
	if ok || !errors.As(err, &missing) || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, %v, want %s…", ok, err, want)
	}
}

// A row whose id is not an event's comes last of its name: it is an error that
// says so, or is told of and passed over.
func TestLastAmongUnreadableRows(t *testing.T) {
	t.Parallel()
	db, acts, mem := open(t)
	dish := did(t, home, martin, "diskning", monday)
	mustRecord(t, acts, dish)
	recordtest.Put(t, db.Client(), acts.Table().Name, map[string]types.AttributeValue{
		"chatId": item.S(home), "activityId": item.S("by hand"), "userId": item.Digits(martin), "activity": item.S("diskning"),
		"timestamp":         item.N(monday.Add(time.Hour).UnixMilli()),
		"activityTimestamp": item.S("diskning#" + strconv.FormatInt(monday.Add(time.Hour).UnixMilli(), 10)),
		"chatUser":          item.S(home + "#" + martin),
	})
	var told []error
	patient, err := activity.New(db.Client(), acts.Table().Name, &activity.Config{OnUnreadable: func(err error) { told = append(told, err) }})
	if err != nil {
		t.Fatal(err)
	}
	passing := remember(t, patient)
	if _, ok, err := mem.LastBy(t.Context(), home, martin, "diskning"); ok || err == nil || !strings.Contains(err.Error(), "activityId is not an event") {
		t.Errorf("LastBy: %v, %v", ok, err)
	}
	got, ok, err := passing.LastBy(t.Context(), home, martin, "diskning")
	if !ok || err != nil || got.Event != dish.Event || len(told) != 1 || !strings.Contains(told[0].Error(), `row "by hand"`) {
		t.Errorf("LastBy that passes over it: %+v, %v, %v, told of %v", got, ok, err, told)
	}
}

func TestPrices(t *testing.T) {
	db, acts, mem := open(t)
	mustRecord(t, acts, did(t, home, martin, "diskning", monday), did(t, home, martin, "diskning", monday.Add(time.Hour)))
	pricetest.Run(t, db, []pricetest.Case{
		{Func: "Memory.LastOf", Call: func(ctx context.Context) error { _, _, err := mem.LastOf(ctx, home, "diskning"); return err }},
		{Func: "Memory.LastBy", Call: func(ctx context.Context) error { _, _, err := mem.LastBy(ctx, home, martin, "diskning"); return err }},
		{Func: "Memory.CountBy", Call: func(ctx context.Context) error {
			_, err := mem.CountBy(ctx, activity.Filter{Scope: home, Name: "diskning"})
			return err
		}},
		{Func: "Memory.ThisWeek", Call: func(ctx context.Context) error {
			_, err := mem.ThisWeek(ctx, memory.ThisWeek{Scope: home, Actor: martin, Name: "diskning", Of: monday})
			return err
		}},
		{Func: "Memory.TallyWeek", Call: func(ctx context.Context) error {
			_, err := mem.TallyWeek(ctx, home, monday)
			return err
		}},
		{Func: "Memory.CountBy", Beyond: "of one actor", Call: func(ctx context.Context) error {
			_, err := mem.CountBy(ctx, activity.Filter{Scope: home, Actor: martin, Name: "diskning"})
			return err
		}},
		{Func: "Memory.ThisWeek", Beyond: "of everybody", Call: func(ctx context.Context) error {
			_, err := mem.ThisWeek(ctx, memory.ThisWeek{Scope: home, Name: "diskning", Of: monday})
			return err
		}},
	}, mem)
}
