package activity_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

func TestDelete(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	two := setOf(t, 7, 2)
	mustRecord(t, acts, two...)
	if err := acts.Delete(t.Context(), home, two[1].Event); err != nil {
		t.Fatal(err)
	}
	wantSame(t, "what stands", everything(t, acts), two[:1])
	if err := acts.Delete(t.Context(), home, two[1].Event); !errors.Is(err, activity.ErrNotFound) {
		t.Errorf("again: %v", err)
	}
	mustRecord(t, acts, two[1])
	for _, a := range []activity.Activity{two[1], two[0]} {
		db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "DeleteItem"})
		if err := acts.Delete(t.Context(), home, a.Event); !errors.Is(err, activity.ErrNotFound) {
			t.Errorf("after a lost reply: %v", err)
		}
	}
	wantSame(t, "what stands", everything(t, acts), nil)
	if out, err := acts.Record(t.Context(), two[0]); out != event.Created || err != nil {
		t.Errorf("the event is free again: %v, %v", out, err)
	}
	for _, remove := range []func(context.Context, string, event.Event) error{acts.Delete, acts.DeleteEvent} {
		wantInputError(t, remove(t.Context(), "", two[0].Event), "scope must not be empty")
		wantInputError(t, remove(t.Context(), home, event.Event{}), "ev must not be")
		if err := remove(t.Context(), home, newEvent(t, monday, home, 99)); !errors.Is(err, activity.ErrNotFound) {
			t.Errorf("of nothing: %v", err)
		}
	}
}

// The guard of a set is not deleted while others exist, so that no other set
// can mix with them.
func TestDeleteKeepsTheGuard(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	set := setOf(t, 7, 3)
	if _, err := acts.RecordAll(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	if err := acts.Delete(t.Context(), home, set[0].Event); !errors.Is(err, activity.ErrOthersStand) {
		t.Errorf("while others stand: %v", err)
	}
	wantSame(t, "what stands", everything(t, acts), set)
	if err := acts.Delete(t.Context(), home, set[1].Event); err != nil {
		t.Fatal(err)
	}
	if err := acts.Delete(t.Context(), home, set[0].Event); !errors.Is(err, activity.ErrOthersStand) {
		t.Errorf("while one other stands: %v", err)
	}
	retract(t, acts, set[2].Event, false, event.Created)
	if err := acts.Delete(t.Context(), home, set[0].Event); err != nil {
		t.Errorf("beside a tombstone: %v", err)
	}
	wantSame(t, "what stands", everything(t, acts), nil)
	if _, err := acts.RecordAll(t.Context(), set); !errors.Is(err, activity.ErrRetracted) {
		t.Errorf("the set with what was retracted: %v", err)
	}
	if out, err := acts.RecordAll(t.Context(), set[:2]); out != event.Created || err != nil {
		t.Errorf("the set without it: %v, %v", out, err)
	}
}

func TestDeleteEvent(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	neighbour, away := chore(t, monday, 8, "diskning"), setOf(t, 7, 1)[0]
	away.Scope = "-200"
	mustRecord(t, acts, neighbour, away)
	for n := 1; n <= 3; n++ {
		set := setOf(t, 7, n)
		for _, change := range []func(){
			func() {},
			func() { retract(t, acts, set[0].Event, false, event.Created) },
			func() { retract(t, acts, recordtest.Nth(t, set[0].Event, 200), true, event.Created) },
			func() { db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "TransactWriteItems"}) },
		} {
			if out, err := acts.RecordAll(t.Context(), set); out != event.Created || err != nil {
				t.Fatalf("the event is not free: %v, %v", out, err)
			}
			if n == 1 {
				mustRecord(t, acts, setOf(t, 7, 2)[1])
			}
			change()
			if err := acts.DeleteEvent(t.Context(), home, recordtest.Nth(t, set[0].Event, 9)); err != nil {
				t.Errorf("of %d: %v", n, err)
			}
			wantSame(t, "what stands", everything(t, acts), []activity.Activity{neighbour})
			if err := acts.DeleteEvent(t.Context(), home, set[0].Event); !errors.Is(err, activity.ErrNotFound) {
				t.Errorf("of nothing: %v", err)
			}
		}
	}
	if n, err := acts.Count(t.Context(), activity.Filter{Scope: "-200"}); n != 1 || err != nil {
		t.Errorf("another scope's: %d, %v", n, err)
	}
}

// More rows than a transaction may have actions, and the reads that find them.
func TestDeleteEventOfMany(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	all := setOf(t, 7, 255)
	mustRecord(t, acts, all...)
	cost := db.Meter(func() {
		if err := acts.DeleteEvent(t.Context(), home, all[0].Event); err != nil {
			t.Error(err)
		}
	})
	if cost.Requests != 1+3 {
		t.Errorf("%d requests:\n%v", cost.Requests, cost)
	}
	wantSame(t, "what stands", everything(t, acts), nil)

	// It stops after the first hundred, those of the greatest N.
	mustRecord(t, acts, all...)
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "TransactWriteItems", Nth: 2, Times: 3})
	if err := acts.DeleteEvent(t.Context(), home, all[0].Event); err == nil {
		t.Error("no error of a lost part")
	}
	wantSame(t, "what stands", everything(t, acts), all[:155])
}

