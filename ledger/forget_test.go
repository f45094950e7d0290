package ledger_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
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
		"refused": func(t *testing.T, _ *bench, s *ledger.Store) { refused(t, s) },
		"failed": func(t *testing.T, _ *bench, s *ledger.Store) {
			must(t, mustClaim(t, s, order).Fail(t.Context(), errCut))
		},
		"lapsed": func(t *testing.T, _ *bench, s *ledger.Store) { mustClaim(t, s, order) },
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
	must(t, c.Complete(t.Context(), 1))
	must(t, b.ops(t, store).Forget(t.Context(), mustGet(t, store, order.Key)))

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

// Fences rise over a Forget also from a worker whose clock is ahead to one whose
// clock is behind, for every caller of Forget.
func TestFenceRisesOverAForget(t *testing.T) {
	t.Parallel()
	for _, forgetter := range []time.Duration{0, forgetSkew / 2, forgetSkew} {
		b := newBench(t)
		at := func(offset time.Duration) *ledger.Store {
			return b.store(t, ledger.Config{MaxSkew: forgetSkew, Now: func() time.Time { return b.clock.Now().Add(offset) }})
		}
		first := mustClaim(t, at(forgetSkew), order)
		must(t, first.Fail(t.Context(), errCut))
		for range 100 {
			err := b.ops(t, at(forgetter)).Forget(t.Context(), mustGet(t, at(0), order.Key))
			var busy *ledger.InProgressError
			if !errors.As(err, &busy) {
				must(t, err)
				break
			}
			b.clock.Add(busy.Wait)
		}
		if second := mustClaim(t, at(0), order); second.Fence <= first.Fence || second.Attempt != 1 {
			t.Errorf("forgotten by a clock %v ahead: fence %d after %d, attempt %d", forgetter, second.Fence, first.Fence, second.Attempt)
		}
	}
}

// What was written since the operator looked is not forgotten.
func TestForgetRefuses(t *testing.T) {
	t.Parallel()
	for name, since := range map[string]func(*testing.T, *bench, *ledger.Store) ledger.Record{
		"claimed since": func(t *testing.T, _ *bench, store *ledger.Store) ledger.Record {
			must(t, mustClaim(t, store, order).Fail(t.Context(), errCut))
			seen := mustGet(t, store, order.Key)
			must(t, mustClaim(t, store, order).Fail(t.Context(), errCut))
			return seen
		},
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
		"marked and claimed since": func(t *testing.T, b *bench, store *ledger.Store) ledger.Record {
			wantMark(t, store, order.Key, event.Created)
			seen := mustGet(t, store, order.Key)
			b.clock.Add(14 * 24 * time.Hour)
			must(t, mustClaim(t, store, order).Fail(t.Context(), errCut))
			return seen
		},
		"an older system's, marked since": func(t *testing.T, b *bench, store *ledger.Store) ledger.Record {
			b.put(t, ddb.Item{"pk": item.S(order.Key), "expiresAt": item.N(b.clock.Now().Unix() + 1)})
			seen := mustGet(t, store, order.Key)
			b.clock.Add(time.Second)
			wantMark(t, store, order.Key, event.Created)
			return seen
		},
		"of another fence": func(t *testing.T, _ *bench, store *ledger.Store) ledger.Record {
			seen := refused(t, store)
			seen.Fence--
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

// What ended since the operator looked, by the claim that was seen, is forgotten:
// it is the same delivery.
func TestForgetOfWhatEndedSince(t *testing.T) {
	t.Parallel()
	b, store := newForgetting(t)
	c := mustClaim(t, store, order)
	seen := mustGet(t, store, order.Key)
	must(t, c.Complete(t.Context(), 1))
	b.clock.Add(time.Hour)
	must(t, b.ops(t, store).Forget(t.Context(), seen))
}

// The holder of a claim that lapsed and was forgotten changes nothing.
func TestForgottenHoldersChangeNothing(t *testing.T) {
	t.Parallel()
	b, store := newForgetting(t)
	c := mustClaim(t, store, order)
	token := c.Token()
	b.clock.Add(forgetLease + forgetSkew)
	must(t, b.ops(t, store).Forget(t.Context(), mustGet(t, store, order.Key)))
	for name, call := range map[string]func(context.Context) error{
		"Renew":    c.Renew,
		"Release":  c.Release,
		"Complete": func(ctx context.Context) error { return c.Complete(ctx, 1) },
		"Resume":   func(ctx context.Context) error { _, err := store.Resume(ctx, token); return err },
	} {
		wantErr(t, name, call(t.Context()), ledger.ErrLeaseLost)
	}
	if row := b.row(t, order.Key); row != nil {
		t.Errorf("a row of nothing: %v", row)
	}
}

// The key comes again between a Forget and its repetition, which leaves it alone.
func TestARepeatedForgetLeavesTheNextDeliveryAlone(t *testing.T) {
	t.Parallel()
	b, store := newForgetting(t)
	must(t, mustClaim(t, store, order).Fail(t.Context(), errCut))
	b.clock.Add(time.Hour)
	b.meanwhile("DeleteItem", func() { mustClaim(t, store, order) })
	wantErr(t, "Forget", b.ops(t, store).Forget(t.Context(), mustGet(t, store, order.Key)), ledger.ErrChanged)
	wantBusy(t, store, order, forgetLease+forgetSkew)
}
