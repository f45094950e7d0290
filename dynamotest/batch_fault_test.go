package dynamotest_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

// writeBatch puts orders of customers and returns how many came back, or the
// error.
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

// reasonOf returns the first ThrottlingReason, or the error's code.
func reasonOf(err error) string {
	var throttled *types.ThrottlingException
	if errors.As(err, &throttled) {
		return fmt.Sprintf("%s ×%d", *throttled.ThrottlingReasons[0].Reason, len(throttled.ThrottlingReasons))
	}
	return errorCode(err)
}

// ofCustomer is a fault for all items of one customer.
func ofCustomer(name string, do dynamotest.Effect) dynamotest.Fault {
	key := orderKey(name, 1)
	delete(key, "number")
	return dynamotest.Fault{Do: do, Key: key}
}

// As on DynamoDB, a batch is throttled if all its entries are; otherwise it
// returns the throttled entries.
func TestThrottledEntriesComeBack(t *testing.T) {
	t.Parallel()
	of := ofCustomer
	throttle, unprocessed := dynamotest.Throttle, dynamotest.Unprocessed
	for _, tt := range []struct {
		name   string
		faults []dynamotest.Fault
		write  string // the results for the orders of ann, bo and cy
		read   string
		rows   int // after the write
		idle   int
	}{
		{"one", []dynamotest.Fault{of("bo", throttle)}, "1 of 3 left", "1 of 3 left", 2, 0},
		{"two", []dynamotest.Fault{of("ann", throttle), of("cy", throttle)}, "2 of 3 left", "2 of 3 left", 1, 0},
		{"each", []dynamotest.Fault{of("ann", throttle), of("bo", throttle), of("cy", throttle)}, "TableWriteKeyRangeThroughputExceeded ×1", "TableReadKeyRangeThroughputExceeded ×1", 0, 0},
		{"all", []dynamotest.Fault{{Do: throttle}}, "TableWriteKeyRangeThroughputExceeded ×1", "TableReadKeyRangeThroughputExceeded ×1", 0, 0},
		{"none got through", []dynamotest.Fault{{Do: unprocessed.Last(2)}, of("ann", throttle)}, "TableWriteKeyRangeThroughputExceeded ×1", "TableReadKeyRangeThroughputExceeded ×1", 0, 1},
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
				if idle := db.Tap().Heal(); len(idle) != tt.idle {
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
	hold := dynamotest.Fault{Do: dynamotest.Throttle.ByIndex("by-day"), Op: "BatchWriteItem"}
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

// A batch that is refused as a whole sends nothing back: faults of its entries
// stay due for the next batch.
func TestARefusedBatchSpendsNoFault(t *testing.T) {
	t.Parallel()
	throttle, unprocessed := dynamotest.Throttle, dynamotest.Unprocessed
	invalid := func(t *testing.T, db *dynamotest.DB, table string) string {
		return writeBatch(t, db, table, "ann", "bo", "bo")
	}
	full := func(t *testing.T, db *dynamotest.DB, table string) string {
		return writeBatch(t, db, table, "ann", "cy")
	}
	for _, tt := range []struct {
		name   string
		faults []dynamotest.Fault
		send   func(*testing.T, *dynamotest.DB, string) string
		want   string // of the batch
		next   string // of a valid batch of ann and di
	}{
		{"throttled by a fault", []dynamotest.Fault{ofCustomer("ann", unprocessed), ofCustomer("cy", throttle)}, full, "TableWriteKeyRangeThroughputExceeded ×1", "1 of 2 left"},
		{"throttled by a limit", []dynamotest.Fault{ofCustomer("ann", unprocessed)}, full, "TableWriteKeyRangeThroughputExceeded ×1", "1 of 2 left"},
		{"throttled by both", []dynamotest.Fault{ofCustomer("ann", throttle)}, full, "TableWriteKeyRangeThroughputExceeded ×1", "0 of 2 left"},
		{"invalid, unprocessed", []dynamotest.Fault{ofCustomer("ann", unprocessed)}, invalid, "ValidationException", "1 of 2 left"},
		{"invalid, throttled", []dynamotest.Fault{ofCustomer("ann", throttle)}, invalid, "ValidationException", "1 of 2 left"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := tired(t, "cy")
			table := db.Server().Tables()[0]
			for _, f := range tt.faults {
				db.Inject(f)
			}
			if got := tt.send(t, db, table); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if got := writeBatch(t, db, table, "ann", "di"); got != tt.next {
				t.Errorf("and then: got %s, want %s", got, tt.next)
			}
		})
	}
}

// tired is a server with a table that takes no more writes for one customer.
func tired(t *testing.T, customer string) *dynamotest.DB {
	t.Helper()
	noon := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	db := dynamotest.New(t, &dynamotest.Config{Now: func() time.Time { return noon }, PartitionLimits: dynamotest.Units{WCU: 2}})
	table := db.Name("orders")
	plain := orders(table)
	plain.Indexes = nil // or the partition of the day would be full, too
	if err := schema.Create(t.Context(), db.Client(), plain); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if err := put(t.Context(), db.Client(), table, order(customer, i)); err != nil {
			t.Fatal(err)
		}
	}
	return db
}
