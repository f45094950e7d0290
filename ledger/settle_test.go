package ledger_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
)

func TestCompleteIsRepeatable(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
	c := mustClaim(t, store, order)
	must(t, c.Complete(t.Context(), "one"))
	must(t, c.Complete(t.Context(), "one"))
	var done *ledger.DoneError
	if err := c.Complete(t.Context(), "two"); !errors.As(err, &done) || string(done.Record.Result) != `"one"` {
		t.Errorf("another result: %v", err)
	}
	if err := c.Fail(t.Context(), errors.New("too late")); !errors.As(err, &done) {
		t.Errorf("Fail when done: %v", err)
	}
	if err := c.Renew(t.Context()); !errors.As(err, &done) {
		t.Errorf("Renew when done: %v", err)
	}
	wantDone(t, store, order, `"one"`)
}

func TestFailIsRepeatable(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
	c := mustClaim(t, store, order)
	why := errors.New("no connection")
	must(t, c.Fail(t.Context(), why))
	must(t, c.Fail(t.Context(), why))
	wantErr(t, "Fail for another reason", c.Fail(t.Context(), errors.New("else")), ledger.ErrLeaseLost)
	wantErr(t, "Complete after Fail", c.Complete(t.Context(), 1), ledger.ErrLeaseLost)
	wantErr(t, "Renew after Fail", c.Renew(t.Context()), ledger.ErrLeaseLost)
	next := mustClaim(t, store, order)
	wantErr(t, "Fail after the next claim", c.Fail(t.Context(), why), ledger.ErrLeaseLost)
	must(t, next.Complete(t.Context(), 1))
}

func TestPermanentIsStoredAndReplayed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
	c := mustClaim(t, store, order)
	declined := errors.New("card declined")
	must(t, c.Fail(t.Context(), ledger.Permanent(declined)))
	must(t, c.Fail(t.Context(), ledger.Permanent(declined)))
	for what, call := range map[string]func() error{
		"Claim":    func() error { _, err := store.Claim(t.Context(), order); return err },
		"Complete": func() error { return c.Complete(t.Context(), 1) },
		"Renew":    func() error { return c.Renew(t.Context()) },
	} {
		var permanent *ledger.PermanentError
		if err := call(); !errors.As(err, &permanent) || permanent.Message != "card declined" {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestPermanent(t *testing.T) {
	t.Parallel()
	if err := ledger.Permanent(nil); err != nil {
		t.Errorf("Permanent(nil) = %v", err)
	}
	declined := errors.New("card declined")
	err := ledger.Permanent(declined)
	if !errors.Is(err, declined) || ledger.Permanent(err) != err {
		t.Errorf("the cause is lost or wrapped twice: %v", err)
	}
}

func TestRenewMovesLeaseAndExpiry(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{Lease: time.Minute, Retention: time.Minute + time.Second, MaxSkew: time.Second})
	c := mustClaim(t, store, order)
	for range 5 {
		b.clock.Add(50 * time.Second)
		must(t, c.Renew(t.Context()))
		if want := b.clock.Now().Add(time.Minute); !c.LeaseUntil().Equal(want) {
			t.Errorf("lease until %v, want %v", c.LeaseUntil(), want)
		}
		wantBusy(t, store, order, time.Minute+time.Second)
	}
	b.clock.Add(time.Hour) // lapsed, and nobody took it over
	must(t, c.Renew(t.Context()))
	wantBusy(t, store, order, time.Minute+time.Second)
}

// Each step loses its reply, then its request; the caller notices nothing.
func TestLostRepliesAndRequests(t *testing.T) {
	t.Parallel()
	for _, do := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest} {
		t.Run(do.String(), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			store := b.store(t, ledger.Config{Lease: time.Minute, MaxSkew: time.Second, Retention: 24 * time.Hour})
			lose := func() { b.db.Inject(dynamotest.Fault{Do: do, Op: "UpdateItem"}) }
			lose()
			c := mustClaim(t, store, order)
			if c.Attempt != 1 {
				t.Errorf("Claim: attempt %d, want 1", c.Attempt)
			}
			b.clock.Add(10 * time.Second)
			lose()
			must(t, c.Renew(t.Context()))
			wantBusy(t, store, order, time.Minute+time.Second)
			lose()
			must(t, c.Fail(t.Context(), errors.New("no connection")))
			lose()
			c = mustClaim(t, store, order)
			if c.Attempt != 2 {
				t.Errorf("Claim of a failed key: attempt %d, want 2", c.Attempt)
			}
			lose()
			must(t, c.Complete(t.Context(), "paid"))
			wantDone(t, store, order, `"paid"`)

			b.clock.Add(24 * time.Hour) // expired: the second request of Claim
			b.db.Inject(dynamotest.Fault{Do: do, Op: "UpdateItem", Nth: 2})
			c = mustClaim(t, store, order)
			if c.Attempt != 1 {
				t.Errorf("Claim of an expired key: attempt %d, want 1", c.Attempt)
			}
			lose()
			must(t, c.Fail(t.Context(), ledger.Permanent(errors.New("declined"))))
		})
	}
}

