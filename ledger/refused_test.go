package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/ledger"
)

// The work is called again with what was refused, under the same claim, and
// its other actions take effect.
func TestDoTxCallsTheWorkAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w, store := b.wired(t, ledger.Config{})
	b.put(t, ddb.Item{"pk": item.S("seat 1"), "by": item.S("bo")})
	b.put(t, ddb.Item{"pk": item.S("seat 2"), "by": item.S("cleo")})
	var fences []int64
	res, err := ledger.DoTx(t.Context(), store, order, func(_ context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
		fences = append(fences, c.Fence)
		reasons := c.Reasons()
		switch len(fences) {
		case 1:
			if reasons != nil {
				t.Errorf("reasons before the first transaction: %v", reasons)
			}
			return "1 and 2", []types.TransactWriteItem{b.add("effect"), b.insert("seat 1"), b.insert("seat 2")}, nil
		case 2:
			if len(reasons) != 3 || codes(reasons) != "None ConditionalCheckFailed ConditionalCheckFailed" ||
				item.Text(reasons[1].Item, "by") != "bo" || item.Text(reasons[2].Item, "by") != "cleo" {
				t.Errorf("reasons: %+v", reasons)
			}
			reasons[1].Code = aws.String("None") // the caller's own
			if codes(c.Reasons()[1:2]) != "ConditionalCheckFailed" {
				t.Error("what the caller changes shows")
			}
			return "2", []types.TransactWriteItem{b.add("effect"), b.insert("seat 2")}, nil
		}
		if codes(reasons) != "None ConditionalCheckFailed" {
			t.Errorf("reasons: %+v", reasons)
		}
		return "3", []types.TransactWriteItem{b.add("effect"), b.insert("seat 3")}, nil
	})
	wantResult(t, res, err, ledger.Result[string]{Value: "3"})
	b.wantTimes(t, 1)
	if len(fences) != 3 || fences[2] != fences[0] {
		t.Errorf("fences: %v", fences)
	}
	if a, b := *w.sent[0].ClientRequestToken, *w.sent[1].ClientRequestToken; a == b {
		t.Error("two transactions have one token")
	}
	wantDone(t, store, order, `"3"`)
}

func codes(reasons []types.CancellationReason) string {
	all := make([]string, len(reasons))
	for i, reason := range reasons {
		all[i] = aws.ToString(reason.Code)
	}
	return strings.Join(all, " ")
}

// After 15 calls more it is an error, and the key is given up.
func TestDoTxWhoseActionsAreRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, refusedForEver)
}

func refusedForEver(t *testing.T) {
	b := newOwnBench(t)
	w, store := b.wired(t, ledger.Config{})
	b.put(t, ddb.Item{"pk": item.S("seat 1")})
	calls, began := 0, time.Now()
	res, err := ledger.DoTx(t.Context(), store, order, func(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error) {
		calls++
		return "1", []types.TransactWriteItem{b.add("effect"), b.insert("seat 1")}, nil
	})
	if paused := time.Since(began); paused < time.Second || paused > 10500*time.Millisecond {
		t.Errorf("15 pauses took %v", paused)
	}
	var refused *ledger.ItemError
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &refused) || refused.Index != 1 || refused.Code != "ConditionalCheckFailed" || !errors.As(err, &cancelled) || res != (ledger.Result[string]{}) {
		t.Errorf("DoTx = %+v, %v", res, err)
	}
	if calls != 16 || len(w.sent) != 16 {
		t.Errorf("%d calls, %d transactions, want 16", calls, len(w.sent))
	}
	b.wantTimes(t, 0)
	if r := mustGet(t, store, order.Key); r.State != ledger.Failed || r.Attempts != 1 || r.LastError != err.Error() ||
		!strings.HasPrefix(err.Error(), "ledger: DoTx on table "+b.table+": action 1 of the work: ConditionalCheckFailed") {
		t.Errorf("record: %+v", r)
	}
}

