package ledger_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ledger"
)

var errDeploy = errors.New("deploy")

// leaves ends the caller's context, by quit, during the update of the given number,
// which then has no answer: it took effect, or is still under way.
func (b *bench) leaves(at int, underWay bool, quit func()) {
	lost, end := dynamotest.LoseReply, dynamotest.After(quit)
	if underWay {
		lost, end = dynamotest.LoseRequest, dynamotest.Before(quit)
	}
	b.db.Inject(dynamotest.Fault{Do: lost, Op: "UpdateItem", Nth: at})
	b.db.Inject(dynamotest.Fault{Do: end, Op: "UpdateItem", Nth: at})
}

// leave is a claim whose context ends during its update of the given number, after
// something else, and returns its updates.
func (b *bench) leave(t *testing.T, at int, underWay bool, meanwhile func(), cfg ledger.Config) *tape {
	t.Helper()
	cfg.Now = b.clock.Now
	sent := &tape{API: b.client}
	store, err := ledger.New(sent, b.table, &cfg)
	must(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	b.leaves(at, underWay, func() { meanwhile(); cancel(errDeploy) })
	if c, err := store.Claim(ctx, order); c != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("Claim = %v, %v", c, err)
	}
	return sent
}

func nothing() {}

// A claim that took effect, and whose caller has gone before the reply came,
// is given up: the key is free at once, and no attempt is spent.
func TestAClaimThatItsCallerLeftIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before func(*testing.T, *bench, *ledger.Store)
		at     int
		want   int64 // the next attempt
	}{
		"the first of the key": {func(*testing.T, *bench, *ledger.Store) {}, 1, 1},
		"of a failed key": {func(t *testing.T, _ *bench, store *ledger.Store) {
			must(t, mustClaim(t, store, order).Fail(t.Context(), errors.New("no connection")))
		}, 1, 2},
		"of a lapsed key": {func(t *testing.T, b *bench, store *ledger.Store) {
			mustClaim(t, store, order)
			b.clock.Add(time.Hour)
		}, 1, 2},
		"of an expired key": {func(t *testing.T, b *bench, store *ledger.Store) {
			must(t, mustClaim(t, store, order).Complete(t.Context(), 1))
			b.clock.Add(14 * 24 * time.Hour)
		}, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			store := b.store(t, ledger.Config{})
			tc.before(t, b, store)
			b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: tc.at + 1}) // given back once
			if sent := b.leave(t, tc.at, false, nothing, ledger.Config{}).sent; len(sent) != tc.at+1 {
				t.Errorf("%d requests, want %d", len(sent), tc.at+1)
			}
			r := mustGet(t, store, order.Key)
			if r.State != ledger.Failed || r.Attempts != tc.want-1 || r.LastError != errDeploy.Error() || !r.Lease.IsZero() {
				t.Errorf("record: %+v", r)
			}
			if c := mustClaim(t, store, order); c.Attempt != tc.want || c.Fence <= r.Fence {
				t.Errorf("then attempt %d, want %d; fence %d after %d", c.Attempt, tc.want, c.Fence, r.Fence)
			}
		})
	}
}

// A duplicate of the request that arrives after the key was given up does not
// take it again.
func TestAGivenUpClaimDoesNotComeBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	sent := b.leave(t, 1, false, nothing, ledger.Config{})
	if err := sent.deliver(t.Context(), sent.at(0)); err == nil {
		t.Error("the late duplicate took effect")
	}
	if c := mustClaim(t, b.store(t, ledger.Config{}), order); c.Attempt != 1 {
		t.Errorf("attempt %d", c.Attempt)
	}
}

// What another has taken, or has ended, is not given up, and nothing comes of
// a claim that never arrived.
func TestAClaimThatItsCallerLeftTakesNothingFromOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	sent := b.leave(t, 1, true, nothing, ledger.Config{})
	if row := b.row(t, order.Key); row != nil {
		t.Errorf("a row of nothing: %v", row)
	}
	// The request arrives after all: a claim that nobody holds, and that counts.
	must(t, sent.deliver(t.Context(), sent.at(0)))
	store := b.store(t, ledger.Config{Lease: time.Minute, MaxSkew: time.Second})
	wantBusy(t, store, order, time.Minute+time.Second)
	b.clock.Add(time.Minute + time.Second)

	var heir *ledger.Claim
	b.leave(t, 1, false, func() {
		b.clock.Add(time.Hour)
		heir = mustClaim(t, store, order)
	}, ledger.Config{Lease: time.Minute, MaxSkew: time.Second})
	if heir.Attempt != 3 {
		t.Errorf("attempt %d, want 3", heir.Attempt)
	}
	wantBusy(t, store, order, time.Minute+time.Second)
	must(t, heir.Complete(t.Context(), "heir"))
	wantDone(t, store, order, `"heir"`)
}

// The claim is answered just as the caller's context ends: no work begins under
// that context, and no attempt is spent.
func TestAClaimAnsweredAsItsContextEnds(t *testing.T) {
	t.Parallel()
	for name, tries := range map[string]int{"at once": 1, "at the second try of its request": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			if tries == 2 {
				b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: 1})
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			ctx, meter := dynamotest.WithMeter(ctx)
			b.db.Inject(dynamotest.Fault{Op: "UpdateItem", Nth: tries, Do: dynamotest.After(func() { cancel(errDeploy) })})
			store := b.store(t, ledger.Config{MaxAttempts: 1})
			_, err := ledger.Do(ctx, store, order, func(context.Context, *ledger.Claim) (int, error) {
				t.Error("the work began")
				return 0, nil
			})
			if !errors.Is(err, context.Canceled) || meter.Cost().Requests != tries+1 {
				t.Errorf("Do: %v after %v, want the claim and its return", err, meter.Cost())
			}
			if r := mustGet(t, store, order.Key); r.State != ledger.Failed || r.Attempts != 0 || r.LastError != errDeploy.Error() {
				t.Errorf("record: %+v", r)
			}
			if c := mustClaim(t, store, order); c.Attempt != 1 {
				t.Errorf("then attempt %d, want 1", c.Attempt)
			}
		})
	}
}

// A context that has ended before the claim sends nothing.
func TestAClaimOfACallerWhoHasGoneSendsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cost := b.db.Meter(func() {
		if c, err := store.Claim(ctx, order); c != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("Claim = %v, %v", c, err)
		}
	})
	cost.Want(t, dynamotest.Price{})
}

// Trouble that is not the caller's leaving costs no request more.
func TestOtherTroubleGivesNothingUp(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.db.Inject(dynamotest.Fault{Do: denied, Op: "UpdateItem"})
	if c, sent, err := claims(t, b.store(t, ledger.Config{}), order); c != nil || !isDenied(err) || sent != 1 {
		t.Errorf("Claim = %v, %v after %d requests", c, err, sent)
	}
}

// When DynamoDB does not answer, the claim stays a second after its context.
func TestALeftClaimDoesNotHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, store := newLine(t)
		l.cutBy(hang)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		_, err := store.Claim(ctx, order)
		if got := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || got != time.Minute+time.Second {
			t.Errorf("Claim: %v after %v", err, got)
		}
	})
}