func TestDeletionsMeetAnotherSet(t *testing.T) {
	t.Parallel()
	var ticks atomic.Int64 // RecordMany reads the clock side by side
	db, acts := open(t, &activity.Config{Now: func() time.Time { return monday.Add(time.Duration(ticks.Add(1)) * time.Second) }})
	ev := setOf(t, 7, 1)[0].Event
	meet := func(first, times int) {
		if _, err := acts.Erase(t.Context(), home); err != nil {
			t.Error(err)
		}
		if first == 0 { // an older system's
			recordtest.Put(t, db.Client(), acts.Table().Name, oldRow(t, ev.String(), home, martin, "diskning", monday.UnixMilli()))
		}
		mustRecord(t, acts, setOf(t, 7, first)...)
		db.Inject(dynamotest.Fault{Op: "Query", Times: times, Do: dynamotest.After(func() {
			if err := acts.DeleteEvent(t.Context(), home, ev); err != nil {
				t.Error(err)
			}
			if _, err := acts.RecordAll(t.Context(), setOf(t, 7, 3)); err != nil {
				t.Error(err)
			}
		})})
	}
	for first := range 3 {
		for times, want := range map[int]int{1: 0, 9: 3} {
			meet(first, times)
			err := acts.DeleteEvent(t.Context(), home, ev)
			db.Heal()
			if left := len(everything(t, acts)); left != want || (err != nil) != (want > 0) || err != nil && !strings.Contains(err.Error(), "rows changed") {
				t.Errorf("DeleteEvent of %d, %d times: %v, %d left", first, times, err, left)
			}
			if first == 2 {
				continue // refused at once
			}
			meet(first, times)
			err = acts.Delete(t.Context(), home, ev)
			db.Heal()
			if left := len(everything(t, acts)); !errors.Is(err, activity.ErrOthersStand) || left != 3 {
				t.Errorf("Delete of %d, %d times: %v, %d left", first, times, err, left)
			}
		}
	}
}

// What is recorded between the attempts of a deletion stays: its first attempt
// has deleted what it read.
func TestDeletionsAreRepeatable(t *testing.T) {
	t.Parallel()
	var ticks atomic.Int64
	db, acts := open(t, &activity.Config{Now: func() time.Time { return monday.Add(time.Duration(ticks.Add(1)) * time.Second) }})
	again := func(a activity.Activity) func() {
		return func() {
			if out, err := acts.Record(t.Context(), a); out != event.Created || err != nil {
				t.Errorf("recorded again: %v, %v", out, err)
			}
		}
	}
	for n, a := range setOf(t, 7, 2) {
		for name, remove := range map[string]func(context.Context, string, event.Event) error{"Delete": acts.Delete, "DeleteEvent": acts.DeleteEvent} {
			mustRecord(t, acts, a)
			meanwhile(db, "DeleteItem", again(a))
			if err := remove(t.Context(), home, a.Event); !errors.Is(err, activity.ErrNotFound) {
				t.Errorf("%s of Nth(%d): %v", name, n+1, err)
			}
			wantSame(t, name, everything(t, acts), []activity.Activity{a})
			if n, err := acts.Erase(t.Context(), home); n > 1 || err != nil {
				t.Errorf("%d rows, %v", n, err)
			}
		}
	}
}

// So does a tombstone in place of a row of an older system.
func TestDeletionsOfOldRowsAreRepeatable(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	for seq := range int64(2) {
		ev := newEvent(t, monday, home, seq)
		meanwhile(db, "DeleteItem", func() { retract(t, acts, ev, true, event.Created) })
		recordtest.Put(t, db.Client(), acts.Table().Name, oldRow(t, ev.String(), home, martin, "diskning", monday.UnixMilli()))
		if err := []func(context.Context, string, event.Event) error{acts.Delete, acts.DeleteEvent}[seq](t.Context(), home, ev); !errors.Is(err, activity.ErrNotFound) {
			t.Errorf("%d: %v", seq, err)
		}
		retract(t, acts, ev, false, event.Duplicate)
	}
}

func TestDeleteOfWhatChanges(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	dish := chore(t, monday, 7, "diskning")
	for name, tc := range map[string]struct {
		do   func()
		want error
	}{
		"deleted":   {func() { _, _ = acts.Erase(t.Context(), home) }, activity.ErrNotFound},
		"retracted": {func() { retract(t, acts, dish.Event, false, event.Created) }, nil},
	} {
		for _, old := range []bool{false, true} {
			if old {
				recordtest.Put(t, db.Client(), acts.Table().Name, oldRow(t, dish.Event.String(), home, martin, "diskning", monday.UnixMilli()))
			} else {
				mustRecord(t, acts, dish)
			}
			db.Inject(dynamotest.Fault{Op: "Query", Do: dynamotest.After(tc.do)})
			if err := acts.Delete(t.Context(), home, dish.Event); !errors.Is(err, tc.want) {
				t.Errorf("%s, old %v: %v, want %v", name, old, err, tc.want)
			}
			if n, err := acts.Erase(t.Context(), home); n != 0 || err != nil {
				t.Errorf("%s, old %v: %d rows are left, %v", name, old, n, err)
			}
		}
	}
}
