package ledger_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/ledger"
)

var order = ledger.Request{Key: "ALOWARE:719285063", Payload: []byte(`{"amount":12}`)}

func mustClaim(t *testing.T, store *ledger.Store, req ledger.Request) *ledger.Claim {
	t.Helper()
	c, err := store.Claim(t.Context(), req)
	if err != nil {
		t.Fatalf("Claim: %v", err)
	}
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func mustGet(t *testing.T, store *ledger.Store, key string) ledger.Record {
	t.Helper()
	r, ok, err := store.Get(t.Context(), key)
	if err != nil || !ok {
		t.Fatalf("Get = %v, %v", ok, err)
	}
	return r
}

// wantBusy fails unless the key is held for so long at the latest.
func wantBusy(t *testing.T, store *ledger.Store, req ledger.Request, wait time.Duration) {
	t.Helper()
	c, err := store.Claim(t.Context(), req)
	var busy *ledger.InProgressError
	if c != nil || !errors.As(err, &busy) || busy.Wait != wait {
		t.Errorf("Claim = %v, %v, want in progress for %v", c, err, wait)
	}
}

// wantDone fails unless the key is done with the result.
func wantDone(t *testing.T, store *ledger.Store, req ledger.Request, result string) {
	t.Helper()
	c, err := store.Claim(t.Context(), req)
	var done *ledger.DoneError
	if c != nil || !errors.As(err, &done) || string(done.Record.Result) != result {
		t.Errorf("Claim = %v, %v, want done with %q", c, err, result)
	}
}

func wantErr(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got %v, want %v", what, err, want)
	}
}

func TestClaimGrants(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{Lease: time.Minute, MaxSkew: 5 * time.Second})
	if r, ok, err := store.Get(t.Context(), order.Key); ok || err != nil || r.Key != "" {
		t.Errorf("unknown: %+v, %v, %v", r, ok, err)
	}
	c := mustClaim(t, store, order)
	now := b.clock.Now()
	if c.Key != order.Key || c.Attempt != 1 || c.Fence != now.UnixMilli()+1 || !c.LeaseUntil().Equal(now.Add(time.Minute)) {
		t.Errorf("claim: key %s, attempt %d, fence %d, lease %v", c.Key, c.Attempt, c.Fence, c.LeaseUntil())
	}
	wantBusy(t, store, order, time.Minute+5*time.Second)
	wantMark(t, store, order.Key, event.Duplicate)
}

// Wait is exact: a moment before it the key is held, at its end it is free.
func TestTakeoverAfterLeaseAndSkew(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{Lease: time.Minute, MaxSkew: 5 * time.Second})
	dead := mustClaim(t, store, order)
	b.clock.Add(time.Minute + 5*time.Second - time.Millisecond)
	wantBusy(t, store, order, time.Millisecond)
	b.clock.Add(time.Millisecond)
	heir := mustClaim(t, store, order)
	if heir.Attempt != 2 || heir.Fence <= dead.Fence {
		t.Errorf("taken over with attempt %d, fence %d after %d", heir.Attempt, heir.Fence, dead.Fence)
	}
	wantErr(t, "Complete of the dead", dead.Complete(t.Context(), "late"), ledger.ErrLeaseLost)
	wantErr(t, "Fail of the dead", dead.Fail(t.Context(), errors.New("late")), ledger.ErrLeaseLost)
	wantErr(t, "Renew of the dead", dead.Renew(t.Context()), ledger.ErrLeaseLost)
	must(t, heir.Complete(t.Context(), "in time"))
	wantDone(t, store, order, `"in time"`)
	wantErr(t, "Complete of the dead, after", dead.Complete(t.Context(), "late"), ledger.ErrLeaseLost)
}

// Within the declared skew no clock takes over a lease that its holder's
// clock still counts on.
func TestSkewedClocks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	cfg := ledger.Config{Lease: time.Minute, MaxSkew: 5 * time.Second}
	behind := b.store(t, cfg)
	cfg.Now = func() time.Time { return b.clock.Now().Add(5 * time.Second) }
	ahead := b.store(t, cfg)
	c := mustClaim(t, behind, order)
	b.clock.Add(time.Minute - time.Millisecond) // the holder has a millisecond left
	wantBusy(t, ahead, order, time.Millisecond)
	must(t, c.Complete(t.Context(), "mine"))
}

