package ledger_test

import (
	"context"
	"encoding/json"
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
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
)

// wire records the transactions and what else was sent, and may do something
// before, to, or after a transaction.
type wire struct {
	ledger.API
	mu   sync.Mutex // guards ops and sent
	ops  []string
	sent []*dynamodb.TransactWriteItemsInput
	// pass, if there is one, sends a transaction, or does not.
	pass func(ctx context.Context, in *dynamodb.TransactWriteItemsInput, send transactions) (*dynamodb.TransactWriteItemsOutput, error)
}

type transactions = func(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)

func (w *wire) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, opts ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	w.mu.Lock()
	w.ops, w.sent = append(w.ops, "transaction"), append(w.sent, in)
	w.mu.Unlock()
	if w.pass != nil {
		return w.pass(ctx, in, w.API.TransactWriteItems)
	}
	return w.API.TransactWriteItems(ctx, in, opts...)
}

func (w *wire) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	w.mu.Lock()
	w.ops = append(w.ops, "update")
	w.mu.Unlock()
	return w.API.UpdateItem(ctx, in, opts...)
}

// wired is a ledger behind a wire.
func (b *bench) wired(t *testing.T, cfg ledger.Config) (*wire, *ledger.Store) {
	t.Helper()
	w := &wire{API: b.client}
	cfg.Now = b.clock.Now
	store, err := ledger.New(w, b.table, &cfg)
	must(t, err)
	return w, store
}

// paying is work that pays by adding to a row, and counts how often it was done.
type paying struct {
	b     *bench
	calls int
	next  func(c *ledger.Claim) error // before each call
}

func (p *paying) work(_ context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
	p.calls++
	if p.next != nil {
		if err := p.next(c); err != nil {
			return "", nil, err
		}
	}
	return "paid", []types.TransactWriteItem{p.b.add("effect")}, nil
}

// add is an action that may happen any number of times, and shows how often.
func (b *bench) add(key string) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String(b.table), Key: ddb.Item{"pk": item.S(key)},
		UpdateExpression: aws.String("ADD times :one"), ExpressionAttributeValues: ddb.Item{":one": item.N(1)},
	}}
}

// insert is an action that is refused when the row exists.
func (b *bench) insert(key string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{
		TableName: aws.String(b.table), Item: ddb.Item{"pk": item.S(key)}, ConditionExpression: aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
}

func (b *bench) wantTimes(t *testing.T, want int64) {
	t.Helper()
	row, got := b.row(t, "effect"), int64(0)
	if row != nil {
		got = number(t, row, "times")
	}
	if got != want {
		t.Errorf("the effect happened %d times, want %d", got, want)
	}
}

func wantResult[T any](t *testing.T, res ledger.Result[T], err error, want ledger.Result[T]) {
	t.Helper()
	if diff := cmp.Diff(want, res); diff != "" || err != nil {
		t.Errorf("DoTx: %v\n%s", err, diff)
	}
}

// Whatever is lost of the first transactions, the effect happens once and is
// this call's own.
func TestDoTxLosesReplies(t *testing.T) {
	t.Parallel()
	for _, do := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest} {
		for _, times := range []int{1, 2, 3, 5, 8} { // the SDK sends three times, DoTx three times that
			b := newBench(t)
			w, store := b.wired(t, ledger.Config{})
			b.db.Inject(dynamotest.Fault{Do: do, Op: "TransactWriteItems", Times: times})
			p := &paying{b: b}
			res, err := ledger.DoTx(t.Context(), store, order, p.work)
			wantResult(t, res, err, ledger.Result[string]{Value: "paid"})
			b.wantTimes(t, 1)
			for _, in := range w.sent {
				if in != w.sent[0] || len(aws.ToString(in.ClientRequestToken)) > 36 {
					t.Errorf("%v, %d times: another request was sent, or its token is %q", do, times, aws.ToString(in.ClientRequestToken))
				}
			}
		}
	}
}

// When no reply comes at all, giving the key up tells what happened.
func TestDoTxOfUnknownOutcome(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{})
	b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "TransactWriteItems", Times: -1})
	p := &paying{b: b}
	res, err := ledger.DoTx(t.Context(), store, order, p.work)
	wantResult(t, res, err, ledger.Result[string]{Value: "paid"})
	b.db.Heal()
	res, err = ledger.DoTx(t.Context(), store, order, p.work)
	wantResult(t, res, err, ledger.Result[string]{Value: "paid", Replayed: true})
	b.wantTimes(t, 1)
}

