package pattern_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
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
	h := pattern.Habit{Scope: "-100123", Actor: "42", Name: "diskning", Total: int64(len(events))}
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

// A burst of 200 events on one row counts 200, by one read and 7 writes.
func TestBurstCounts(t *testing.T) {
	t.Parallel()
	db, store := open(t, tzclock.UTC)
	events := hourly(t, 200)
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

// Erase takes the actor's habits in the scope and no others, and what an Observe
// that was under way writes afterwards holds nothing of them.
func TestErase(t *testing.T) {
	t.Parallel()
	db, store := open(t, tzclock.UTC)
	o := washing(recordtest.At(t, "2026-03-28T12:00:00Z"))
	other, neighbour := o, o
	other.Name, neighbour.Actor = "dammsugning", "421"
	for _, o := range []pattern.Observe{o, other, neighbour} {
		mustObserve(t, store, o, event.Created)
	}
	db.Inject(dynamotest.Fault{Op: "UpdateItem", Do: dynamotest.Before(func() {
		if n, err := store.Erase(t.Context(), "-100123", "42"); n != 2 || err != nil {
			t.Errorf("Erase = %d, %v, want 2", n, err)
		}
	})})
	late := recordtest.Event(t, clock, "after")
	mustObserve(t, store, washing(late), event.Created)
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
	_, err := store.Erase(t.Context(), "-100123", "")
	recordtest.WantBad(t, err, "pattern", "Actor")
}
