package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
)

func TestCompleteIsRepeatable(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
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
	_, store := opened(t, ledger.Config{})
	c := mustClaim(t, store, order)
	recordtest.WantBad(t, c.Fail(t.Context(), nil), "ledger", "cause")
	must(t, c.Fail(t.Context(), errCut))
	must(t, c.Fail(t.Context(), errCut))
	wantErr(t, "Fail for another reason", c.Fail(t.Context(), errors.New("else")), ledger.ErrLeaseLost)
	wantErr(t, "Fail for good", c.Fail(t.Context(), ledger.Permanent(errCut)), ledger.ErrLeaseLost)
	wantErr(t, "Complete after Fail", c.Complete(t.Context(), 1), ledger.ErrLeaseLost)
	wantErr(t, "Renew after Fail", c.Renew(t.Context()), ledger.ErrLeaseLost)
	mustClaim(t, store, order)
	wantErr(t, "Fail after the next claim", c.Fail(t.Context(), errCut), ledger.ErrLeaseLost)
}

// Each step loses its reply, then its request; the caller notices nothing.
func TestLostRepliesAndRequests(t *testing.T) {
	t.Parallel()
	for _, do := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest} {
		t.Run(do.String(), func(t *testing.T) {
			t.Parallel()
			b, store := opened(t, ledger.Config{Lease: time.Minute, MaxSkew: time.Second, Retention: 24 * time.Hour})
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

// The largest result beside the largest of everything else is not an item over
// 400 KB.
func TestLargestRow(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{MaxResult: 384 << 10})
	key, err := ledger.Key(strings.Repeat("x", 2048))
	must(t, err)
	c := mustClaim(t, store, ledger.Request{Key: key})
	must(t, c.Fail(t.Context(), errors.New(strings.Repeat("e", 1<<20))))
	c = mustClaim(t, store, ledger.Request{Key: key})
	must(t, c.Complete(t.Context(), strings.Repeat("r", 384<<10-2)))
}

// The bound holds for every kind of error, and what is stored in another form is
// known again after a lost reply.
func TestLastErrorIsCutBetweenRunes(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
	for name, tc := range map[string]struct{ text, want string }{
		"empty":         {"", ""},
		"exact":         {strings.Repeat("x", 512), strings.Repeat("x", 512)},
		"one over":      {strings.Repeat("x", 513), strings.Repeat("x", 512)},
		"inside a rune": {"x" + strings.Repeat("å", 256), "x" + strings.Repeat("å", 255)},
		"not UTF-8":     {"a\xffb", "a\uFFFDb"},
	} {
		plain := errors.New(tc.text)
		for i, why := range []error{plain, ledger.Permanent(plain), &ledger.PermanentError{Message: tc.text}} {
			req := ledger.Request{Key: fmt.Sprint(name, i)}
			c := mustClaim(t, store, req)
			must(t, c.Fail(t.Context(), why))
			must(t, c.Fail(t.Context(), why))
			if r := mustGet(t, store, req.Key); r.LastError != tc.want || (r.State == ledger.Refused) != (i > 0) {
				t.Errorf("%s: %s, %q, want %q", req.Key, r.State, r.LastError, tc.want)
			}
		}
	}
}

// A row deleted by hand and claimed again within the millisecond has the same
// fence; the nonce tells its holder.
func TestAClaimWhoseRowIsAnothersIsLost(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{})
	c := mustClaim(t, store, order)
	b.remove(t, order.Key)
	lost := func() {
		t.Helper()
		wantErr(t, "Complete", c.Complete(t.Context(), 1), ledger.ErrLeaseLost)
		wantErr(t, "Fail", c.Fail(t.Context(), errors.New("x")), ledger.ErrLeaseLost)
		wantErr(t, "Renew", c.Renew(t.Context()), ledger.ErrLeaseLost)
	}
	if lost(); b.row(t, order.Key) != nil {
		t.Error("a row came back")
	}
	if other := mustClaim(t, store, order); other.Fence != c.Fence {
		t.Fatalf("fences %d and %d: the test proves nothing", c.Fence, other.Fence)
	}
	lost()
}

// charge is an effect elsewhere that checks fences: a later fence wins, and
// one charge stands.
func (b *bench) charge(ctx context.Context, c *ledger.Claim) (int64, error) {
	_, err := b.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(b.table), Item: ddb.Item{"pk": item.S("charge"), "fence": item.N(c.Fence)},
		ConditionExpression:       aws.String("attribute_not_exists(fence) OR fence <= :f"),
		ExpressionAttributeValues: ddb.Item{":f": item.N(c.Fence)},
	})
	return c.Fence, err
}

