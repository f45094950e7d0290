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
	req := order
	req.Retention = time.Hour
	if c, err := store.Claim(ctx, req); c != nil || !errors.Is(err, context.Canceled) {
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
		b, store := opened(t, ledger.Config{})
		tc.before(t, b, store)
		b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: tc.at + 1}) // given back once
		sent := b.leave(t, tc.at, false, nothing, ledger.Config{})
		if n := len(sent.sent); n != tc.at+1 || sent.deliver(t.Context(), sent.at(tc.at-1)) == nil {
			t.Errorf("%s: %d requests, want %d, or a late duplicate took effect", name, n, tc.at+1)
		}
		r := mustGet(t, store, order.Key)
		if r.State != ledger.Failed || r.Attempts != tc.want-1 || r.LastError != errDeploy.Error() || !r.Lease.IsZero() ||
			!r.ExpiresAt.Equal(b.clock.Now().Add(time.Hour)) {
			t.Errorf("%s: %+v", name, r)
		}
		if c := mustClaim(t, store, order); c.Attempt != tc.want || c.Fence <= r.Fence {
			t.Errorf("%s: then attempt %d, want %d; fence %d after %d", name, c.Attempt, tc.want, c.Fence, r.Fence)
		}
	}
}

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

// between runs the next of the steps between an update's effect and its reply.
func (b *bench) between(steps ...func()) {
	b.db.Inject(dynamotest.Fault{Op: "UpdateItem", Do: dynamotest.After(func() {
		steps[0]()
		if len(steps) > 1 {
			b.between(steps[1:]...)
		}
	})})
}

// meanwhile loses the reply of the next request of the operation, and calls f before
// the request is sent again.
func (b *bench) meanwhile(op string, f func()) {
	b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: op})
	b.db.Inject(dynamotest.Fault{Do: dynamotest.After(f), Op: op})
}

// claims claims the key, and returns the number of requests that this took.
func claims(t *testing.T, store *ledger.Store, req ledger.Request) (*ledger.Claim, int, error) {
	t.Helper()
	ctx, meter := dynamotest.WithMeter(t.Context())
	c, err := store.Claim(ctx, req)
	return c, meter.Cost().Requests, err
}

// revival is a key whose row has expired and still stands, the worker that
// claimed it, and a store between whose requests things happen.
type revival struct {
	*bench
	old   *ledger.Claim
	store *ledger.Store
}

func newRevival(t *testing.T, attempts int) *revival {
	t.Helper()
	r := &revival{bench: newBench(t)}
	cfg := ledger.Config{Lease: time.Minute, MaxSkew: time.Second, Retention: 24 * time.Hour, MaxAttempts: attempts, Now: r.clock.Now}
	r.store = r.bench.store(t, cfg)
	r.old = mustClaim(t, r.store, order)
	r.clock.Add(24 * time.Hour)
	return r
}

// deliver is another delivery, whose work fails.
func (r *revival) deliver(t *testing.T) {
	t.Helper()
	must(t, mustClaim(t, r.store, order).Fail(t.Context(), errors.New("no connection")))
}

// A claim finds that the row has expired, and before its second request
// somebody revives the row and gives the key up again: it can be claimed, and
// its attempts are not spent.
func TestARowRevivedUnderAClaimIsClaimed(t *testing.T) {
	t.Parallel()
	for name, revive := range map[string]func(*testing.T, *revival){
		"another delivery fails": func(t *testing.T, r *revival) { r.deliver(t) },
		"the old holder fails":   func(t *testing.T, r *revival) { must(t, r.old.Fail(t.Context(), errors.New("late"))) },
		"another delivery's lease lapses": func(t *testing.T, r *revival) {
			mustClaim(t, r.store, order)
			r.clock.Add(time.Minute + time.Second)
		},
	} {
		r := newRevival(t, 5)
		r.between(func() { revive(t, r) })
		if c, sent, err := claims(t, r.store, order); err != nil || c.Attempt != 2 || c.Fence <= r.old.Fence || sent != 3 {
			t.Errorf("%s: %+v, %v after %d requests", name, c, err, sent)
		}
	}
}

// The row goes on changing between the requests. The claim follows it twice,
// and then says so: never that the attempts are spent, which they are not.
func TestARowThatGoesOnChangingUnderAClaim(t *testing.T) {
	t.Parallel()
	expire := func(r *revival) func() { return func() { r.clock.Add(24 * time.Hour) } }
	revive := func(t *testing.T, r *revival) func() { return func() { r.deliver(t) } }

	r := newRevival(t, 5)
	r.between(revive(t, r), expire(r), revive(t, r))
	if c, sent, err := claims(t, r.store, order); err != nil || c.Attempt != 2 || sent != 5 {
		t.Errorf("revived twice: %+v, %v after %d requests", c, err, sent)
	}

	r = newRevival(t, 5)
	r.between(revive(t, r), expire(r))
	if c, sent, err := claims(t, r.store, order); err != nil || c.Attempt != 1 || sent != 4 {
		t.Errorf("revived, then expired: %+v, %v after %d requests", c, err, sent)
	}

	r = newRevival(t, 5)
	r.between(revive(t, r), expire(r), revive(t, r), expire(r))
	c, sent, err := claims(t, r.store, order)
	if c != nil || !isTrouble(err) || errors.Is(err, ledger.ErrTooManyAttempts) || sent != 5 {
		t.Errorf("changing on: %v, %v after %d requests", c, err, sent)
	}
}