// What fails for another reason than its condition fails again: the work is
// not called for it.
func TestDoTxWhoseActionsFail(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		codes [3]string // of the completion and two actions
		index int       // of the action at fault; -1 is the completion's own
		calls int
	}{
		"an action":              {[3]string{"None", "None", "ItemCollectionSizeLimitExceeded"}, 1, 1},
		"beside a refused one":   {[3]string{"None", "ConditionalCheckFailed", "ValidationError"}, 0, 1},
		"refused and throttled":  {[3]string{"None", "ConditionalCheckFailed", "ThrottlingError"}, 0, 16},
		"the completion":         {[3]string{"ThrottlingError", "None", "None"}, -1, 1},
		"another is in the way":  {[3]string{"None", "TransactionConflict", "None"}, 0, 1},
		"the row, for ever":      {[3]string{"TransactionConflict", "None", "None"}, -1, 1},
		"no reason for anything": {[3]string{"None", "None", "None"}, -1, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newOwnBench(t)
			w, store := b.wired(t, ledger.Config{})
			w.pass = func(context.Context, *dynamodb.TransactWriteItemsInput, transactions) (*dynamodb.TransactWriteItemsOutput, error) {
				return nil, cancelledBy(tc.codes[:]...)
			}
			calls := 0
			_, err := ledger.DoTx(t.Context(), store, order, func(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error) {
				calls++
				return "1", []types.TransactWriteItem{b.add("effect"), b.add("other")}, nil
			})
			var refused *ledger.ItemError
			if errors.As(err, &refused) != (tc.index >= 0) || refused != nil && (refused.Index != tc.index || refused.Code != tc.codes[tc.index+1]) {
				t.Errorf("%s: %v (%+v)", name, err, refused)
			}
			if r := mustGet(t, store, order.Key); calls != tc.calls || r.State != ledger.Failed {
				t.Errorf("%s: %d calls, then %s", name, calls, r.State)
			}
		})
	}
}

// A transaction that was refused arrives once more, when its condition holds:
// at most one of the tries takes effect, and its result is the answer.
func TestDoTxWhoseEarlierTransactionComesLate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w, store := b.wired(t, ledger.Config{})
	b.put(t, ddb.Item{"pk": item.S("seat 1")})
	calls := 0
	res, err := ledger.DoTx(t.Context(), store, order, func(_ context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
		calls++
		if calls == 2 { // the SDK sent the first twice, and the network kept one
			b.remove(t, "seat 1")
			_, err := b.client.TransactWriteItems(t.Context(), w.sent[0])
			must(t, err)
		}
		return fmt.Sprint(calls), []types.TransactWriteItem{b.add("effect"), b.insert(fmt.Sprint("seat ", calls))}, nil
	})
	wantResult(t, res, err, ledger.Result[string]{Value: "1"})
	b.wantTimes(t, 1)
	if b.row(t, "seat 2") != nil {
		t.Error("both transactions took effect")
	}
	wantDone(t, store, order, `"1"`)
}

// The same, and the work returns no actions when it is called again, or an error.
func TestDoTxWhoseEarlierTransactionComesLateForTheLastCall(t *testing.T) {
	t.Parallel()
	for name, failed := range map[string]error{"a result": nil, "an error": errCut, "a permanent error": ledger.Permanent(errCut)} {
		b := newBench(t)
		w, store := b.wired(t, ledger.Config{})
		b.put(t, ddb.Item{"pk": item.S("seat 1")})
		calls := 0
		res, err := ledger.DoTx(t.Context(), store, order, func(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error) {
			if calls++; calls == 1 {
				return "1", []types.TransactWriteItem{b.add("effect"), b.insert("seat 1")}, nil
			}
			b.remove(t, "seat 1")
			_, err := b.client.TransactWriteItems(t.Context(), w.sent[0])
			must(t, err)
			return "none", nil, failed
		})
		if res != (ledger.Result[string]{Value: "1"}) || err != nil {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
		b.wantTimes(t, 1)
		wantDone(t, store, order, `"1"`)
	}
}

// The same, of work that made a CompleteItem of the result, and may have sent it:
// nobody knows whose transaction arrived, and the error claims neither.
func TestDoTxWhoseLateTransactionMayBeTheWorksOwn(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][2]string{"the same result": {"1", "1"}, "another": {"1", "2"}} {
		for _, last := range []bool{false, true} {
			b := newBench(t)
			w, store := b.wired(t, ledger.Config{})
			b.put(t, ddb.Item{"pk": item.S("seat 1")})
			calls := 0
			res, err := ledger.DoTx(t.Context(), store, order, func(_ context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
				calls++
				_, err := c.CompleteItem(values[0]) // never sent
				must(t, err)
				if calls == 2 {
					b.remove(t, "seat 1")
					_, err := b.client.TransactWriteItems(t.Context(), w.sent[0])
					must(t, err)
					if last && values[0] != values[1] {
						return values[1], nil, nil
					}
				}
				return values[calls-1], []types.TransactWriteItem{b.add("effect"), b.insert("seat 1")}, nil
			})
			wantErr(t, name, err, event.ErrUnknownOutcome)
			if res != (ledger.Result[string]{}) || strings.Contains(err.Error(), "not written") {
				t.Errorf("%s: %+v, %v", name, res, err)
			}
			b.wantTimes(t, 1)
		}
	}
}

