package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/record"
)

// busy are the faults of a transaction that say "not now".
var busy = map[string]dynamotest.Effect{
	"throttled":                    dynamotest.Throttle,
	"throttled, by its other name": dynamotest.Throttle.As("ThrottlingException"),
	"a conflict":                   dynamotest.Conflict,
}

// newOwnBench is a bench on a server of this process, which throttles on demand
// and runs in a bubble.
func newOwnBench(t *testing.T) *bench {
	t.Helper()
	db := dynamotest.New(t, nil)
	b := &bench{db: db, client: db.Client(), table: "ledger", clock: &clock{at: goldenDay}}
	b.create(t)
	return b
}

// One throttled action, or a few, and a conflict are waited out in the same call.
func TestDoTxWaitsOutABusyDynamoDB(t *testing.T) {
	t.Parallel()
	for name, effect := range busy {
		for _, times := range []int{1, 5} {
			b := newOwnBench(t)
			w, store := b.wired(t, ledger.Config{MaxAttempts: 1})
			b.db.Inject(dynamotest.Fault{Do: effect, Op: "TransactWriteItems", Times: times})
			p := &paying{b: b}
			res, err := ledger.DoTx(t.Context(), store, order, p.work)
			wantResult(t, res, err, ledger.Result[string]{Value: "paid"})
			if len(w.sent) != times+1 || w.sent[times] != w.sent[0] || p.calls != 1 {
				t.Errorf("%s, %d times: %d transactions of %d calls", name, times, len(w.sent), p.calls)
			}
			b.wantTimes(t, 1)
		}
	}
}

// However often a key comes while DynamoDB is busy, its attempts are not used up.
func TestABusyDynamoDBCostsNoAttempt(t *testing.T) {
	t.Parallel()
	for name, effect := range busy {
		synctest.Test(t, func(t *testing.T) {
			b := newOwnBench(t)
			store := b.store(t, ledger.Config{MaxAttempts: 2})
			b.db.Inject(dynamotest.Fault{Do: effect, Op: "TransactWriteItems", Times: -1})
			p := &paying{b: b}
			for delivery := range 4 {
				res, err := ledger.DoTx(t.Context(), store, order, p.work)
				var cancelled *types.TransactionCanceledException
				if res != (ledger.Result[string]{}) || !errors.As(err, &cancelled) || errors.Is(err, ledger.ErrTooManyAttempts) {
					t.Fatalf("%s, delivery %d: %+v, %v", name, delivery, res, err)
				}
				r := mustGet(t, store, order.Key)
				if r.State != ledger.Failed || r.Attempts != 0 || r.LastError != err.Error() {
					t.Fatalf("%s, delivery %d: %+v", name, delivery, r)
				}
			}
			b.wantTimes(t, 0)
			b.db.Heal()
			res, err := ledger.DoTx(t.Context(), store, order, p.work)
			wantResult(t, res, err, ledger.Result[string]{Value: "paid"})
			b.wantTimes(t, 1)
		})
	}
}

// Which reasons give the attempt back, and which are the work's own.
func TestWhichCancellationsCostAnAttempt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		codes    [3]string // of the completion and two actions
		attempts int64     // after one call
	}{
		{[3]string{"None", "ThrottlingError", "None"}, 0},
		{[3]string{"ProvisionedThroughputExceeded", "None", "None"}, 0},
		{[3]string{"None", "ThrottlingError", "TransactionConflict"}, 0},
		{[3]string{"None", "ConditionalCheckFailed", "TransactionConflict"}, 0},
		{[3]string{"None", "ConditionalCheckFailed", "ThrottlingError"}, 1},
		{[3]string{"None", "ValidationError", "ThrottlingError"}, 1},
		{[3]string{"None", "ConditionalCheckFailed", "None"}, 1},
		{[3]string{"None", "None", "None"}, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newOwnBench(t)
			w, store := b.wired(t, ledger.Config{})
			w.pass = func(context.Context, *dynamodb.TransactWriteItemsInput, transactions) (*dynamodb.TransactWriteItemsOutput, error) {
				return nil, cancelledBy(tc.codes[:]...)
			}
			_, err := ledger.DoTx(t.Context(), store, order, func(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error) {
				return "1", []types.TransactWriteItem{b.add("effect"), b.add("other")}, nil
			})
			if r := mustGet(t, store, order.Key); err == nil || r.State != ledger.Failed || r.Attempts != tc.attempts {
				t.Errorf("%v: %s, %d attempts, want %d; %v", tc.codes, r.State, r.Attempts, tc.attempts, err)
			}
		})
	}
}

