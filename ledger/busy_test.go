package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	"github.com/homeops/ddbpatterns/internal/recordtest"
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
	db := dynamotest.New(t, &dynamotest.Config{MaxBackoff: time.Millisecond})
	b := &bench{db: db, client: db.Client(), table: "ledger", clock: &clock{at: goldenDay}}
	recordtest.Create(t, b.client, b.store(t, ledger.Config{}).Table())
	return b
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

// A row that never changes refuses the work for good, whatever other rows do.
func TestARowThatStaysCostsAnAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newOwnBench(t)
		store := b.store(t, ledger.Config{MaxAttempts: 1})
		b.transact(t, b.insert("stands"))
		r := &loser{bench: b, lost: 1000}
		_, err := ledger.DoTx(t.Context(), store, order, func(ctx context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
			_, items, err := r.work(ctx, c)
			if items = append(items, b.insert("stands")); r.calls%2 == 0 { // in another order
				slices.Reverse(items)
			}
			return "paid", items, err
		})
		if r := mustGet(t, store, order.Key); err == nil || r.State != ledger.Failed || r.Attempts != 1 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

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
		"a throttled request":         {fmt.Errorf("charging: %w", &types.ProvisionedThroughputExceededException{}), 0},
		"another service, throttled":  {&smithy.GenericAPIError{Code: "ThrottlingException"}, 0},
		"a busy row":                  {fmt.Errorf("counting: %w", record.ErrContended), 0},
		"and a condition that failed": {cancelledBy("ConditionalCheckFailed", "ThrottlingError"), 1},
		"a permanent error":           {ledger.Permanent(cancelledBy("None", "ThrottlingError")), 1},
	} {
		for _, effect := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest} {
			b, store := opened(t, ledger.Config{MaxAttempts: 5})
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

func cancelledBy(codes ...string) error {
	err := &types.TransactionCanceledException{Message: aws.String(fmt.Sprint(codes))}
	for _, code := range codes {
		err.CancellationReasons = append(err.CancellationReasons, types.CancellationReason{Code: aws.String(code)})
	}
	return err
}
