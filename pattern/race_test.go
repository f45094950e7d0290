package pattern_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/tzclock"
)

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
