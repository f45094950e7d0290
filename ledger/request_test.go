package ledger_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
)

// A claim of its own lease and retention keeps to them in all that it writes.
func TestTheTermsOfARequest(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{Lease: time.Minute, Retention: 24 * time.Hour, MaxSkew: 10 * time.Second})
	ends := map[string]func(*ledger.Claim) error{
		"claimed":  func(*ledger.Claim) error { return nil },
		"renewed":  func(c *ledger.Claim) error { return c.Renew(t.Context()) },
		"failed":   func(c *ledger.Claim) error { return c.Fail(t.Context(), errCut) },
		"refused":  func(c *ledger.Claim) error { return c.Fail(t.Context(), ledger.Permanent(errCut)) },
		"released": func(c *ledger.Claim) error { return c.Release(t.Context()) },
		"done":     func(c *ledger.Claim) error { return c.Complete(t.Context(), 1) },
	}
	for name, end := range ends {
		req := ledger.Request{Key: name, Lease: time.Hour, Retention: 100 * 24 * time.Hour}
		c := mustClaim(t, store, req)
		if name != "claimed" {
			b.clock.Add(2 * time.Hour) // the lease has lapsed, and nobody took it over
		}
		must(t, end(c))
		now := b.clock.Now()
		row := b.row(t, name)
		if got, want := number(t, row, "expiresAt"), now.Add(req.Retention+time.Hour).Unix(); got != want {
			t.Errorf("%s: expires %d s from when it must", name, got-want)
		}
		if name == "claimed" || name == "renewed" {
			if got, want := number(t, row, "lease"), now.Add(time.Hour).UnixMilli(); got != want || c.LeaseUntil().UnixMilli() != want {
				t.Errorf("%s: the lease ends %d ms from when it must", name, got-want)
			}
			wantBusy(t, store, ledger.Request{Key: name}, time.Hour+10*time.Second)
		}
	}
	b.clock.Add(24 * time.Hour) // over an expired row
	mustClaim(t, store, ledger.Request{Key: "anew"})
	b.clock.Add(24 * time.Hour)
	mustClaim(t, store, ledger.Request{Key: "anew", Lease: 2 * time.Second, Retention: 13 * time.Second})
	wantBusy(t, store, ledger.Request{Key: "anew"}, 12*time.Second)
	b.clock.Add(13 * time.Second)
	if _, ok, err := store.Get(t.Context(), "anew"); ok || err != nil {
		t.Errorf("a row of a short retention stands: %v", err)
	}
}

// The heart beats by the lease of the request, shorter or longer than Config's.
func TestTheHeartbeatOfARequest(t *testing.T) {
	t.Parallel()
	for lease, want := range map[time.Duration]string{
		3 * time.Second: "[0s 1s 2s]",
		time.Hour:       "[0s 20m0s 40m0s]",
	} {
		synctest.Test(t, func(t *testing.T) {
			l, store := newLine(t)
			began := time.Now()
			_, err := ledger.Do(t.Context(), store, ledger.Request{Key: "k", Lease: lease}, func(context.Context, *ledger.Claim) (int, error) {
				time.Sleep(lease - time.Millisecond)
				if got := l.since(began); got != want {
					t.Errorf("sent at %s, want %s", got, want)
				}
				return 0, nil
			})
			must(t, err)
		})
	}
}

