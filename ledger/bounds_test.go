package ledger_test

import (
	"context"
	"math"
	"testing"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
)

// The longest Retention there is must not wrap around to rows that have expired
// when they are written.
func TestTheLongestRetention(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{Retention: math.MaxInt64})
	for _, want := range []event.Outcome{event.Created, event.Duplicate} {
		if out, err := store.MarkSeen(t.Context(), order.Key); err != nil || out != want {
			t.Errorf("MarkSeen = %v, %v, want %v", out, err, want)
		}
	}
}

func TestDoWithoutWork(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
	_, err := ledger.Do[string](t.Context(), store, order, nil)
	recordtest.WantBad(t, err, "ledger", "work", "no work")
	mustClaim(t, store, order) // nobody holds it
}

// encoding/json replaces what is not UTF-8 in a string.
func TestAStringThatIsNotUTF8IsReplayedAsJSONHasIt(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
	work := func(_ context.Context, _ *ledger.Claim) (string, error) { return "\xff", nil }
	for _, want := range []string{"\xff", "\uFFFD"} {
		if res, err := ledger.Do(t.Context(), store, order, work); err != nil || res.Value != want {
			t.Errorf("Do = %q, %v, want %q", res.Value, err, want)
		}
	}
}
