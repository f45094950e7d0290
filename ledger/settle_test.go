package ledger_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/ddb"
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

// A renewal that was under way longer than the next one must not shorten the
// lease: the holder counts on the later.
func TestLateRenewalDoesNotShortenTheLease(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tape := &tape{API: b.client}
	store, err := ledger.New(tape, b.table, &ledger.Config{Now: b.clock.Now, Lease: time.Minute, MaxSkew: time.Second})
	must(t, err)
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

	b.clock.Add(-10 * time.Second) // a clock set back is the same from the other side
	must(t, c.Renew(t.Context()))
	if want := b.clock.Now().Add(70 * time.Second); !c.LeaseUntil().Equal(want) {
		t.Errorf("lease until %v, want %v", c.LeaseUntil(), want)
	}
}

// Two renewals at once, answered in the other order: the later lease stands.
func TestRenewalsAnsweredInTheOtherOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	slow := &slowReply{API: b.client}
	store, err := ledger.New(slow, b.table, &ledger.Config{Now: b.clock.Now, Lease: time.Minute})
	must(t, err)
	c := mustClaim(t, store, order)
	b.clock.Add(time.Second)
	slow.meanwhile = func() {
		b.clock.Add(time.Second)
		must(t, c.Renew(t.Context()))
	}
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
	tape := &tape{API: b.client}
	store, err := ledger.New(tape, b.table, &ledger.Config{Now: b.clock.Now})
	must(t, err)
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
	b := newBench(t)
	tape := &tape{API: b.client}
	store, err := ledger.New(tape, b.table, &ledger.Config{Now: b.clock.Now, Lease: time.Minute, MaxSkew: time.Second})
	must(t, err)
	stale := mustClaim(t, store, order)
	late := tape.last()
	b.clock.Add(time.Hour)
	must(t, mustClaim(t, store, order).Fail(t.Context(), errors.New("no connection")))
	must(t, tape.deliver(t.Context(), late))
	wantErr(t, "Renew", stale.Renew(t.Context()), ledger.ErrLeaseLost)
	wantErr(t, "Fail", stale.Fail(t.Context(), errors.New("stale")), ledger.ErrLeaseLost)
	wantErr(t, "Complete", stale.Complete(t.Context(), "stale"), ledger.ErrLeaseLost)
	must(t, mustClaim(t, store, order).Complete(t.Context(), "fresh")) // its lease is long over
}

// Each step loses its reply, then its request; the caller notices nothing.
func TestLostRepliesAndRequests(t *testing.T) {
	t.Parallel()
	for _, do := range []dynamotest.Disturbance{dynamotest.LoseReply, dynamotest.LoseRequest} {
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
		"too long": "123456789",
		"no JSON":  math.NaN(),
	} {
		wantBadInput(t, name, c.Complete(t.Context(), result), "result")
		_, err := c.CompleteItem(result)
		wantBadInput(t, name+", CompleteItem", err, "result")
	}
	must(t, c.Renew(t.Context())) // still held
	must(t, c.Complete(t.Context(), "12345678"))
	wantDone(t, store, order, `"12345678"`)
}

// The largest result beside the largest of everything else is no item over
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
	wantBadInput(t, "Fail(nil)", c.Fail(t.Context(), nil), "cause")
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

// book writes the effect, a row beside the ledger's, and the completion in one
// transaction.
func (b *bench) book(t *testing.T, c *ledger.Claim, result any) error {
	t.Helper()
	done, err := c.CompleteItem(result)
	must(t, err)
	effect := types.TransactWriteItem{Put: &types.Put{
		TableName: aws.String(b.table), Item: ddb.Item{"pk": s("effect"), "fence": n(c.Fence)},
		ConditionExpression: aws.String("attribute_not_exists(pk)"),
	}}
	_, err = b.client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{done, effect}})
	return err
}

func TestCompleteItemJoinsATransaction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{Lease: time.Minute, MaxSkew: time.Second})
	dead := mustClaim(t, store, order)
	b.clock.Add(time.Hour)
	heir := mustClaim(t, store, order)

	err := b.book(t, dead, "dead")
	if reasons, ok := ddb.Cancelled(err); !ok || !ddb.ConditionFailed(reasons[0]) {
		t.Fatalf("transaction of the dead: %v", err)
	}
	if b.row(t, "effect") != nil {
		t.Error("the effect of a lost lease is there")
	}
	must(t, b.book(t, heir, "heir"))
	if b.row(t, "effect") == nil {
		t.Error("the effect is missing")
	}
	wantDone(t, store, order, `"heir"`)
	must(t, heir.Complete(t.Context(), "heir"))
}

// When the effect cannot be written the key is not done either.
func TestCompleteItemIsUndoneWithItsTransaction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
	b.put(t, ddb.Item{"pk": s("effect")})
	c := mustClaim(t, store, order)
	if err := b.book(t, c, "x"); err == nil {
		t.Fatal("the transaction went through")
	}
	must(t, c.Fail(t.Context(), errors.New("taken")))
	if r := mustGet(t, store, order.Key); r.State != ledger.Failed || r.Result != nil {
		t.Errorf("record: %+v", r)
	}
}
