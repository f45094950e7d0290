package ledger_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/ledger"
)

// between runs the next of its steps between an update's effect and its reply.
type between struct {
	ledger.API
	steps []func()
	sent  int
}

func (b *between) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	out, err := b.API.UpdateItem(ctx, in, opts...)
	if b.sent++; b.sent <= len(b.steps) {
		b.steps[b.sent-1]()
	}
	return out, err
}

// revival is a key whose row has expired and still stands, the worker that
// claimed it, and a store between whose requests things happen.
type revival struct {
	*bench
	peer  *ledger.Store // another worker's, undisturbed
	old   *ledger.Claim
	steps *between
	store *ledger.Store
}

func newRevival(t *testing.T, attempts int) *revival {
	t.Helper()
	r := &revival{bench: newBench(t)}
	cfg := ledger.Config{Lease: time.Minute, MaxSkew: time.Second, Retention: 24 * time.Hour, MaxAttempts: attempts, Now: r.clock.Now}
	r.peer = r.bench.store(t, cfg)
	r.old = mustClaim(t, r.peer, order)
	r.clock.Add(24 * time.Hour)
	r.steps = &between{API: r.client}
	var err error
	r.store, err = ledger.New(r.steps, r.table, &cfg)
	must(t, err)
	return r
}

// deliver is another delivery, whose work fails.
func (r *revival) deliver(t *testing.T) {
	t.Helper()
	must(t, mustClaim(t, r.peer, order).Fail(t.Context(), errors.New("no connection")))
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
			mustClaim(t, r.peer, order)
			r.clock.Add(time.Minute + time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRevival(t, 5)
			r.steps.steps = []func(){func() { revive(t, r) }}
			if c := mustClaim(t, r.store, order); c.Attempt != 2 || c.Fence <= r.old.Fence {
				t.Errorf("attempt %d, want 2; fence %d after %d", c.Attempt, c.Fence, r.old.Fence)
			}
			if r.steps.sent != 3 {
				t.Errorf("%d requests, want 3", r.steps.sent)
			}
		})
	}
}

// What stands after the revival is answered as it is.
func TestARowRevivedUnderAClaimAnswers(t *testing.T) {
	t.Parallel()
	other := ledger.Request{Key: order.Key, Payload: []byte("another")}
	for name, tc := range map[string]struct {
		revive func(*testing.T, *revival)
		want   func(error) bool
	}{
		"attempts spent": {
			func(t *testing.T, r *revival) { r.deliver(t); r.deliver(t) },
			func(err error) bool { return errors.Is(err, ledger.ErrTooManyAttempts) },
		},
		"held": {
			func(t *testing.T, r *revival) { mustClaim(t, r.peer, order) },
			func(err error) bool {
				busy, ok := errors.AsType[*ledger.InProgressError](err)
				return ok && busy.Wait == time.Minute+time.Second
			},
		},
		"done": {
			func(t *testing.T, r *revival) { must(t, mustClaim(t, r.peer, order).Complete(t.Context(), 1)) },
			func(err error) bool { _, ok := errors.AsType[*ledger.DoneError](err); return ok },
		},
		"refused": {
			func(t *testing.T, r *revival) { must(t, r.old.Fail(t.Context(), ledger.Permanent(errors.New("late")))) },
			func(err error) bool { _, ok := errors.AsType[*ledger.PermanentError](err); return ok },
		},
		"another payload, failed": {
			func(t *testing.T, r *revival) {
				must(t, mustClaim(t, r.peer, other).Fail(t.Context(), errors.New("no connection")))
			},
			func(err error) bool { return errors.Is(err, ledger.ErrFingerprintMismatch) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRevival(t, 2)
			r.steps.steps = []func(){func() { tc.revive(t, r) }}
			if c, err := r.store.Claim(t.Context(), order); c != nil || !tc.want(err) || r.steps.sent != 2 {
				t.Errorf("Claim = %v, %v after %d requests", c, err, r.steps.sent)
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
	r.steps.steps = []func(){revive(t, r), expire(r), revive(t, r)}
	if c := mustClaim(t, r.store, order); c.Attempt != 2 || r.steps.sent != 5 {
		t.Errorf("revived twice: attempt %d after %d requests", c.Attempt, r.steps.sent)
	}

	r = newRevival(t, 5)
	r.steps.steps = []func(){revive(t, r), expire(r)}
	if c := mustClaim(t, r.store, order); c.Attempt != 1 || r.steps.sent != 4 {
		t.Errorf("revived, then expired: attempt %d after %d requests", c.Attempt, r.steps.sent)
	}

	r = newRevival(t, 5)
	r.steps.steps = []func(){revive(t, r), expire(r), revive(t, r), expire(r), func() {}}
	c, err := r.store.Claim(t.Context(), order)
	if c != nil || !isTrouble(err) || errors.Is(err, ledger.ErrTooManyAttempts) || r.steps.sent != 5 {
		t.Errorf("changing on: %v, %v after %d requests", c, err, r.steps.sent)
	}
}
