package pattern_test

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/tzclock"
)

// washings are events of the habit of [washing].
func washings(events ...event.Event) pattern.ObserveAll {
	return pattern.ObserveAll{Scope: "-100123", Actor: "42", Name: "diskning", Events: events}
}

// hourly returns n distinct events, an hour apart, the last of them now, in
// random order.
func hourly(t *testing.T, n int) []event.Event {
	t.Helper()
	events := make([]event.Event, n)
	for i := range events {
		events[i] = recordtest.Event(t, clock.Add(time.Duration(-i)*time.Hour), strconv.Itoa(i))
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { events[i], events[j] = events[j], events[i] })
	return events
}

// habitOf is the habit of the events, each counted once.
func habitOf(events []event.Event) pattern.Habit {
	h := pattern.Habit{Scope: "-100123", Actor: "42", Name: "diskning", Total: int64(len(events)), UpdatedAt: clock}
	for _, ev := range events {
		at := ev.Time()
		h.ByDay[at.Weekday()]++
		h.ByHour[at.Hour()]++
		if at.After(h.LastSeen) {
			h.LastSeen = at
		}
	}
	return h
}

// A burst of 200 events on one row counts 200, by one read and 7 writes. Told of
// one by one as they arrive, most of them are too old.
func TestBurstCounts(t *testing.T) {
	t.Parallel()
	db, store := open(t, tzclock.UTC)
	events := hourly(t, 200)
	tooOld := 0
	for _, ev := range events {
		o := washing(ev)
		o.Actor = "43"
		if _, err := store.Observe(t.Context(), o); errors.Is(err, event.ErrTooOld) {
			tooOld++
		}
	}
	if tooOld < 100 {
		t.Errorf("%d of them are too old one by one, want most", tooOld)
	}
	cost := db.Meter(func() {
		outcomes, err := store.ObserveAll(t.Context(), washings(events...))
		if err != nil || len(outcomes) != 200 || slices.ContainsFunc(outcomes, func(out event.Outcome) bool { return out != event.Created }) {
			t.Errorf("ObserveAll = %v, %v", outcomes, err)
		}
	})
	cost.Want(t, dynamotest.Price{Requests: 1 + 7, RCU: 1, WCU: 7})
	if diff := gocmp.Diff(habitOf(events), mustGet(t, store, "-100123", "42", "diskning")); diff != "" {
		t.Errorf("habit (-want +got):\n%s", diff)
	}
}

// Each reply of a burst may be lost, and bursts of the same events may run at
// once: each event counts once.
func TestBurstLosesReplies(t *testing.T) {
	t.Parallel()
	for nth := range 7 {
		db, store := open(t, tzclock.UTC)
		events := hourly(t, 200)
		db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: nth + 1})
		outcomes, err := store.ObserveAll(t.Context(), washings(events...))
		duplicates := 0
		for _, out := range outcomes {
			if out == event.Duplicate {
				duplicates++
			}
		}
		if want := min(32, 200-32*nth); err != nil || duplicates != want {
			t.Errorf("reply %d lost: %d duplicates, %v, want %d", nth+1, duplicates, err, want)
		}
		if diff := gocmp.Diff(habitOf(events), mustGet(t, store, "-100123", "42", "diskning")); diff != "" {
			t.Errorf("reply %d lost: habit (-want +got):\n%s", nth+1, diff)
		}
	}
}