func TestRequestsThatCannotBe(t *testing.T) {
	t.Parallel()
	store, err := ledger.New(recordtest.Silent(t), "ledger", &ledger.Config{Lease: time.Minute, MaxSkew: 10 * time.Second, Retention: time.Hour})
	must(t, err)
	for name, tc := range map[string]struct {
		req   ledger.Request
		field string
	}{
		"a lease beyond the row":    {ledger.Request{Key: "k", Lease: time.Hour - 10*time.Second + 1}, "Request.Lease"},
		"a negative retention":      {ledger.Request{Key: "k", Retention: -1}, "Request.Retention"},
		"retention under the lease": {ledger.Request{Key: "k", Retention: 70*time.Second - 1}, "Request.Retention"},
		"a negative wait":           {ledger.Request{Key: "k", WaitUpTo: -1}, "Request.WaitUpTo"},
	} {
		_, err := store.Claim(t.Context(), tc.req)
		recordtest.WantBad(t, err, "ledger", tc.field, name)
		_, err = ledger.Do(t.Context(), store, tc.req, func(context.Context, *ledger.Claim) (int, error) { return 0, nil })
		recordtest.WantBad(t, err, "ledger", tc.field, "Do, "+name)
	}
	_, err = store.Claim(t.Context(), ledger.Request{Key: "k", Lease: 2 * time.Hour})
	if want := "ledger: Request.Lease does not fit: the row is kept for 1h0m0s, and must be kept for the lease of 2h0m0s and the skew of 10s together"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	late, err := ledger.New(recordtest.Silent(t), "ledger", &ledger.Config{Now: recordtest.Clock(time.Date(9800, 1, 1, 0, 0, 0, 0, time.UTC))})
	must(t, err)
	_, err = late.Claim(t.Context(), ledger.Request{Key: "k", Retention: math.MaxInt64})
	recordtest.WantBad(t, err, "ledger", "Request.Retention", "beyond 9999")

	b := newBench(t)
	short := b.store(t, ledger.Config{Lease: time.Minute, MaxSkew: 10 * time.Second, Retention: time.Hour})
	mustClaim(t, short, ledger.Request{Key: "longest lease", Lease: time.Hour - 10*time.Second})
	mustClaim(t, short, ledger.Request{Key: "shortest", Lease: time.Second, Retention: 11 * time.Second})
}

// Only a live row that has ended with the same payload is believed; all else
// the claim decides.
func TestReadFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	plain := b.store(t, ledger.Config{Retention: 24 * time.Hour, MaxAttempts: 2})
	req := func(key string) ledger.Request { return ledger.Request{Key: key, Payload: []byte("paid")} }
	other := func(key string) ledger.Request { return ledger.Request{Key: key, Payload: []byte("other")} }
	must(t, mustClaim(t, plain, req("expired")).Complete(t.Context(), "old"))
	b.clock.Add(24 * time.Hour)
	must(t, mustClaim(t, plain, req("done")).Complete(t.Context(), "result"))
	must(t, mustClaim(t, plain, req("refused")).Fail(t.Context(), ledger.Permanent(errCut)))
	must(t, mustClaim(t, plain, req("failed")).Fail(t.Context(), errCut))
	mustClaim(t, plain, req("claimed"))
	wantMark(t, plain, "marked", event.Created)
	b.put(t, ddb.Item{"pk": item.S("bad"), "state": item.S("paused"), "claim": item.S("x")})

	for name, tc := range map[string]struct {
		req  ledger.Request
		sent int // updates
		want func(error) bool
	}{
		"done":          {req("done"), 0, isDone},
		"refused":       {req("refused"), 0, isPermanent},
		"done, another": {other("done"), 1, func(err error) bool { return errors.Is(err, ledger.ErrFingerprintMismatch) }},
		"claimed":       {req("claimed"), 1, isBusy},
		"marked":        {req("marked"), 1, isDone},
		"unreadable": {req("bad"), 0, func(err error) bool {
			return isTrouble(err) && strings.HasPrefix(err.Error(), "ledger: Claim on table ")
		}},
		"expired": {req("expired"), 2, func(err error) bool { return err == nil }},
	} {
		store := b.store(t, ledger.Config{Retention: 24 * time.Hour})
		tc.req.ReadFirst = true
		var err error
		cost := b.db.Meter(func() { _, err = store.Claim(t.Context(), tc.req) })
		if !tc.want(err) || cost.ByOp["GetItem"] != 1 || cost.RCU != 0.5 || cost.ByOp["UpdateItem"] != tc.sent {
			t.Errorf("%s: %v after %v; want half an RCU and %d updates", name, err, cost, tc.sent)
		}
	}
}