// crashes are the steps after which a worker dies.
var crashes = map[string]struct {
	crash    func(*testing.T, *bench, *ledger.Store) *ledger.Claim // nil when it never heard of its claim
	blocks   bool
	attempts int64
}{
	"the claim's reply never came": {func(t *testing.T, b *bench, store *ledger.Store) *ledger.Claim {
		b.deaf(t, func() error { _, err := store.Claim(t.Context(), order); return err })
		return nil
	}, true, 2},
	"after the effect": {func(t *testing.T, b *bench, store *ledger.Store) *ledger.Claim {
		c := mustClaim(t, store, order)
		_, err := b.charge(t.Context(), c)
		must(t, err)
		return c
	}, true, 2},
	"Complete's reply never came": {func(t *testing.T, b *bench, store *ledger.Store) *ledger.Claim {
		c := mustClaim(t, store, order)
		fence, err := b.charge(t.Context(), c)
		must(t, err)
		b.deaf(t, func() error { return c.Complete(t.Context(), fence) })
		return c
	}, false, 1},
	"Fail's reply never came": {func(t *testing.T, b *bench, store *ledger.Store) *ledger.Claim {
		c := mustClaim(t, store, order)
		b.deaf(t, func() error { return c.Fail(t.Context(), errors.New("no connection")) })
		return c
	}, false, 2},
}

// A worker dies after each step of a delivery. The next delivery is told to
// wait, or is done; the one after lease and skew ends in one charge and one
// result, and the dead worker's late writes change neither.
func TestCrashAtEachStep(t *testing.T) {
	t.Parallel()
	for name, tc := range crashes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, store := opened(t, ledger.Config{Lease: time.Minute, MaxSkew: 5 * time.Second})
			dead := tc.crash(t, b, store)
			if tc.blocks {
				wantBusy(t, store, order, time.Minute+5*time.Second)
				b.clock.Add(time.Minute + 5*time.Second)
			}
			deliver := func() int64 {
				t.Helper()
				res, err := ledger.Do(t.Context(), store, order, b.charge)
				must(t, err)
				return res.Value
			}
			result := deliver()
			if dead != nil {
				_, charged := b.charge(t.Context(), dead)
				completed := dead.Complete(t.Context(), dead.Fence)
				if stale := dead.Fence != result; stale != (charged != nil) || stale != (completed != nil) {
					t.Errorf("the dead worker's writes: %v, %v", charged, completed)
				}
			}
			if again := deliver(); again != result {
				t.Errorf("two results: %d and %d", result, again)
			}
			if got := number(t, b.row(t, "charge"), "fence"); got != result {
				t.Errorf("charged under fence %d, the result says %d", got, result)
			}
			if r := mustGet(t, store, order.Key); r.Attempts != tc.attempts {
				t.Errorf("%d attempts, want %d", r.Attempts, tc.attempts)
			}
		})
	}
}

// A worker dies at each request of a DoTx whose first transaction is refused:
// the request is lost or its reply, and nothing it sends later arrives. The
// next delivery after lease and skew ends in one effect and one result.
func TestDoTxDiesAtEachRequest(t *testing.T) {
	t.Parallel()
	for _, do := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest} {
		for nth := 1; nth <= 4; nth++ { // the claim, two transactions, and a healthy delivery
			b, store := opened(t, ledger.Config{Lease: time.Minute, MaxSkew: 5 * time.Second})
			b.put(t, ddb.Item{"pk": item.S("seat 1")})
			sit := func(_ context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
				seat := fmt.Sprint("seat ", 1+min(1, len(c.Reasons())))
				return seat, []types.TransactWriteItem{b.add("effect"), b.insert(seat)}, nil
			}
			if nth < 4 {
				b.db.Inject(dynamotest.Fault{Do: do, Nth: nth})
				b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Nth: nth + 1, Times: -1})
			}
			res, err := ledger.DoTx(t.Context(), store, order, sit)
			if (err == nil) != (nth == 4) {
				t.Errorf("%v at request %d: %+v, %v", do, nth, res, err)
			}
			b.db.Heal()
			b.clock.Add(time.Minute + 5*time.Second)
			for range 2 {
				res, err := ledger.DoTx(t.Context(), store, order, sit)
				if err != nil || res.Value != "seat 2" {
					t.Errorf("%v at request %d, then: %+v, %v", do, nth, res, err)
				}
			}
			b.wantTimes(t, 1)
		}
	}
}

// deaf makes a call whose every reply is lost.
func (b *bench) deaf(t *testing.T, call func() error) {
	t.Helper()
	b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Times: -1})
	if call() == nil {
		t.Error("the call heard a reply")
	}
	b.db.Heal()
}
