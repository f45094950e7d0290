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
	sent, store := b.taped(t, cfg)
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
			b, store := opened(t, ledger.Config{})
			tc.before(t, b, store)
			b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: tc.at + 1}) // given back once
			sent := b.leave(t, tc.at, false, nothing, ledger.Config{})
			if n := len(sent.sent); n != tc.at+1 || sent.deliver(t.Context(), sent.at(tc.at-1)) == nil {
				t.Errorf("%d requests, want %d, or a late duplicate took effect", n, tc.at+1)
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

// What another has taken, or has ended, is not given up, and nothing comes of
// a claim that never arrived.
func TestAClaimThatItsCallerLeftTakesNothingFromOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.leave(t, 1, true, nothing, ledger.Config{})
	if row := b.row(t, order.Key); row != nil {
		t.Errorf("a row of nothing: %v", row)
	}
	store := b.store(t, ledger.Config{Lease: time.Minute, MaxSkew: time.Second})
	b.leave(t, 1, false, func() {
		b.clock.Add(time.Hour)
		mustClaim(t, store, order)
	}, ledger.Config{Lease: time.Minute, MaxSkew: time.Second})
	wantBusy(t, store, order, time.Minute+time.Second)
}

// The claim is answered just as the caller's context ends: no work begins under
// that context, and no attempt is spent.
func TestAClaimAnsweredAsItsContextEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	ctx, meter := dynamotest.WithMeter(ctx)
	b.between(func() { cancel(errDeploy) })
	store := b.store(t, ledger.Config{MaxAttempts: 1})
	_, err := ledger.Do(ctx, store, order, func(context.Context, *ledger.Claim) (int, error) {
		t.Error("the work began")
		return 0, nil
	})
	if !errors.Is(err, context.Canceled) || meter.Cost().Requests != 2 {
		t.Errorf("Do: %v after %v, want the claim and its return", err, meter.Cost())
	}
	_, err = store.Claim(ctx, order) // and under a context that has ended nothing is sent
	if wantErr(t, "Claim", err, context.Canceled); meter.Cost().Requests != 2 {
		t.Errorf("sent: %v", meter.Cost())
	}
	if r := mustGet(t, store, order.Key); r.State != ledger.Failed || r.Attempts != 0 || r.LastError != errDeploy.Error() {
		t.Errorf("record: %+v", r)
	}
}

// When DynamoDB does not answer, Claim and Resume stay a second after their context.
func TestWhatItsCallerLeftDoesNotHang(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(context.Context, *ledger.Store, string) (*ledger.Claim, error){
		"Claim": func(ctx context.Context, s *ledger.Store, _ string) (*ledger.Claim, error) {
			return s.Claim(ctx, ledger.Request{Key: "k"})
		},
		"Resume": func(ctx context.Context, s *ledger.Store, token string) (*ledger.Claim, error) {
			return s.Resume(ctx, token)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			l, store := newLine(t)
			token := mustClaim(t, store, order).Token()
			l.cutBy(hang)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			began := time.Now()
			_, err := call(ctx, store, token)
			if got := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || got != time.Minute+time.Second {
				t.Errorf("%s: %v after %v", name, err, got)
			}
		})
	}
}
