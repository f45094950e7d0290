package ledger_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/ledger"
)

const (
	forgetLease = time.Minute
	forgetSkew  = 10 * time.Second
)

func newForgetting(t *testing.T) (*bench, *ledger.Store) {
	t.Helper()
	b := newBench(t)
	return b, b.store(t, ledger.Config{Lease: forgetLease, MaxSkew: forgetSkew})
}

// What is forgotten is done again, whatever stood, and by a higher fence.
func TestForget(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(*testing.T, *bench, *ledger.Store){
		"done": func(t *testing.T, _ *bench, s *ledger.Store) {
			must(t, mustClaim(t, s, order).Complete(t.Context(), 1))
		},
		"marked": func(t *testing.T, _ *bench, s *ledger.Store) { wantMark(t, s, order.Key, event.Created) },
		"erased": func(t *testing.T, _ *bench, s *ledger.Store) {
			mustClaim(t, s, order)
			must(t, s.Erase(t.Context(), order.Key))
		},
		"of an older system": func(t *testing.T, b *bench, _ *ledger.Store) { b.put(t, ddb.Item{"pk": item.S(order.Key)}) },
	} {
		for lost, effect := range losses {
			b, store := newForgetting(t)
			write(t, b, store)
			b.clock.Add(forgetLease + forgetSkew)
			seen := mustGet(t, store, order.Key)
			b.db.Inject(dynamotest.Fault{Do: effect, Op: "DeleteItem", Nth: 1})
			must(t, b.ops(t, store).Forget(t.Context(), seen))
			must(t, b.ops(t, store).Forget(t.Context(), seen)) // and again
			if row := b.row(t, order.Key); row != nil {
				t.Errorf("%s, lost %s: %v", name, lost, row)
			}
			if c := mustClaim(t, store, order); c.Attempt != 1 || c.Fence <= seen.Fence {
				t.Errorf("%s: attempt %d, fence %d after %d", name, c.Attempt, c.Fence, seen.Fence)
			}
		}
	}
}

// A claim that holds is not forgotten, and neither is any other row while a
// clock may still give a fence that is not higher.
func TestForgetWaits(t *testing.T) {
	t.Parallel()
	b, store := newForgetting(t)
	wants := func(what string, wait time.Duration) {
		t.Helper()
		var busy *ledger.InProgressError
		if err := b.ops(t, store).Forget(t.Context(), mustGet(t, store, order.Key)); !errors.As(err, &busy) || busy.Wait != wait {
			t.Errorf("%s: %v, want to wait %v", what, err, wait)
		}
	}
	c := mustClaim(t, store, order)
	wants("held", forgetLease+forgetSkew)
	b.clock.Add(forgetLease + forgetSkew - time.Millisecond)
	wants("held for a millisecond more", time.Millisecond)
	seen := mustGet(t, store, order.Key)
	must(t, c.Complete(t.Context(), 1)) // since the operator looked: it is the same delivery
	must(t, b.ops(t, store).Forget(t.Context(), seen))

	must(t, mustClaim(t, store, order).Complete(t.Context(), 1))
	wants("done a moment ago", forgetSkew+time.Millisecond) // the fence is the time of the claim and 1
	b.clock.Add(forgetSkew)
	wants("done a millisecond too late", time.Millisecond)
	const want = "ledger: no worker holds the key, but its last claim is too young to be forgotten: wait 1ms"
	if err := b.ops(t, store).Forget(t.Context(), mustGet(t, store, order.Key)); err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	b.clock.Add(time.Millisecond)
	must(t, b.ops(t, store).Forget(t.Context(), mustGet(t, store, order.Key)))
}

// What was written since the operator looked is not forgotten.
func TestForgetRefuses(t *testing.T) {
	t.Parallel()
	for name, since := range map[string]func(*testing.T, *bench, *ledger.Store) ledger.Record{
		"reopened since": func(t *testing.T, b *bench, store *ledger.Store) ledger.Record {
			seen := refused(t, store)
			must(t, b.ops(t, store).Reopen(t.Context(), seen))
			return seen
		},
		"marked and marked anew": func(t *testing.T, b *bench, store *ledger.Store) ledger.Record {
			wantMark(t, store, order.Key, event.Created)
			seen := mustGet(t, store, order.Key)
			b.clock.Add(14 * 24 * time.Hour)
			wantMark(t, store, order.Key, event.Created)
			return seen
		},
		"an older system's, marked since": func(t *testing.T, b *bench, store *ledger.Store) ledger.Record {
			b.put(t, ddb.Item{"pk": item.S(order.Key), "expiresAt": item.N(b.clock.Now().Unix() + 1)})
			seen := mustGet(t, store, order.Key)
			b.clock.Add(time.Second)
			wantMark(t, store, order.Key, event.Created)
			return seen
		},
	} {
		b, store := newForgetting(t)
		seen := since(t, b, store)
		b.clock.Add(time.Hour)
		wantErr(t, name, b.ops(t, store).Forget(t.Context(), seen), ledger.ErrChanged)
		if b.row(t, order.Key) == nil {
			t.Errorf("%s: forgotten", name)
		}
	}
}

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
}

// An older row without an expiry that comes gets the one of its time, without the
// grace, as the older system wrote it.
func TestBackfill(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{})
	row := func(attrs ddb.Item) ddb.Item {
		it := golden.Item(t, "testdata/typescript.json")
		delete(it, "expiresAt")
		for name, value := range attrs {
			it[name] = value
		}
		return it
	}
	given := ddb.Item{"expiresAt": golden.Item(t, "testdata/typescript.json")["expiresAt"]}
	for name, tc := range map[string]struct{ row, want ddb.Item }{
		"without":            {row(nil), given},
		"a part of a second": {row(ddb.Item{"seenAt": item.S("2026-03-15T12:00:00.001Z")}), given},
		"the older system's": {golden.Item(t, "testdata/typescript.json"), nil},
		"of this package":    {golden.Item(t, "testdata/marked.json"), nil},
		"claimed, no expiry": {row(ddb.Item{"claim": item.S("c"), "state": item.S("done")}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			golden.Backfill(t, b.client, b.ops(t, store).Backfill, tc.row, tc.want, "expiresAt", "seenAt", "claim")
		})
	}
	for name, it := range map[string]ddb.Item{
		"no time":       {"pk": item.S("k")},
		"not a time":    {"pk": item.S("k"), "seenAt": item.S("yesterday")},
		"before a time": {"pk": item.S("k"), "seenAt": item.S("1970-01-01T00:00:00Z")},
	} {
		if in, lacks, err := b.ops(t, store).Backfill(it); err == nil || lacks || in != nil {
			t.Errorf("%s: %v, %v", name, lacks, err)
		}
	}
}

// Whether the row has room is a question about the row in the table, with its names.
func TestBackfillMeasuresTheRowInTheTable(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ops := b.ops(t, b.store(t, ledger.Config{Names: map[string]string{"expiresAt": strings.Repeat("e", 200), "result": "ourResult"}}))
	for name, row := range map[string]ddb.Item{
		"a longer name": {"notes": item.S("")},
		"another's":     {"notes": item.S(""), "result": item.S(strings.Repeat("x", 1000))},
	} {
		row["pk"], row["seenAt"] = item.S("k"), item.S("2026-03-15T12:00:00.000Z")
		row["notes"] = item.S(strings.Repeat("x", item.MaxSize-item.Size(row)-30)) // room for "expiresAt" alone
		if in, lacks, err := ops.Backfill(row); err == nil || lacks || in != nil {
			t.Errorf("%s: an update that DynamoDB would not take: %v, %v", name, lacks, err)
		}
	}
}
