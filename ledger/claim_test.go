package ledger_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
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
		b, store := opened(t, ledger.Config{MaxAttempts: 2, Retention: 24 * time.Hour})
		old := mustClaim(t, store, order)
		leave(t, old)
		row := b.row(t, order.Key)
		row["notes"], row["attempts"] = item.S("of another system"), item.N(2)
		b.put(t, row)

		other := ledger.Request{Key: order.Key, Payload: []byte("another")}
		b.clock.Add(24*time.Hour - time.Second)
		_, err := store.Claim(t.Context(), other)
		wantErr(t, name+", a second early", err, ledger.ErrFingerprintMismatch)

		b.clock.Add(time.Second)
		if _, ok, err := store.Get(t.Context(), order.Key); ok || err != nil {
			t.Errorf("%s: Get of an expired row = %v, %v", name, ok, err)
		}
		c := mustClaim(t, store, other)
		if c.Attempt != 1 || c.Fence <= old.Fence {
			t.Errorf("%s: claimed anew with attempt %d, fence %d after %d", name, c.Attempt, c.Fence, old.Fence)
		}
		r := mustGet(t, store, order.Key)
		if r.Result != nil || r.LastError != "" || !r.SeenAt.Equal(b.clock.Now()) {
			t.Errorf("%s: something of the old life is left: %+v", name, r)
		}
		if notes := b.row(t, order.Key)["notes"]; notes != nil {
			t.Errorf("%s: the old notes are left: %v", name, notes)
		}
		wantErr(t, name+", the old claim", old.Complete(t.Context(), "old"), ledger.ErrLeaseLost)
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
	_, err = b.client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: &b.table})
	must(t, err)
	for what, call := range map[string]func() error{
		"MarkSeen": func() error { _, err := missing.MarkSeen(t.Context(), "k"); return err },
		"Claim":    func() error { _, err := missing.Claim(t.Context(), order); return err },
		"Get":      func() error { _, _, err := missing.Get(t.Context(), "k"); return err },
		"Erase":    func() error { return missing.Erase(t.Context(), "k") },
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
	err := ledger.Permanent(errCut)
	if !errors.Is(err, errCut) || ledger.Permanent(err) != err || ledger.Permanent(nil) != nil {
		t.Errorf("the cause is lost or wrapped twice: %v", err)
	}
}

// The state decides. A lease that stands on what is not claimed, as somebody
// may have put it there, neither opens a key nor keeps it.
func TestALeaseOfWhatIsNotClaimedDecidesNothing(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{MaxAttempts: 2})
	for _, tc := range []struct {
		state    ledger.State
		attempts int64
		lease    time.Duration
		want     func(error) bool
	}{
		{ledger.Done, 1, -time.Hour, isDone},
		{ledger.Refused, 1, -time.Hour, isPermanent},
		{ledger.Failed, 1, time.Hour, func(err error) bool { return err == nil }},
		{ledger.Failed, 2, time.Hour, func(err error) bool { return errors.Is(err, ledger.ErrTooManyAttempts) }},
	} {
		b.put(t, ddb.Item{
			"pk": item.S(order.Key), "claim": item.S("x"), "state": item.S(string(tc.state)), "fence": item.N(1), "attempts": item.N(tc.attempts),
			"fingerprint": item.B(orderHash), "lease": item.N(b.clock.Now().Add(tc.lease).UnixMilli()),
		})
		if _, err := store.Claim(t.Context(), order); !tc.want(err) {
			t.Errorf("%s after %d attempts: %v", tc.state, tc.attempts, err)
		}
	}
}

func isDone(err error) bool {
	_, ok := errors.AsType[*ledger.DoneError](err)
	return ok
}

// A claim takes effect and loses its reply, and before it is sent again
// somebody ends the key by hand: it is not granted, though the nonce is its own.
func TestAnOwnClaimThatWasEndedByHand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.meanwhile("UpdateItem", func() {
		row := b.row(t, order.Key)
		row["state"] = item.S("done")
		b.put(t, row)
	})
	if c, err := b.store(t, ledger.Config{}).Claim(t.Context(), order); c != nil || !isDone(err) {
		t.Errorf("Claim = %v, %v", c, err)
	}
}

// What was refused for good stays so, even if Fail has the same text.
func TestFailingForGood(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
	declined := errors.New("declined")
	c := mustClaim(t, store, order)
	must(t, c.Fail(t.Context(), ledger.Permanent(declined)))
	for name, err := range map[string]error{
		"Fail": c.Fail(t.Context(), declined), "Complete": c.Complete(t.Context(), 1), "Renew": c.Renew(t.Context()),
	} {
		if !isPermanent(err) || err.Error() != "declined" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A renewal took effect and was never answered, and then the clock is set back:
// the lease that stands is the one that holds.
func TestRenewalLearnsOfTheLeaseThatStands(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := mustClaim(t, b.store(t, ledger.Config{Lease: time.Minute}), order)
	b.clock.Add(30 * time.Second)
	b.deaf(t, func() error { return c.Renew(t.Context()) })
	stands := b.clock.Now().Add(time.Minute)
	b.clock.Add(-10 * time.Second)
	must(t, c.Renew(t.Context()))
	if got := c.LeaseUntil(); !got.Equal(stands) {
		t.Errorf("lease until %v, want %v", got, stands)
	}
}

// Renewals may be answered in any order: the later lease stands.
func TestARenewalThatIsAnsweredAfterALaterOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := mustClaim(t, b.store(t, ledger.Config{Lease: time.Minute}), order)
	b.db.Inject(dynamotest.Fault{Op: "UpdateItem", Do: dynamotest.After(func() {
		b.clock.Add(10 * time.Second)
		must(t, c.Renew(t.Context()))
	})})
	must(t, c.Renew(t.Context()))
	if got, want := c.LeaseUntil(), b.clock.Now().Add(time.Minute); !got.Equal(want) {
		t.Errorf("lease until %v, want %v", got, want)
	}
}

// A key that was claimed is claimed again, and refused, by the same rules when
// somebody took its expiresAt away.
func TestAClaimedRowThatNeverExpires(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{})
	bare := func() {
		row := b.row(t, order.Key)
		delete(row, "expiresAt")
		b.put(t, row)
		wantMark(t, store, order.Key, event.Duplicate)
	}
	c := mustClaim(t, store, order)
	bare()
	if _, sent, err := claims(t, store, order); !isBusy(err) || sent != 1 {
		t.Errorf("Claim: %v after %d requests", err, sent)
	}
	must(t, c.Fail(t.Context(), errCut))
	bare()
	if c, sent, err := claims(t, store, order); err != nil || c.Attempt != 2 || sent != 1 {
		t.Errorf("Claim = %+v, %v after %d requests", c, err, sent)
	}
}
