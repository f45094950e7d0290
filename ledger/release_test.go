package ledger_test

import (
	"errors"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/ledger"
)

// A key that is claimed and released again and again never runs out of attempts.
func TestReleasedAttemptsDoNotCount(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{MaxAttempts: 1})
	for range 3 {
		c := mustClaim(t, store, order)
		if c.Attempt != 1 {
			t.Fatalf("attempt %d", c.Attempt)
		}
		must(t, c.Release(t.Context()))
	}
	if r := mustGet(t, store, order.Key); r.State != ledger.Failed || r.Attempts != 0 || !r.Lease.IsZero() {
		t.Errorf("record: %+v", r)
	}
}

func TestReleaseKeepsWhyAnEarlierAttemptFailed(t *testing.T) {
	t.Parallel()
	b, store := goldenBench(t)
	must(t, mustClaim(t, store, order).Fail(t.Context(), errors.New("no connection")))
	must(t, mustClaim(t, store, order).Release(t.Context()))
	golden.Want(t, b.client, b.table, "testdata/released.json", "pk")
}

// Each request of a Release can be lost, before it arrives or after.
func TestReleaseKnowsItsOwnLostReply(t *testing.T) {
	t.Parallel()
	for _, effect := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest} {
		b, store := opened(t, ledger.Config{})
		c := mustClaim(t, store, order)
		b.db.Inject(dynamotest.Fault{Do: effect, Op: "UpdateItem", Nth: 1})
		must(t, c.Release(t.Context()))
		must(t, c.Release(t.Context())) // and again
		if r := mustGet(t, store, order.Key); r.State != ledger.Failed || r.Attempts != 0 {
			t.Errorf("record: %+v", r)
		}
	}
}

// A worker that does not hold the key releases nothing.
func TestReleaseOfWhatIsNotHeld(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{Lease: time.Minute, MaxSkew: time.Second})
	c := mustClaim(t, store, order)
	b.clock.Add(time.Minute + time.Second)
	heir := mustClaim(t, store, order)
	wantErr(t, "Release by the old holder", c.Release(t.Context()), ledger.ErrLeaseLost)
	wantBusy(t, store, order, time.Minute+time.Second)
	must(t, heir.Complete(t.Context(), "heir"))
	if err := heir.Release(t.Context()); !isDone(err) {
		t.Errorf("Release of what is completed: %v", err)
	}
	wantDone(t, store, order, `"heir"`)

	failed := mustClaim(t, store, ledger.Request{Key: "failed"})
	must(t, failed.Fail(t.Context(), errCut))
	wantErr(t, "Release of what failed", failed.Release(t.Context()), ledger.ErrLeaseLost)
	if r := mustGet(t, store, "failed"); r.Attempts != 1 {
		t.Errorf("record: %+v", r)
	}
	gone := mustClaim(t, store, ledger.Request{Key: "gone"})
	b.remove(t, "gone")
	wantErr(t, "Release of a row that is gone", gone.Release(t.Context()), ledger.ErrLeaseLost)
}

// Fail does not take what an earlier attempt left for its own: this attempt was
// given back.
func TestFailAfterItsOwnRelease(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
	must(t, mustClaim(t, store, order).Fail(t.Context(), errCut))
	c := mustClaim(t, store, order)
	must(t, c.Release(t.Context()))
	wantErr(t, "Fail after Release", c.Fail(t.Context(), errCut), ledger.ErrLeaseLost)

	c = mustClaim(t, store, order)
	must(t, c.Fail(t.Context(), errCut))
	must(t, c.Fail(t.Context(), errCut)) // and again
	if r := mustGet(t, store, order.Key); r.Attempts != 2 {
		t.Errorf("record: %+v", r)
	}
}
