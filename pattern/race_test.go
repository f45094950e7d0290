package pattern_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/tzclock"
)

// The SDK sends again after a lost reply, meets its own write, and the answer is
// Duplicate, the state being that of one observation.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	for do, want := range map[dynamotest.Effect]event.Outcome{
		dynamotest.LoseReply:   event.Duplicate,
		dynamotest.LoseRequest: event.Created,
	} {
		db, store := open(t, tzclock.UTC)
		o := washing(recordtest.At(t, "2026-03-28T12:00:00Z"))
		db.Inject(dynamotest.Fault{Do: do, Op: "UpdateItem"})
		mustObserve(t, store, o, want)
		if got := mustGet(t, store, o.Scope, o.Actor, o.Name); got.Total != 1 || got.ByHour[12] != 1 {
			t.Errorf("%v: %+v, want one event", do, got)
		}
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
		if out, err := store.Observe(t.Context(), washing(ev)); !errors.Is(err, event.ErrTooOld) || !strings.HasPrefix(err.Error(), "pattern: Observe on table ") {
			t.Errorf("an event %v from now: %v, %v, want too old", wait, out, err)
		}
	}
	mustObserve(t, store, washing(recordtest.Event(t, clock.Add(event.MaxAhead-time.Second/2), "test")), event.Created)
}