func TestBurstsOfTheSameEvents(t *testing.T) {
	t.Parallel()
	_, store := open(t, tzclock.UTC)
	events := hourly(t, 30)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			some := events[5*i : 5*i+15]
			if _, err := store.ObserveAll(t.Context(), washings(some...)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if diff := gocmp.Diff(habitOf(events), mustGet(t, store, "-100123", "42", "diskning")); diff != "" {
		t.Errorf("habit (-want +got):\n%s", diff)
	}
}

// Law: ObserveAll leaves the habit and gives the answers of Observe, called for
// one event after the other in ascending order.
func TestObserveAllIsObserveInOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		_, one := open(t, tzclock.Stockholm)
		_, all := open(t, tzclock.Stockholm)
		for range 3 {
			events := make([]event.Event, rnd.IntN(60))
			for i := range events {
				at := clock.Add(-time.Duration(rnd.IntN(100)) * time.Hour)
				events[i] = recordtest.Event(t, at, "test")
			}
			outcomes, err := all.ObserveAll(t.Context(), washings(events...))
			tooOld := map[int]bool{}
			if left, ok := errors.AsType[*event.LeftoverError](err); ok {
				for _, l := range left.Leftovers {
					tooOld[l.Index] = errors.Is(l.Err, event.ErrTooOld)
				}
			} else if err != nil {
				t.Fatal(err)
			}
			order := make([]int, len(events))
			for i := range order {
				order[i] = i
			}
			slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(events[i].Time().UnixMilli(), events[j].Time().UnixMilli()) })
			for _, i := range order {
				out, err := one.Observe(t.Context(), washing(events[i]))
				if out != outcomes[i] || errors.Is(err, event.ErrTooOld) != tooOld[i] {
					t.Fatalf("seed %d, event %d: %v (too old: %v), Observe says %v, %v", seed, i, outcomes[i], tooOld[i], out, err)
				}
			}
		}
		want, _, err := one.Get(t.Context(), "-100123", "42", "diskning")
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(want, mustGet(t, all, "-100123", "42", "diskning")); diff != "" {
			t.Fatalf("seed %d: habit (-Observe +ObserveAll):\n%s", seed, diff)
		}
	}
}

// Without a row to name, nothing is sent; bad events are named one by one.
func TestObserveAllRefuses(t *testing.T) {
	t.Parallel()
	_, store := open(t, tzclock.UTC)
	in := washings(recordtest.At(t, "2026-03-28T12:00:00Z"), event.Event{})
	in.Actor = ""
	_, err := store.ObserveAll(t.Context(), in)
	recordtest.WantBad(t, err, "pattern", "Actor")
	in.Actor = "42"
	outcomes, err := store.ObserveAll(t.Context(), in)
	left, ok := errors.AsType[*event.LeftoverError](err)
	if !ok || len(left.Leftovers) != 1 || left.Leftovers[0].Index != 1 || outcomes[0] != event.Created || outcomes[1] != 0 {
		t.Fatalf("ObserveAll = %v, %v", outcomes, err)
	}
	recordtest.WantBad(t, left.Leftovers[0].Err, "pattern", "Events[1]")
}

// Erase takes the actor's habits in the scope and no others, and what an Observe
// that was under way writes afterwards holds nothing of them.
func TestErase(t *testing.T) {
	t.Parallel()
	db, store := open(t, tzclock.UTC)
	events := hourly(t, 9)
	for _, name := range []string{"diskning", "dammsugning"} {
		in := washings(events...)
		in.Name = name
		if _, err := store.ObserveAll(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	neighbour := washing(events[0])
	neighbour.Actor = "421"
	mustObserve(t, store, neighbour, event.Created)
	db.Inject(dynamotest.Fault{Op: "UpdateItem", Do: dynamotest.Before(func() {
		if n, err := store.Erase(t.Context(), "-100123", "42"); n != 2 || err != nil {
			t.Errorf("Erase = %d, %v, want 2", n, err)
		}
	})})
	live, err := pattern.New(db.Client(), store.Table().Name, tzclock.UTC, &pattern.Config{Now: recordtest.Clock(clock)})
	if err != nil {
		t.Fatal(err)
	}
	late := recordtest.Event(t, clock, "after")
	mustObserve(t, live, washing(late), event.Created)
	if diff := gocmp.Diff(habitOf([]event.Event{late}), mustGet(t, store, "-100123", "42", "diskning")); diff != "" {
		t.Errorf("habit (-want +got):\n%s", diff)
	}
	for _, want := range []int{1, 0} {
		if n, err := store.Erase(t.Context(), "-100123", "42"); n != want || err != nil {
			t.Errorf("Erase again = %d, %v, want %d", n, err, want)
		}
	}
	if got := mustGet(t, store, "-100123", "421", "diskning"); got.Total != 1 {
		t.Errorf("the neighbour has %d", got.Total)
	}
	_, err = store.Erase(t.Context(), "-100123", "")
	recordtest.WantBad(t, err, "pattern", "Actor")
}
