package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
	synctest.Test(t, func(t *testing.T) {
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
	})
}

// What fails for another reason than its condition fails again: the work is not
// called for it. An attempt that a busy DynamoDB ended does not count.
func TestDoTxWhoseActionsFail(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err      error // the reasons of the completion and two actions
		index    int   // of the action at fault; -1 is the completion's own
		calls    int
		attempts int64
		told     bool // whether the work's last call has Reasons
	}{
		{cancelledBy("None", "None", "ItemCollectionSizeLimitExceeded"), 1, 1, 1, false},
		{cancelledBy("None", "ConditionalCheckFailed", "ValidationError"), 0, 1, 1, false},
		{cancelledBy("None", "ConditionalCheckFailed", "ThrottlingError"), 0, 16, 1, true},
		{cancelledBy("None", "ConditionalCheckFailed", "TransactionConflict"), 0, 1, 0, false},
		{cancelledBy("None", "ThrottlingError", "None"), 0, 16, 0, false},
		{cancelledBy("ProvisionedThroughputExceeded", "None", "None"), -1, 1, 0, false},
		{cancelledBy("TransactionConflict", "None", "None"), -1, 1, 0, false},
		{cancelledBy("None", "None", "None"), -1, 1, 1, false},
		{&types.RequestLimitExceeded{}, -1, 1, 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newOwnBench(t)
			w, store := b.wired(t, ledger.Config{})
			w.pass = func(context.Context, *dynamodb.TransactWriteItemsInput, transactions) (*dynamodb.TransactWriteItemsOutput, error) {
				return nil, tc.err
			}
			calls, told := 0, false
			_, err := ledger.DoTx(t.Context(), store, order, func(_ context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
				calls++
				told = c.Reasons() != nil
				return "1", []types.TransactWriteItem{b.add("effect"), b.add("other")}, nil
			})
			var refused *ledger.ItemError
			if err == nil || errors.As(err, &refused) != (tc.index >= 0) || refused != nil && refused.Index != tc.index {
				t.Errorf("%v: %v (%+v)", tc.err, err, refused)
			}
			if r := mustGet(t, store, order.Key); calls != tc.calls || r.State != ledger.Failed || r.Attempts != tc.attempts || told != tc.told {
				t.Errorf("%v: %d calls, then %s, %d attempts; the work was told: %v", tc.err, calls, r.State, r.Attempts, told)
			}
		})
	}
}

// A transaction that was refused arrives once more, when its condition holds: at most
// one of the tries takes effect, and its result is the answer. If the work made a
// CompleteItem, and may have sent it, nobody knows whose transaction arrived.
func TestDoTxWhoseEarlierTransactionComesLate(t *testing.T) {
	t.Parallel()
	seat2 := func(b *bench) []types.TransactWriteItem {
		return []types.TransactWriteItem{b.add("effect"), b.insert("seat 2")}
	}
	none := func(*bench) []types.TransactWriteItem { return nil }
	for name, tc := range map[string]struct {
		own    string // the result of the work's own CompleteItem, if any
		result string // of the second call
		items  func(*bench) []types.TransactWriteItem
		failed error
		want   error
	}{
		"another transaction":              {"", "2", seat2, nil, nil},
		"heard of by the heartbeat":        {"", "2", seat2, nil, nil},
		"no transaction":                   {"", "2", none, nil, nil},
		"an error":                         {"", "2", none, errCut, nil},
		"a permanent error":                {"", "2", none, ledger.Permanent(errCut), nil},
		"its own, the same result":         {"1", "1", seat2, nil, event.ErrUnknownOutcome},
		"its own, another":                 {"1", "2", seat2, nil, event.ErrUnknownOutcome},
		"its own, another, no transaction": {"1", "2", none, nil, event.ErrUnknownOutcome},
	} {
		b := newBench(t)
		w, store := b.wired(t, ledger.Config{})
		b.put(t, ddb.Item{"pk": item.S("seat 1")})
		calls := 0
		res, err := ledger.DoTx(t.Context(), store, order, func(_ context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
			if tc.own != "" {
				_, err := c.CompleteItem(tc.own) // never sent
				must(t, err)
			}
			if calls++; calls == 1 {
				return "1", []types.TransactWriteItem{b.add("effect"), b.insert("seat 1")}, nil
			}
			b.remove(t, "seat 1") // the SDK sent the first twice, and the network kept one
			_, err := b.client.TransactWriteItems(t.Context(), w.sent[0])
			must(t, err)
			if name == "heard of by the heartbeat" && !isDone(c.Renew(t.Context())) {
				t.Error("Renew does not tell")
			}
			return tc.result, tc.items(b), tc.failed
		})
		want := ledger.Result[string]{Value: "1"}
		if tc.want != nil {
			want.Value = ""
		}
		if res != want || !errors.Is(err, tc.want) || err != nil && strings.Contains(err.Error(), "not written") {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
		b.wantTimes(t, 1)
		wantDone(t, store, order, `"1"`)
	}
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

func TestDoTxAfterItsCallerHasGone(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	p := &paying{b: b, next: func(*ledger.Claim) error { cancel(); return nil }}
	res, err := ledger.DoTx(ctx, store, order, p.work)
	wantResult(t, res, err, ledger.Result[string]{Value: "paid"})
	b.wantTimes(t, 1)
}
