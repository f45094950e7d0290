package activity_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

const week = 7 * 24 * time.Hour

// kept opens stores on one table, one for each retention, on a clock that the
// test sets. The server deletes nothing: it has another clock.
func kept(t testing.TB, clock *time.Time, retentions ...time.Duration) (*dynamotest.DB, []*activity.Store) {
	t.Helper()
	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond))
	var all []*activity.Store
	for _, retention := range retentions {
		acts, err := activity.New(db.Client(), db.Name("homeops-activities"), &activity.Config{
			Now: func() time.Time { return *clock }, Retention: retention,
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, acts)
	}
	recordtest.Create(t, db.Client(), all[0].Table())
	return db, all
}

// The last moment at which an activity can be recorded, and the last at which it
// is listed.
func TestRetention(t *testing.T) {
	t.Parallel()
	clock := monday
	db, stores := kept(t, &clock, week)
	acts := stores[0]
	if got := acts.Table().TTL; got != "ttl" {
		t.Errorf("TTL is %q", got)
	}
	dish, wash := chore(t, monday, 7, "diskning"), chore(t, monday, 8, "diskning")
	mustRecord(t, acts, dish)
	row := stored(t, db, acts, dish.Event)
	clock = monday.Add(week - 5*time.Minute - 1)
	if out, err := acts.Record(t.Context(), wash); out != event.Created || err != nil {
		t.Errorf("just in time: %v, %v", out, err)
	}
	clock = monday.Add(week - 5*time.Minute)
	late := chore(t, monday, 9, "diskning")
	cost := db.Meter(func() {
		_, err1 := acts.Record(t.Context(), late)
		_, err2 := acts.RecordAll(t.Context(), []activity.Activity{late})
		_, err3 := acts.RecordMany(t.Context(), []activity.Activity{late})
		for method, err := range map[string]error{"Record": err1, "RecordAll": err2, "RecordMany": err3} {
			if !errors.Is(err, event.ErrTooOld) || !strings.Contains(err.Error(), "activity: "+method+" on table "+acts.Table().Name) {
				t.Errorf("%s: %v, want ErrTooOld", method, err)
			}
		}
	})
	if cost.Requests != 0 {
		t.Errorf("%d requests were sent", cost.Requests)
	}
	for moment, want := range map[time.Duration]int{week - 1: 2, week: 0} {
		clock = monday.Add(moment)
		if n := len(everything(t, acts)); n != want {
			t.Errorf("InScope after %v: %d", moment, n)
		}
		if n, err := acts.Count(t.Context(), activity.Filter{Scope: home}); n != want || err != nil {
			t.Errorf("Count after %v: %d, %v", moment, n, err)
		}
		if got, err := acts.OfEvent(t.Context(), home, dish.Event); len(got) != want/2 || err != nil {
			t.Errorf("OfEvent after %v: %v, %v", moment, got, err)
		}
	}
	createdAt := golden.Item(t, "testdata/activity_ttl.json")
	if diff := cmp.Diff(golden.Format(createdAt), golden.Format(row)); diff != "" {
		t.Errorf("the row (-want +got):\n%s", diff)
	}
}

// A row that has expired and is not deleted yet counts as deleted: it is
// replaced, if a longer retention takes its event for new.
func TestExpiredRowsAreReplaced(t *testing.T) {
	t.Parallel()
	clock := monday
	db, stores := kept(t, &clock, week, 2*week, 0)
	short, long, forever := stores[0], stores[1], stores[2]
	set := setOf(t, 7, 2)
	single, taken, away := chore(t, monday, 8, "diskning"), chore(t, monday, 9, "diskning"), chore(t, monday, 10, "diskning")
	mustRecord(t, short, append(set, single, taken, away)...)
	retract(t, short, taken.Event, false, event.Created)

	clock = monday.Add(week)
	for name, acts := range map[string]*activity.Store{"long": long, "forever": forever} {
		wantSame(t, name, everything(t, acts), nil)
	}
	if out, err := long.Retract(t.Context(), activity.Retract{Scope: home, Event: away.Event}); !errors.Is(err, activity.ErrNotFound) {
		t.Errorf("Retract of what has expired: %v, %v", out, err)
	}
	retract(t, long, away.Event, true, event.Created)
	if got := stored(t, db, long, away.Event)["ttl"]; !reflect.DeepEqual(got, item.N(monday.Add(2*week).Unix())) {
		t.Errorf("the tombstone's ttl is %v", got)
	}
	other := single
	other.Name = "tvätt"
	if out, err := long.Record(t.Context(), other); out != event.Created || err != nil {
		t.Errorf("Record: %v, %v", out, err)
	}
	if out, err := long.RecordAll(t.Context(), []activity.Activity{taken}); out != event.Created || err != nil {
		t.Errorf("RecordAll of what was retracted: %v, %v", out, err)
	}
	if out, err := forever.RecordAll(t.Context(), set); out != event.Created || err != nil {
		t.Errorf("RecordAll of two: %v, %v", out, err)
	}
	if out, err := long.Record(t.Context(), away); !errors.Is(err, activity.ErrRetracted) {
		t.Errorf("Record of what was retracted ahead: %v, %v", out, err)
	}
	if row := stored(t, db, forever, set[0].Event); row["ttl"] != nil {
		t.Errorf("a row that is kept for ever has %v", row["ttl"])
	}
	wantSame(t, "what stands", everything(t, short), []activity.Activity{set[0], set[1], other, taken})
	clock = monday.Add(2 * week)
	wantSame(t, "what is kept for ever", everything(t, short), set)
}

// A set that meets expired rows of its event is not compared with them.
func TestExpiredRowsAreNoOthers(t *testing.T) {
	t.Parallel()
	clock := monday
	_, stores := kept(t, &clock, week, 0)
	short, forever := stores[0], stores[1]
	three := setOf(t, 7, 3)
	mustRecord(t, forever, three[0])
	mustRecord(t, short, three[1])
	mustRecord(t, forever, three[2])
	clock = monday.Add(week)
	if out, err := forever.RecordAll(t.Context(), []activity.Activity{three[0], three[2]}); out != event.Duplicate || err != nil {
		t.Errorf("%v, %v", out, err)
	}
}