// loser is work that computes from a row which others write first, so that its
// condition on the row's version fails.
type loser struct {
	*bench
	version, calls int64
	lost           int64 // so many times
}

func (r *loser) work(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error) {
	r.calls++
	stood := r.version
	if r.calls <= r.lost {
		r.version++
	}
	row := ddb.Item{"pk": item.S("row"), "version": item.N(r.version)}
	_, err := r.client.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &r.table, Item: row})
	return "paid", []types.TransactWriteItem{r.add("effect"), {Update: &types.Update{
		TableName: &r.table, Key: ddb.Item{"pk": item.S("row")},
		UpdateExpression: aws.String("ADD version :one"), ConditionExpression: aws.String("version = :stood"),
		ExpressionAttributeValues:           ddb.Item{":one": item.N(1), ":stood": item.N(stood)},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}}, err
}

// A version that loses the race 15 times gets through, and one that always loses
// uses up no attempt: the row is busy, and the event is not at fault.
func TestABusyRowMakesNoKeyPoison(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newOwnBench(t)
		store := b.store(t, ledger.Config{MaxAttempts: 1})
		r := &loser{bench: b, lost: 1000}
		for delivery := range 3 {
			_, err := ledger.DoTx(t.Context(), store, order, r.work)
			var refused *ledger.ItemError
			if !errors.As(err, &refused) || refused.Index != 1 {
				t.Fatalf("delivery %d: %v", delivery, err)
			}
			if r := mustGet(t, store, order.Key); r.State != ledger.Failed || r.Attempts != 0 {
				t.Fatalf("delivery %d: %+v", delivery, r)
			}
		}
		r.lost, r.calls = 15, 0
		res, err := ledger.DoTx(t.Context(), store, order, r.work)
		wantResult(t, res, err, ledger.Result[string]{Value: "paid"})
		b.wantTimes(t, 1)
	})
}

// A row that never changes refuses the work for good, in whatever order and form the
// work returns its actions, and whatever other rows do.
func TestARowThatStaysCostsAnAttempt(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]func(*loser) []types.TransactWriteItem{
		"in another order": func(r *loser) []types.TransactWriteItem {
			if r.calls%2 == 0 {
				return []types.TransactWriteItem{r.add("effect"), r.insert("stands")}
			}
			return []types.TransactWriteItem{r.insert("stands")}
		},
		"beside a busy one": func(r *loser) []types.TransactWriteItem {
			_, items, err := r.work(t.Context(), nil)
			must(t, err)
			return append(items, r.insert("stands"))
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newOwnBench(t)
			store := b.store(t, ledger.Config{MaxAttempts: 1})
			b.transact(t, b.insert("stands"))
			r := &loser{bench: b, lost: 1000}
			_, err := ledger.DoTx(t.Context(), store, order, func(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error) {
				r.calls++
				return "paid", next(r), nil
			})
			if r := mustGet(t, store, order.Key); err == nil || r.State != ledger.Failed || r.Attempts != 1 {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
		})
	}
}

// The caller's context ends while DoTx pauses: the attempt does not count.
func TestDoTxIsStoppedInAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newOwnBench(t)
		store := b.store(t, ledger.Config{MaxAttempts: 1})
		for range 5 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			r := &loser{bench: b, lost: 1000}
			_, err := ledger.DoTx(ctx, store, order, r.work)
			cancel()
			var refused *ledger.ItemError
			if !errors.As(err, &refused) || !errors.Is(err, context.DeadlineExceeded) || r.calls < 2 {
				t.Fatalf("%v after %d calls", err, r.calls)
			}
			if r := mustGet(t, store, order.Key); r.State != ledger.Failed || r.Attempts != 0 {
				t.Fatalf("record: %+v", r)
			}
		}
		b.wantTimes(t, 0)
	})
}