func isBusy(err error) bool {
	_, busy := errors.AsType[*ledger.InProgressError](err)
	return busy
}

func isPermanent(err error) bool {
	_, permanent := errors.AsType[*ledger.PermanentError](err)
	return permanent
}

// A waiting caller asks at 50 ms, then after twice as long each time up to 2 s,
// and a last time when its wait is over.
func TestWaitUpTo(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{
		0:                      "[0s]",
		time.Nanosecond:        "[0s 1ns]",
		151 * time.Millisecond: "[0s 50ms 150ms 151ms]",
		9 * time.Second:        "[0s 50ms 150ms 350ms 750ms 1.55s 3.15s 5.15s 7.15s 9s]",
	} {
		synctest.Test(t, func(t *testing.T) {
			l, store := newLineBy(t, ledger.Config{Lease: time.Minute})
			mustClaim(t, store, ledger.Request{Key: "k"})
			l.sent = nil
			began := time.Now()
			_, err := store.Claim(t.Context(), ledger.Request{Key: "k", WaitUpTo: wait})
			if got := l.since(began); !isBusy(err) || got != want || time.Since(began) != wait || l.reads != max(0, len(l.sent)-2) {
				t.Errorf("%v: %v after %v, sent at %s, want %s", wait, err, time.Since(began), got, want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // as documented of a minute
		l, store := newLineBy(t, ledger.Config{Lease: time.Hour})
		mustClaim(t, store, ledger.Request{Key: "k"})
		l.sent = nil
		_, err := store.Claim(t.Context(), ledger.Request{Key: "k", WaitUpTo: time.Minute})
		if !isBusy(err) || len(l.sent) != 36 || l.reads != 34 {
			t.Errorf("%v after %d requests, %d of them reads", err, len(l.sent), l.reads)
		}
	})
}

func TestWaitUpToTheAnswer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		end  func(*testing.T, *ledger.Claim)
		want string
		ran  bool
		sent int // updates
	}{
		"completed": {func(t *testing.T, c *ledger.Claim) { must(t, c.Complete(t.Context(), "first")) }, "first", false, 4},
		"released":  {func(t *testing.T, c *ledger.Claim) { must(t, c.Release(t.Context())) }, "second", true, 5},
		"crashed":   {func(*testing.T, *ledger.Claim) {}, "second", true, 4},
	} {
		synctest.Test(t, func(t *testing.T) {
			l, store := newLineBy(t, ledger.Config{Lease: 3 * time.Second})
			c := mustClaim(t, store, ledger.Request{Key: "k"})
			time.AfterFunc(time.Second, func() { tc.end(t, c) })
			ran := false
			began := time.Now()
			res, err := ledger.Do(t.Context(), store, ledger.Request{Key: "k", WaitUpTo: time.Minute}, func(context.Context, *ledger.Claim) (string, error) {
				ran = true
				return "second", nil
			})
			if err != nil || res.Value != tc.want || ran != tc.ran || res.Replayed == ran {
				t.Errorf("%s: %+v, %v", name, res, err)
			}
			if took := time.Since(began); took > 10*time.Second || len(l.sent)-l.reads != tc.sent {
				t.Errorf("%s: waited for %v, with %d updates", name, took, len(l.sent)-l.reads)
			}
		})
	}
}

func TestWaitUpToTheEndOfTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, store := newLine(t)
		mustClaim(t, store, ledger.Request{Key: "k"})
		l.sent = nil
		ctx, cancel := context.WithTimeout(t.Context(), 1700*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := store.Claim(ctx, ledger.Request{Key: "k", WaitUpTo: time.Hour})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 1700*time.Millisecond || len(l.sent) != 6 {
			t.Errorf("%v after %v and %s", err, time.Since(began), l.since(began))
		}
	})
}