// Crashes count as attempts, so that an event that kills its worker ends.
func TestCrashesCountAsAttempts(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{MaxAttempts: 2, Lease: time.Minute, MaxSkew: time.Second})
	for range 2 {
		mustClaim(t, store, order)
		wantBusy(t, store, order, time.Minute+time.Second)
		b.clock.Add(time.Minute + time.Second)
	}
	_, err := store.Claim(t.Context(), order)
	wantErr(t, "third claim", err, ledger.ErrTooManyAttempts)
	if got, want := err.Error(), "ledger: too many attempts"; got != want { // nobody gave up, so nobody said why
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{Lease: time.Minute, MaxSkew: time.Second})
	other := ledger.Request{Key: order.Key, Payload: []byte(`{"amount":13}`)}
	refuses := func(when string) {
		t.Helper()
		c, err := store.Claim(t.Context(), other)
		if c != nil || !errors.Is(err, ledger.ErrFingerprintMismatch) {
			t.Errorf("%s: another payload got %v, %v", when, c, err)
		}
	}
	c := mustClaim(t, store, order)
	refuses("claimed")
	must(t, c.Fail(t.Context(), errors.New("try again")))
	refuses("failed")
	mustClaim(t, store, order)
	b.clock.Add(time.Hour)
	refuses("lapsed")
	must(t, mustClaim(t, store, order).Complete(t.Context(), 1))
	refuses("done")
	wantDone(t, store, order, "1")

	empty := ledger.Request{Key: "empty"}
	must(t, mustClaim(t, store, empty).Complete(t.Context(), 1))
	wantDone(t, store, empty, "1")
}

// Once a row has expired, deleted or not, its key begins anew: any payload,
// the first attempt, nothing of the old result; the fence goes on rising.
func TestExpiredRowsAreClaimedAnew(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*testing.T, *ledger.Claim){
		"done":    func(t *testing.T, c *ledger.Claim) { must(t, c.Complete(t.Context(), "old")) },
		"refused": func(t *testing.T, c *ledger.Claim) { must(t, c.Fail(t.Context(), ledger.Permanent(errors.New("old")))) },
		"claimed": func(*testing.T, *ledger.Claim) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, store := opened(t, ledger.Config{MaxAttempts: 1, Retention: 24 * time.Hour})
			old := mustClaim(t, store, order)
			leave(t, old)

			other := ledger.Request{Key: order.Key, Payload: []byte("another")}
			b.clock.Add(24*time.Hour - time.Second)
			_, err := store.Claim(t.Context(), other)
			wantErr(t, "a second early", err, ledger.ErrFingerprintMismatch)

			b.clock.Add(time.Second)
			if _, ok, err := store.Get(t.Context(), order.Key); ok || err != nil {
				t.Errorf("Get of an expired row = %v, %v", ok, err)
			}
			c := mustClaim(t, store, other)
			if c.Attempt != 1 || c.Fence <= old.Fence {
				t.Errorf("claimed anew with attempt %d, fence %d after %d", c.Attempt, c.Fence, old.Fence)
			}
			r := mustGet(t, store, order.Key)
			if r.Result != nil || r.LastError != "" || !r.SeenAt.Equal(b.clock.Now()) {
				t.Errorf("something of the old life is left: %+v", r)
			}
			wantErr(t, "the old claim", old.Complete(t.Context(), "old"), ledger.ErrLeaseLost)
		})
	}
}

// TTL deletes the expired row between the two requests of Claim.
func TestClaimFollowsTheRow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(t, ddb.Item{"pk": item.S(order.Key), "expiresAt": item.N(b.clock.Now().Unix())})
	b.between(func() { b.remove(t, order.Key) })
	if c, sent, err := claims(t, b.store(t, ledger.Config{}), order); err != nil || c.Attempt != 1 || sent != 3 {
		t.Errorf("Claim = %+v, %v after %d requests", c, err, sent)
	}
}

func TestTroubleIsNamedAndStaysReachable(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{})
	c := mustClaim(t, store, order)
	missing, err := ledger.New(b.client, "no-such-table", nil)
	must(t, err)
	b.dropTable(t)
	for what, call := range map[string]func() error{
		"MarkSeen": func() error { _, err := missing.MarkSeen(t.Context(), "k"); return err },
		"Claim":    func() error { _, err := missing.Claim(t.Context(), order); return err },
		"Get":      func() error { _, _, err := missing.Get(t.Context(), "k"); return err },
		"Complete": func() error { return c.Complete(t.Context(), 1) },
		"Fail":     func() error { return c.Fail(t.Context(), errors.New("x")) },
		"Renew":    func() error { return c.Renew(t.Context()) },
	} {
		err := call()
		if !ddb.Missing(err) || errors.Is(err, event.ErrUnknownOutcome) || !strings.HasPrefix(err.Error(), "ledger: "+what+" on table ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Answers carry no keys and no results: they end up in logs.
func TestErrorsAsText(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"ledger: in progress: another worker holds the key for 30s, or longer if it renews its lease": &ledger.InProgressError{Wait: 30 * time.Second},
		"ledger: the key is already done": &ledger.DoneError{Record: ledger.Record{Key: "k", Result: []byte(`"secret"`)}},
		"card declined":                   ledger.Permanent(errors.New("card declined")),
	} {
		if got := err.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