// A transaction that never arrived is refused when it does, for the key was
// given up; the next delivery does the work.
func TestDoTxThatArrivesLate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w, store := b.wired(t, ledger.Config{})
	w.pass = func(context.Context, *dynamodb.TransactWriteItemsInput, transactions) (*dynamodb.TransactWriteItemsOutput, error) {
		return nil, errCut
	}
	p := &paying{b: b}
	res, err := ledger.DoTx(t.Context(), store, order, p.work)
	if !errors.Is(err, errCut) || res != (ledger.Result[string]{}) || !strings.HasPrefix(err.Error(), "ledger: DoTx on table "+b.table+", with 1 actions of the work, perhaps on other tables: ") {
		t.Errorf("DoTx = %+v, %v", res, err)
	}
	if r := mustGet(t, store, order.Key); r.State != ledger.Failed || len(w.sent) != 3 {
		t.Errorf("record after %d transactions: %+v", len(w.sent), r)
	}
	if _, err := b.client.TransactWriteItems(t.Context(), w.sent[0]); err == nil {
		t.Error("the late transaction took effect")
	}
	w.pass = nil
	res, err = ledger.DoTx(t.Context(), store, order, p.work)
	wantResult(t, res, err, ledger.Result[string]{Value: "paid"})
	b.wantTimes(t, 1)
}

// Conflicts with other transactions and throttled actions are waited out, with the
// same request.
func TestDoTxWaitsOutABusyDynamoDB(t *testing.T) {
	t.Parallel()
	for name, met := range map[string]error{
		"beside a refusal":             cancelledBy("TransactionConflict", "ConditionalCheckFailed"),
		"beside that of the row":       cancelledBy("ConditionalCheckFailed", "TransactionConflict"),
		"with itself, still under way": &types.TransactionInProgressException{},
		"throttled":                    cancelledBy("None", "ThrottlingError"),
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newOwnBench(t)
			w, store := b.wired(t, ledger.Config{MaxAttempts: 1})
			w.pass = func(ctx context.Context, in *dynamodb.TransactWriteItemsInput, send transactions) (*dynamodb.TransactWriteItemsOutput, error) {
				if len(w.sent) < 6 {
					return nil, met
				}
				return send(ctx, in)
			}
			p := &paying{b: b}
			res, err := ledger.DoTx(t.Context(), store, order, p.work)
			wantResult(t, res, err, ledger.Result[string]{Value: "paid"})
			if len(w.sent) != 6 || w.sent[5] != w.sent[0] || p.calls != 1 {
				t.Errorf("%s: %d transactions of %d calls", name, len(w.sent), p.calls)
			}
			b.wantTimes(t, 1)
		})
	}
}

func TestDoTxAfterATakeover(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w, store := b.wired(t, ledger.Config{})
	p := &paying{b: b, next: func(*ledger.Claim) error {
		b.clock.Add(time.Hour)
		must(t, mustClaim(t, b.store(t, ledger.Config{}), order).Complete(t.Context(), "successor"))
		b.clock.Add(-time.Hour) // this worker's clock did not see it
		return nil
	}}
	res, err := ledger.DoTx(t.Context(), store, order, p.work)
	wantErr(t, "DoTx", err, ledger.ErrLeaseLost)
	if got := fmt.Sprint(w.ops); res != (ledger.Result[string]{}) || got != "[update transaction]" {
		t.Errorf("DoTx = %+v after %s", res, got)
	}
	b.wantTimes(t, 0)
	wantDone(t, store, order, `"successor"`)
}

// The work sent a transaction of its own: it is told that its actions were not
// written or, in a later call, that nobody knows, or that its result is another.
func TestDoTxOfWorkWithATransactionOfItsOwn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		later  bool // the first transaction may have come late
		result string
		want   func(error) bool
	}{
		"at once":        {false, "paid", func(err error) bool { return strings.Contains(err.Error(), "were not written") }},
		"later":          {true, "paid", func(err error) bool { return errors.Is(err, event.ErrUnknownOutcome) }},
		"another result": {false, "else", func(err error) bool { return errors.Is(err, ledger.ErrResultDiffers) }},
	} {
		b, store := opened(t, ledger.Config{})
		b.put(t, ddb.Item{"pk": item.S("seat 1")})
		calls := 0
		res, err := ledger.DoTx(t.Context(), store, order, func(_ context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
			if calls++; tc.later && calls == 1 {
				return "paid", []types.TransactWriteItem{b.insert("seat 1")}, nil
			}
			must(t, b.book(t, c, "paid"))
			return tc.result, []types.TransactWriteItem{b.insert("seat 2")}, nil
		})
		if err == nil || !tc.want(err) || res != (ledger.Result[string]{}) || b.row(t, "seat 2") != nil {
			t.Errorf("%s: DoTx = %+v, %v", name, res, err)
		}
		wantDone(t, store, order, `"paid"`)
	}
}