// What the work of a plain Do meets in a busy DynamoDB does not count either, even
// if the reply to that is lost.
func TestAThrottledAttemptOfDoDoesNotCount(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err      error
		attempts int64
	}{
		"a throttled transaction":     {cancelledBy("None", "ThrottlingError"), 0},
		"a transaction in the way":    {cancelledBy("TransactionConflict", "None"), 0},
		"a throttled request":         {fmt.Errorf("charging: %w", &types.ProvisionedThroughputExceededException{}), 0},
		"another service, throttled":  {&smithy.GenericAPIError{Code: "ThrottlingException"}, 0},
		"by the name of Lambda":       {fmt.Errorf("charging: %w", &smithy.GenericAPIError{Code: "TooManyRequestsException"}), 0},
		"by the name of S3":           {&smithy.GenericAPIError{Code: "SlowDown"}, 0},
		"a quota":                     {&types.LimitExceededException{}, 1},
		"a busy row":                  {fmt.Errorf("counting: %w", record.ErrContended), 0},
		"and a condition that failed": {cancelledBy("ConditionalCheckFailed", "ThrottlingError"), 1},
		"a permanent error":           {ledger.Permanent(cancelledBy("None", "ThrottlingError")), 1},
		"a condition that failed":     {&types.ConditionalCheckFailedException{}, 1},
	} {
		for _, effect := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest} {
			b := newBench(t)
			store := b.store(t, ledger.Config{MaxAttempts: 5})
			for delivery := range 6 {
				b.db.Inject(dynamotest.Fault{Do: effect, Op: "UpdateItem", Nth: 2})
				_, err := ledger.Do(t.Context(), store, order, func(context.Context, *ledger.Claim) (int, error) { return 0, tc.err })
				r := mustGet(t, store, order.Key)
				if !errors.Is(err, tc.err) || r.Attempts != tc.attempts || r.LastError != err.Error() {
					t.Fatalf("%s, delivery %d: %v, then %+v", name, delivery, err, r)
				}
				if tc.attempts > 0 {
					break
				}
			}
			b.db.Heal()
		}
	}
}

// A duplicate that is refused beside a throttled action can be left out, and what
// was throttled looks to the work as what it is: not at fault.
func TestARefusalBesideAThrottledAction(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w, store := b.wired(t, ledger.Config{MaxAttempts: 1})
	w.pass = func(ctx context.Context, in *dynamodb.TransactWriteItemsInput, send transactions) (*dynamodb.TransactWriteItemsOutput, error) {
		if len(in.TransactItems) == 3 {
			return nil, cancelledBy("None", "ThrottlingError", "ConditionalCheckFailed")
		}
		return send(ctx, in)
	}
	res, err := ledger.DoTx(t.Context(), store, order, func(_ context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
		if reasons := c.Reasons(); reasons != nil {
			if got := codes(reasons); got != "None ConditionalCheckFailed" {
				t.Errorf("reasons: %s", got)
			}
			return "paid", []types.TransactWriteItem{b.add("effect")}, nil
		}
		return "paid", []types.TransactWriteItem{b.add("effect"), b.insert("seat 1")}, nil
	})
	wantResult(t, res, err, ledger.Result[string]{Value: "paid"})
	b.wantTimes(t, 1)
}

// The whole request throttled, beyond what the SDK tries, costs no attempt either.
func TestAThrottledRequestCostsNoAttempt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w, store := b.wired(t, ledger.Config{})
	w.pass = func(context.Context, *dynamodb.TransactWriteItemsInput, transactions) (*dynamodb.TransactWriteItemsOutput, error) {
		return nil, &types.RequestLimitExceeded{}
	}
	_, err := ledger.DoTx(t.Context(), store, order, (&paying{b: b}).work)
	if r := mustGet(t, store, order.Key); err == nil || r.State != ledger.Failed || r.Attempts != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A throttled transaction that an earlier try of the same got through: the key
// given up tells that, and its result is the answer.
func TestABusyTransactionThatTookEffect(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	w, store := b.wired(t, ledger.Config{})
	w.pass = func(ctx context.Context, in *dynamodb.TransactWriteItemsInput, send transactions) (*dynamodb.TransactWriteItemsOutput, error) {
		if len(w.sent) == 1 {
			_, err := send(ctx, in)
			must(t, err)
			return nil, errCut
		}
		return nil, cancelledBy("ThrottlingError", "None")
	}
	res, err := ledger.DoTx(t.Context(), store, order, (&paying{b: b}).work)
	wantResult(t, res, err, ledger.Result[string]{Value: "paid"})
	b.wantTimes(t, 1)
}

func cancelledBy(codes ...string) error {
	err := &types.TransactionCanceledException{Message: aws.String(fmt.Sprint(codes))}
	for _, code := range codes {
		err.CancellationReasons = append(err.CancellationReasons, types.CancellationReason{Code: aws.String(code)})
	}
	return err
}
