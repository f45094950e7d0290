package dynamotest_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// writeBatch puts orders of customers and tells how many came back, or the error.
func writeBatch(t *testing.T, db *dynamotest.DB, table string, customers ...string) string {
	t.Helper()
	var entries []types.WriteRequest
	for _, name := range customers {
		entries = append(entries, types.WriteRequest{PutRequest: &types.PutRequest{Item: order(name, 1)}})
	}
	out, err := once(db.Client()).BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: entries}})
	if err != nil {
		return reasonOf(err)
	}
	return fmt.Sprintf("%d of %d left", len(out.UnprocessedItems[table]), len(customers))
}

// readBatch reads them.
func readBatch(t *testing.T, db *dynamotest.DB, table string, customers ...string) string {
	t.Helper()
	var keys []map[string]types.AttributeValue
	for _, name := range customers {
		keys = append(keys, orderKey(name, 1))
	}
	out, err := once(db.Client()).BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: {Keys: keys}}})
	if err != nil {
		return reasonOf(err)
	}
	return fmt.Sprintf("%d of %d left", len(out.UnprocessedKeys[table].Keys), len(customers))
}

// reasonOf is the first reason of throttling, or the error's code.
func reasonOf(err error) string {
	var throttled *types.ProvisionedThroughputExceededException
	if errors.As(err, &throttled) {
		return fmt.Sprintf("%s ×%d", *throttled.ThrottlingReasons[0].Reason, len(throttled.ThrottlingReasons))
	}
	return errorCode(err)
}

// As on DynamoDB, a batch is refused for want of capacity when none of its
// entries got through, and gives back those that did not when others did.
func TestThrottledEntriesComeBack(t *testing.T) {
	t.Parallel()
	of := func(customer string, do dynamotest.Disturbance) dynamotest.Fault {
		key := orderKey(customer, 1)
		delete(key, "number")
		return dynamotest.Fault{Do: do, Key: key}
	}
	const throttle, unprocessed = dynamotest.Throttle, dynamotest.Unprocessed
	for _, tt := range []struct {
		name   string
		faults []dynamotest.Fault
		write  string // what becomes of the orders of ann, bo and cy
		read   string
		rows   int // after the write
		idle   int
	}{
		{"one", []dynamotest.Fault{of("bo", throttle)}, "1 of 3 left", "1 of 3 left", 2, 0},
		{"two", []dynamotest.Fault{of("ann", throttle), of("cy", throttle)}, "2 of 3 left", "2 of 3 left", 1, 0},
		{"each", []dynamotest.Fault{of("ann", throttle), of("bo", throttle), of("cy", throttle)}, "TableWriteKeyRangeThroughputExceeded ×1", "TableReadKeyRangeThroughputExceeded ×1", 0, 0},
		{"all", []dynamotest.Fault{{Do: throttle}}, "TableWriteKeyRangeThroughputExceeded ×1", "TableReadKeyRangeThroughputExceeded ×1", 0, 0},
		{"none got through", []dynamotest.Fault{{Do: unprocessed, Entries: 2}, of("ann", throttle)}, "TableWriteKeyRangeThroughputExceeded ×1", "TableReadKeyRangeThroughputExceeded ×1", 0, 0},
		{"sent back already", []dynamotest.Fault{{Do: unprocessed}, of("ann", throttle)}, "3 of 3 left", "3 of 3 left", 0, 1},
		{"refused as a whole", []dynamotest.Fault{of("ann", throttle), {Do: dynamotest.Unavailable}}, "ServiceUnavailable", "ServiceUnavailable", 0, 1},
		{"nobody", []dynamotest.Fault{of("di", throttle)}, "0 of 3 left", "0 of 3 left", 3, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := dynamotest.New(t, nil)
			table := create(t, db)
			for _, send := range []struct {
				do   func(*testing.T, *dynamotest.DB, string, ...string) string
				want string
			}{{writeBatch, tt.write}, {readBatch, tt.read}} {
				for _, f := range tt.faults {
					db.Inject(f)
				}
				if got := send.do(t, db, table, "ann", "bo", "cy"); got != send.want {
					t.Errorf("got %s, want %s", got, send.want)
				}
				if idle := db.Heal(); len(idle) != tt.idle {
					t.Errorf("idle faults: %q", idle)
				}
				if n := count(t, db.Client(), table); n != tt.rows {
					t.Errorf("%d rows, want %d", n, tt.rows)
				}
			}
		})
	}
}

// An index that holds back one entry leaves the others alone.
func TestAnIndexHoldsEntriesBack(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	table := create(t, db)
	hold := dynamotest.Fault{Do: dynamotest.Throttle, Op: "BatchWriteItem", Index: "by-day"}
	db.Inject(hold)
	if got := writeBatch(t, db, table, "ann", "bo"); got != "IndexWriteKeyRangeThroughputExceeded ×1" {
		t.Errorf("both: %s", got)
	}
	hold.Key = orderKey("bo", 1)
	db.Inject(hold)
	if got := writeBatch(t, db, table, "ann", "bo"); got != "1 of 2 left" || count(t, db.Client(), table) != 1 {
		t.Errorf("one: %s", got)
	}
}
