package pattern_test

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Many events of one habit, each delivered three times, all at once: every
// event counts, and counts once.
func TestContention(t *testing.T) {
	t.Parallel()
	const events, deliveries = 24, 3
	_, store := open(t, tzclock.UTC)
	want := pattern.Habit{Scope: "-100123", Actor: "42", Name: "diskning", Total: events, UpdatedAt: clock}
	var created atomic.Int64
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range events {
		o := washing(recordtest.Event(t, clock.Add(time.Duration(-i)*25*time.Hour), strconv.Itoa(i), "test"))
		want.ByDay[o.Event.Time().Weekday()]++
		want.ByHour[o.Event.Time().Hour()]++
		for range deliveries {
			all.Go(func() {
				<-start
				out, err := store.Observe(t.Context(), o)
				if err != nil {
					t.Error(err)
				}
				if out == event.Created {
					created.Add(1)
				}
			})
		}
	}
	close(start)
	all.Wait()
	want.LastSeen = clock
	if diff := cmp.Diff(want, mustGet(t, store, "-100123", "42", "diskning")); diff != "" {
		t.Errorf("habit (-want +got):\n%s", diff)
	}
	if created.Load() != events {
		t.Errorf("%d of %d events were told they are the first", created.Load(), events)
	}
}

// Replies lost on the way, one after another, while others write: a caller that
// gets an error repeats the call, and the habit is the same as without.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	const events = 12
	db, store := open(t, tzclock.UTC)
	for _, do := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest} {
		db.Inject(dynamotest.Fault{Do: do, Op: "UpdateItem", Nth: 2, Times: 5})
	}
	var all sync.WaitGroup
	for i := range events {
		o := washing(recordtest.Event(t, clock.Add(time.Duration(-i)*time.Hour), "test"))
		all.Go(func() {
			for {
				out, err := store.Observe(t.Context(), o)
				if err == nil {
					if out != event.Created && out != event.Duplicate {
						t.Errorf("Observe = %v", out)
					}
					return
				}
				if t.Context().Err() != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	got := mustGet(t, store, "-100123", "42", "diskning")
	if got.Total != events || got.ByHour != ([24]int64{7: 1, 8: 1, 9: 1, 10: 1, 11: 1, 12: 1, 13: 1, 14: 1, 15: 1, 16: 1, 17: 1, 18: 1}) {
		t.Errorf("%d events by hour %v, want each of %d once", got.Total, got.ByHour, events)
	}
}

// A lost reply on a quiet row: the SDK sends again, meets its own write, and
// the answer is Duplicate, the state being that of one observation.
func TestLostReply(t *testing.T) {
	t.Parallel()
	db, store := open(t, tzclock.UTC)
	o := washing(recordtest.At(t, "2026-03-28T12:00:00Z"))
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem"})
	mustObserve(t, store, o, event.Duplicate)
	if got := mustGet(t, store, o.Scope, o.Actor, o.Name); got.Total != 1 || got.ByHour[12] != 1 {
		t.Errorf("%+v, want one event", got)
	}
}

// 32 events ahead of the clock shut out the true ones until their time has
// come, as the package's documentation says.
func TestEventsAheadShutOutTheTrueOnes(t *testing.T) {
	t.Parallel()
	_, store := open(t, tzclock.UTC)
	for i := range 32 {
		ahead := clock.Add(event.MaxAhead - time.Duration(i)*time.Second)
		mustObserve(t, store, washing(recordtest.At(t, ahead.Format(time.RFC3339))), event.Created)
	}
	for _, wait := range []time.Duration{0, 59 * time.Minute} {
		ev := recordtest.Event(t, clock.Add(wait), "test")
		if out, err := store.Observe(t.Context(), washing(ev)); !errors.Is(err, event.ErrTooOld) {
			t.Errorf("an event %v from now: %v, %v, want too old", wait, out, err)
		}
	}
	mustObserve(t, store, washing(recordtest.Event(t, clock.Add(event.MaxAhead-time.Second/2), "test")), event.Created)
}