// The same, and the claim hears of it before the work ends.
func TestDoTxHearsOfItsLateTransaction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w, store := b.wired(t, ledger.Config{})
	b.put(t, ddb.Item{"pk": item.S("seat 1")})
	calls := 0
	res, err := ledger.DoTx(t.Context(), store, order, func(_ context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
		calls++
		if calls == 2 {
			b.remove(t, "seat 1")
			_, err := b.client.TransactWriteItems(t.Context(), w.sent[0])
			must(t, err)
			var done *ledger.DoneError
			if err := c.Renew(t.Context()); !errors.As(err, &done) { // as the heartbeat does
				t.Errorf("Renew: %v", err)
			}
		}
		return fmt.Sprint(calls), []types.TransactWriteItem{b.add("effect"), b.insert(fmt.Sprint("seat ", calls))}, nil
	})
	wantResult(t, res, err, ledger.Result[string]{Value: "1"})
	b.wantTimes(t, 1)
}

// A lease of which less than a third is left is renewed before the transaction
// is sent, and no other is.
func TestDoTxRenewsBeforeItsTransaction(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		after time.Duration
		want  string
	}{
		"a third is left":   {40 * time.Second, "[update transaction]"},
		"less than a third": {40*time.Second + time.Millisecond, "[update update transaction]"},
	} {
		b := newBench(t)
		w, store := b.wired(t, ledger.Config{Lease: time.Minute})
		p := &paying{b: b, next: func(*ledger.Claim) error { b.clock.Add(tc.after); return nil }}
		res, err := ledger.DoTx(t.Context(), store, order, p.work)
		wantResult(t, res, err, ledger.Result[string]{Value: "paid"})
		if got := fmt.Sprint(w.ops); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// Somebody took over meanwhile: the renewal tells, and no transaction is sent.
func TestDoTxLosesItsLeaseBeforeTheTransaction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w, store := b.wired(t, ledger.Config{Lease: time.Minute})
	p := &paying{b: b, next: func(*ledger.Claim) error {
		b.clock.Add(time.Hour)
		mustClaim(t, b.store(t, ledger.Config{}), order)
		return nil
	}}
	_, err := ledger.DoTx(t.Context(), store, order, p.work)
	wantErr(t, "DoTx", err, ledger.ErrLeaseLost)
	if got := fmt.Sprint(w.ops); got != "[update update]" {
		t.Errorf("sent: %s, want a claim and a renewal", got)
	}
}

// No renewal goes out while the transaction is under way: the two would meet.
func TestDoTxIsQuietWhileItsTransactionIsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, store := newLineBy(t, ledger.Config{Lease: 6 * time.Second})
		l.db.Inject(dynamotest.Fault{Do: dynamotest.Delay(4 * time.Second), Op: "TransactWriteItems"})
		began := time.Now()
		_, err := ledger.DoTx(t.Context(), store, order, func(ctx context.Context, _ *ledger.Claim) (string, []types.TransactWriteItem, error) {
			time.Sleep(5 * time.Second)
			return "paid", []types.TransactWriteItem{(&bench{table: "ledger"}).add("effect")}, ctx.Err()
		})
		must(t, err)
		if got := l.since(began); got != "[0s 2s 4s]" {
			t.Errorf("updates were sent at %s", got)
		}
	})
}

// The transaction is sent although the caller has gone, for the work is done.
func TestDoTxAfterItsCallerHasGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	p := &paying{b: b, next: func(*ledger.Claim) error { cancel(); return nil }}
	res, err := ledger.DoTx(ctx, store, order, p.work)
	wantResult(t, res, err, ledger.Result[string]{Value: "paid"})
	b.wantTimes(t, 1)

	ctx, cancel = context.WithCancel(t.Context())
	p = &paying{b: b, next: func(*ledger.Claim) error { cancel(); return ctx.Err() }}
	_, err = ledger.DoTx(ctx, store, ledger.Request{Key: "left"}, p.work)
	wantErr(t, "DoTx", err, context.Canceled)
	if r := mustGet(t, store, "left"); r.State != ledger.Failed || r.Attempts != 0 {
		t.Errorf("record: %+v", r)
	}
}

func TestDoTxOnceAmongMany(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{MaxAttempts: 100})
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			p := &paying{b: b}
			res, err := ledger.DoTx(t.Context(), store, order, p.work)
			var busy *ledger.InProgressError
			if !errors.As(err, &busy) && (err != nil || res.Value != "paid") {
				t.Errorf("DoTx = %+v, %v", res, err)
			}
		})
	}
	wg.Wait()
	b.wantTimes(t, 1)
}