// Work that settles its claim itself is told that its actions were not written, also
// when it is called again.
func TestDoTxOfWorkThatSettlesItsClaim(t *testing.T) {
	t.Parallel()
	for name, settle := range map[string]func(*ledger.Claim) error{
		"done":    func(c *ledger.Claim) error { return c.Complete(t.Context(), "paid") },
		"failed":  func(c *ledger.Claim) error { return c.Fail(t.Context(), errors.New("no")) },
		"refused": func(c *ledger.Claim) error { return c.Fail(t.Context(), ledger.Permanent(errors.New("no"))) },
	} {
		for again := range 2 {
			b := newBench(t)
			w, store := b.wired(t, ledger.Config{})
			b.put(t, ddb.Item{"pk": item.S("seat 1")})
			_, err := ledger.DoTx(t.Context(), store, order, func(_ context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
				if again == 1 && c.Reasons() == nil {
					return "else", []types.TransactWriteItem{b.insert("seat 1")}, nil
				}
				return "paid", []types.TransactWriteItem{b.add("effect")}, settle(c)
			})
			recordtest.WantBad(t, err, "ledger", "work", name, again)
			if again == 0 && len(w.sent) != 0 {
				t.Errorf("%s: %d transactions", name, len(w.sent))
			}
			b.wantTimes(t, 0)
		}
	}
}

func TestDoTxBadInput(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w, store := b.wired(t, ledger.Config{MaxResult: 100})
	_, err := ledger.DoTx[int](t.Context(), store, order, nil)
	recordtest.WantBad(t, err, "ledger", "work")
	_, err = ledger.Do[int](t.Context(), store, order, nil)
	recordtest.WantBad(t, err, "ledger", "work", "Do")
	if len(w.ops) != 0 {
		t.Errorf("sent: %v", w.ops)
	}
	do := func(key, result string, n int) error {
		_, err := ledger.DoTx(t.Context(), store, ledger.Request{Key: key}, func(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error) {
			var items []types.TransactWriteItem
			for i := range n {
				items = append(items, b.add(fmt.Sprint(key, i)))
			}
			return result, items, nil
		})
		return err
	}
	must(t, do("most", "paid", 99))
	for delivery := range 2 {
		recordtest.WantBad(t, do("too many", "paid", 100), "ledger", "items", delivery)
		err := do("too long", strings.Repeat("x", 99), 1)
		recordtest.WantBad(t, err, "ledger", "result", delivery)
		if !errors.Is(err, ledger.ErrResultNotStored) || !strings.HasPrefix(err.Error(), "ledger: the work ran, but its result cannot be stored, and none of its actions were written: ledger: result must") {
			t.Errorf("a result that is too long: %v", err)
		}
	}
	if b.row(t, "too long0") != nil {
		t.Error("its action was written")
	}
}

// Without actions it is Do, with all its answers.
func TestDoTxWithoutActions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w, store := b.wired(t, ledger.Config{})
	do := func(key string, err error) (ledger.Result[string], error) {
		return ledger.DoTx(t.Context(), store, ledger.Request{Key: key}, func(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error) {
			return "paid", nil, err
		})
	}
	for _, replayed := range []bool{false, true} {
		res, err := do("done", nil)
		wantResult(t, res, err, ledger.Result[string]{Value: "paid", Replayed: replayed})
	}
	cause := errors.New("no connection")
	_, err := do("failed", cause)
	wantErr(t, "failed", err, cause)
	for range 2 {
		_, err := do("refused", ledger.Permanent(event.ErrTooOld))
		wantErr(t, "refused", err, event.ErrTooOld)
	}
	must(t, mustClaim(t, store, order).Complete(t.Context(), 7))
	_, err = ledger.DoTx(t.Context(), store, order, (&paying{b: b}).work)
	var mismatch *json.UnmarshalTypeError
	var misfit *ledger.ResultError
	if !errors.As(err, &mismatch) || !errors.As(err, &misfit) || string(misfit.Record.Result) != "7" || misfit.Record.Key != order.Key ||
		!strings.HasPrefix(err.Error(), "ledger: DoTx on table "+b.table+": the stored result does not fit the type string: ") {
		t.Errorf("a result of another type: %v", err)
	}
	if len(w.sent) != 0 {
		t.Errorf("%d transactions", len(w.sent))
	}
}
