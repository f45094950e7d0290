package ledger_test

import (
	"errors"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ledger"
)

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
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRevival(t, 5)
			r.between(func() { revive(t, r) })
			c, sent, err := claims(t, r.store, order)
			must(t, err)
			if c.Attempt != 2 || c.Fence <= r.old.Fence || sent != 3 {
				t.Errorf("attempt %d, want 2; fence %d after %d; %d requests", c.Attempt, c.Fence, r.old.Fence, sent)
			}
		})
	}
}

// What stands after the revival is answered as it is.
func TestARowRevivedUnderAClaimAnswers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		revive func(*testing.T, *revival)
		want   func(error) bool
	}{
		"attempts spent": {
			func(t *testing.T, r *revival) { r.deliver(t); r.deliver(t) },
			func(err error) bool { return errors.Is(err, ledger.ErrTooManyAttempts) },
		},
		"held": {
			func(t *testing.T, r *revival) { mustClaim(t, r.store, order) },
			func(err error) bool {
				busy, ok := errors.AsType[*ledger.InProgressError](err)
				return ok && busy.Wait == time.Minute+time.Second
			},
		},
		"refused": {
			func(t *testing.T, r *revival) { must(t, r.old.Fail(t.Context(), ledger.Permanent(errors.New("late")))) },
			func(err error) bool { _, ok := errors.AsType[*ledger.PermanentError](err); return ok },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRevival(t, 2)
			r.between(func() { tc.revive(t, r) })
			if c, sent, err := claims(t, r.store, order); c != nil || !tc.want(err) || sent != 2 {
				t.Errorf("Claim = %v, %v after %d requests", c, err, sent)
			}
		})
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