func TestResultBounds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{MaxResult: 10})
	c := mustClaim(t, store, order)
	for name, result := range map[string]any{
		"too long":  "123456789",
		"no JSON":   math.NaN(),
		"not UTF-8": json.RawMessage("\"a\xff\""),
	} {
		recordtest.WantBad(t, c.Complete(t.Context(), result), "ledger", "result", name)
		_, err := c.CompleteItem(result)
		recordtest.WantBad(t, err, "ledger", "result", name+", CompleteItem")
	}
	must(t, c.Renew(t.Context())) // still held
	must(t, c.Complete(t.Context(), "12345678"))
	wantDone(t, store, order, `"12345678"`)
}

// The largest result beside the largest of everything else is not an item over
// 400 KB.
func TestLargestRow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{MaxResult: 384 << 10})
	key, err := ledger.Key(strings.Repeat("x", 2048))
	must(t, err)
	c := mustClaim(t, store, ledger.Request{Key: key})
	must(t, c.Fail(t.Context(), errors.New(strings.Repeat("e", 1<<20))))
	c = mustClaim(t, store, ledger.Request{Key: key})
	must(t, c.Complete(t.Context(), strings.Repeat("r", 384<<10-2)))
}

func TestLastErrorIsCutBetweenRunes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
	for name, tc := range map[string]struct{ text, want string }{
		"short":          {"no connection", "no connection"},
		"empty":          {"", ""},
		"exact":          {strings.Repeat("x", 512), strings.Repeat("x", 512)},
		"one over":       {strings.Repeat("x", 513), strings.Repeat("x", 512)},
		"inside a rune":  {"x" + strings.Repeat("å", 256), "x" + strings.Repeat("å", 255)},
		"inside an icon": {strings.Repeat("x", 510) + "🧾", strings.Repeat("x", 510)},
		"not UTF-8":      {"a\xffb", "a\uFFFDb"},
	} {
		for _, permanent := range []bool{false, true} {
			req := ledger.Request{Key: name}
			if permanent {
				req.Key += ", for good"
			}
			c, why := mustClaim(t, store, req), errors.New(tc.text)
			if permanent {
				why = ledger.Permanent(why)
			}
			must(t, c.Fail(t.Context(), why))
			got := mustGet(t, store, req.Key).LastError
			if got != tc.want || !utf8.ValidString(got) || len(got) > 512 {
				t.Errorf("%s: %q, want %q", req.Key, got, tc.want)
			}
		}
	}
}

// The bound holds also for an error that did not pass through Permanent.
func TestAPermanentErrorOfTheCallersIsCut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
	c := mustClaim(t, store, order)
	long := &ledger.PermanentError{Message: strings.Repeat("x", 9000)}
	for range 2 { // the second as after a lost reply
		must(t, c.Fail(t.Context(), long))
	}
	if got := mustGet(t, store, order.Key); got.State != ledger.Refused || got.LastError != long.Message[:512] {
		t.Errorf("%s, an error of %d bytes", got.State, len(got.LastError))
	}
}

func TestFailNeedsACause(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := mustClaim(t, b.store(t, ledger.Config{}), order)
	recordtest.WantBad(t, c.Fail(t.Context(), nil), "ledger", "cause")
}

func TestAClaimWhoseRowIsGoneIsLost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := mustClaim(t, b.store(t, ledger.Config{}), order)
	b.remove(t, order.Key)
	wantErr(t, "Complete", c.Complete(t.Context(), 1), ledger.ErrLeaseLost)
	wantErr(t, "Fail", c.Fail(t.Context(), errors.New("x")), ledger.ErrLeaseLost)
	wantErr(t, "Renew", c.Renew(t.Context()), ledger.ErrLeaseLost)
	if row := b.row(t, order.Key); row != nil {
		t.Errorf("a row came back: %v", row)
	}
}

// A row deleted by hand and claimed again within the millisecond has the same
// fence; the nonce tells its holder.
func TestAClaimWhoseRowIsAnothersIsLost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
	c := mustClaim(t, store, order)
	b.remove(t, order.Key)
	if other := mustClaim(t, store, order); other.Fence != c.Fence {
		t.Fatalf("fences %d and %d: the test proves nothing", c.Fence, other.Fence)
	}
	wantErr(t, "Complete", c.Complete(t.Context(), 1), ledger.ErrLeaseLost)
	wantErr(t, "Fail", c.Fail(t.Context(), errors.New("x")), ledger.ErrLeaseLost)
	wantErr(t, "Renew", c.Renew(t.Context()), ledger.ErrLeaseLost)
}

func TestEveryWriteExtendsTheRetention(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{Retention: 24 * time.Hour})
	var c *ledger.Claim
	for what, call := range map[string]func() error{ // in any order
		"Renew":    func() error { return c.Renew(t.Context()) },
		"Complete": func() error { return c.Complete(t.Context(), 1) },
		"Fail":     func() error { return c.Fail(t.Context(), errors.New("x")) },
		"refused":  func() error { return c.Fail(t.Context(), ledger.Permanent(errors.New("x"))) },
	} {
		c = mustClaim(t, store, ledger.Request{Key: what})
		b.clock.Add(time.Hour)
		must(t, call())
		if got, want := mustGet(t, store, what).ExpiresAt, b.clock.Now().Add(24*time.Hour); !got.Equal(want) {
			t.Errorf("%s: expires at %v, want %v", what, got, want)
		}
	}
}
