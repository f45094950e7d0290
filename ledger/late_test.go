package ledger_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/ledger"
)

// A renewal that was under way longer than the next one must not shorten the
// lease: the holder counts on the later.
func TestLateRenewalDoesNotShortenTheLease(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tape, store := b.taped(t, ledger.Config{Lease: time.Minute, MaxSkew: time.Second})
	c := mustClaim(t, store, order)
	b.clock.Add(time.Second)
	must(t, c.Renew(t.Context()))
	early := tape.last()
	b.clock.Add(30 * time.Second)
	must(t, c.Renew(t.Context()))
	if err := tape.deliver(t.Context(), early); err == nil {
		t.Error("the late duplicate took effect")
	}
	wantBusy(t, store, order, time.Minute+time.Second)
}

// Two renewals at once, answered in the other order: the later lease stands.
func TestRenewalsAnsweredInTheOtherOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := mustClaim(t, b.store(t, ledger.Config{Lease: time.Minute}), order)
	b.clock.Add(time.Second)
	b.between(func() {
		b.clock.Add(time.Second)
		must(t, c.Renew(t.Context()))
	})
	must(t, c.Renew(t.Context()))
	if want := b.clock.Now().Add(time.Minute); !c.LeaseUntil().Equal(want) {
		t.Errorf("lease until %v, want %v", c.LeaseUntil(), want)
	}
}

// A duplicate of the claim's own request, late, does not reopen what the claim
// gave up.
func TestLateClaimDoesNotReopen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tape, store := b.taped(t, ledger.Config{})
	c := mustClaim(t, store, order)
	late := tape.last()
	must(t, c.Fail(t.Context(), errors.New("no connection")))
	if err := tape.deliver(t.Context(), late); err == nil {
		t.Error("the late duplicate took effect")
	}
	if next := mustClaim(t, store, order); next.Attempt != 2 {
		t.Errorf("attempt %d, want 2", next.Attempt)
	}
}

// When another worker has given the key up in between, the late duplicate is a
// claim that nobody holds: not its first sender either, whose nonce it bears.
func TestLateClaimGivesNobodyTheKey(t *testing.T) {
	t.Parallel()
	for what, call := range map[string]func(context.Context, *ledger.Claim) error{
		"Renew":    func(ctx context.Context, c *ledger.Claim) error { return c.Renew(ctx) },
		"Complete": func(ctx context.Context, c *ledger.Claim) error { return c.Complete(ctx, "stale") },
		"Fail":     func(ctx context.Context, c *ledger.Claim) error { return c.Fail(ctx, errCut) },
	} {
		b := newBench(t)
		tape, store := b.taped(t, ledger.Config{Lease: time.Minute, MaxSkew: time.Second})
		stale := mustClaim(t, store, order)
		late := tape.last()
		b.clock.Add(time.Hour)
		must(t, mustClaim(t, store, order).Fail(t.Context(), errors.New("no connection")))
		must(t, tape.deliver(t.Context(), late))
		before := b.row(t, order.Key)
		wantErr(t, what, call(t.Context(), stale), ledger.ErrLeaseLost)
		if diff := cmp.Diff(before, b.row(t, order.Key), cmp.Comparer(sameAttribute)); diff != "" {
			t.Errorf("%s of the stale changed the row:\n%s", what, diff)
		}
		if err := b.book(t, stale, "stale"); err == nil {
			t.Error("the stale claim's transaction went through")
		}
		must(t, mustClaim(t, store, order).Complete(t.Context(), "fresh")) // the late claim's lease is long over
	}
}

func sameAttribute(x, y types.AttributeValue) bool { return reflect.DeepEqual(x, y) }
