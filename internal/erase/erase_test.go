package erase_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/erase"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/schema"
)

// orders is a table of orders by customer, found by their city too.
func orders(t *testing.T, db *dynamotest.DB) string {
	t.Helper()
	table := db.Name("orders")
	recordtest.Create(t, db.Client(), schema.Table{
		Name:    table,
		Key:     schema.Key{Partition: schema.String("customer"), Sort: schema.Number("order")},
		Indexes: []schema.Index{{Name: "by-city", Key: schema.Key{Partition: schema.String("city")}}},
	})
	return table
}

func put(t *testing.T, db *dynamotest.DB, table, customer string, n int, note string) {
	t.Helper()
	row := ddb.Item{"customer": item.S(customer), "order": item.N(int64(n)), "city": item.S("Lund")}
	if note != "" {
		row["note"] = item.S(note)
	}
	recordtest.Put(t, db.Client(), table, row)
}

func ofCustomer(table, customer string) erase.Partition {
	return erase.Partition{Table: table, Attr: "customer", Value: item.S(customer)}
}

func TestRows(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	table := orders(t, db)
	for i := range 60 {
		put(t, db, table, "Ada", i, strings.Repeat("x", 40<<10)) // three pages
	}
	put(t, db, table, "Bo", 1, "")
	cost := db.Meter(func() {
		if n, err := erase.Rows(t.Context(), db.Client(), ofCustomer(table, "Ada"), "customer", "order"); n != 60 || err != nil {
			t.Errorf("%d, %v, want 60", n, err)
		}
	})
	if cost.Requests != 3+5 { // pages of 26, 26 and 8 rows
		t.Errorf("%d requests:\n%v", cost.Requests, cost)
	}
	if cost.RCU < 60*10 { // half of that would miss what was just written
		t.Errorf("%v RCU: not read consistently", cost.RCU)
	}
	if n, err := erase.Rows(t.Context(), db.Client(), ofCustomer(table, "Ada"), "customer", "order"); n != 0 || err != nil {
		t.Errorf("again: %d, %v, want 0", n, err)
	}
	if recordtest.Row(t, db.Client(), table, ddb.Item{"customer": item.S("Bo"), "order": item.N(1)}) == nil {
		t.Error("another customer's order is gone")
	}
}

// The rows of an index come with the key of the index, which is not part of
// their own key. Lost requests and replies are tried again, and a row counts as
// deleted even if only the reply was lost.
func TestIndexed(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	table := orders(t, db)
	for i := range 60 {
		put(t, db, table, fmt.Sprint("customer", i%3), i, strings.Repeat("x", 40<<10)) // three pages
	}
	inLund := erase.Partition{Table: table, Index: "by-city", Attr: "city", Value: item.S("Lund")}
	troubles := []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest}
	if db.InProcess() {
		troubles = append(troubles, dynamotest.Conflict)
	}
	for nth, do := range troubles {
		db.Inject(dynamotest.Fault{Do: do, Op: "DeleteItem", Nth: 1 + 4*nth})
	}
	for _, want := range []int{60, 0} {
		if n, err := erase.Indexed(t.Context(), db.Client(), inLund, "customer", "order"); n != want || err != nil {
			t.Errorf("%d, %v, want %d", n, err, want)
		}
	}
}

// stale is the client of an index that lags behind the table.
func stale(db *dynamotest.DB) *dynamodb.Client {
	return recordtest.Between(db.Client(), func(in any, send recordtest.Send) (any, error) {
		if _, ok := in.(*dynamodb.QueryInput); ok {
			return scripted{rows: 3}.Query(context.Background(), nil)
		}
		return send(in)
	})
}

// Rows that are gone, or in another partition by now, do not count and stay.
func TestIndexedLeavesWhatMoved(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	table := orders(t, db)
	put(t, db, table, "Ada", 0, "")
	put(t, db, table, "Ada", 1, "")
	wantErased(t, stale(db), table, 2)
}

// wantErased erases the orders of Malmö, which has none, and those of Lund, twice.
func wantErased(t *testing.T, api erase.IndexedAPI, table string, lund int) {
	t.Helper()
	inMalmo := erase.Partition{Table: table, Index: "by-city", Attr: "city", Value: item.S("Malmö")}
	inLund := inMalmo
	inLund.Value = item.S("Lund")
	for i, tc := range []struct {
		p    erase.Partition
		want int
	}{{inMalmo, 0}, {inLund, lund}, {inLund, 0}} {
		if n, err := erase.Indexed(t.Context(), api, tc.p, "customer", "order"); n != tc.want || err != nil {
			t.Errorf("%d: %d, %v, want %d", i, n, err, tc.want)
		}
	}
}

// What an API of unseen attempts refuses is not counted: the row may stand.
func TestIndexedByAnAPIThatDropsOptions(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	table := orders(t, db)
	put(t, db, table, "Ada", 0, "")
	wantErased(t, recordtest.Dropping{Client: stale(db)}, table, 1)
}

// Rows that come back unprocessed are sent again.
func TestUnprocessed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, nil)
		table := orders(t, db)
		for i := range 30 {
			put(t, db, table, "Ada", i, "")
		}
		db.Inject(dynamotest.Fault{Do: dynamotest.Unprocessed.Last(20), Op: "BatchWriteItem", Nth: 1})
		if n, err := erase.Rows(t.Context(), db.Client(), ofCustomer(table, "Ada"), "customer", "order"); n != 30 || err != nil {
			t.Errorf("%d, %v, want 30", n, err)
		}
	})
}

// scripted sends everything back but the first row, or fails.
type scripted struct {
	rows int
	fail error
}

func (s scripted) Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out := &dynamodb.QueryOutput{}
	for i := range s.rows {
		out.Items = append(out.Items, ddb.Item{"customer": item.S("Ada"), "order": item.N(int64(i))})
	}
	return out, nil
}

func (s scripted) BatchWriteItem(_ context.Context, in *dynamodb.BatchWriteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	if s.fail != nil {
		return nil, s.fail
	}
	back := in.RequestItems["orders"]
	if len(back) == s.rows {
		back = back[1:]
	}
	return &dynamodb.BatchWriteItemOutput{UnprocessedItems: map[string][]types.WriteRequest{"orders": back}}, nil
}

// It does not try for ever, and returns how many rows are deleted.
func TestNeverProcessed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n, err := erase.Rows(t.Context(), scripted{rows: 3}, ofCustomer("orders", "Ada"), "customer", "order")
		if n != 1 || err == nil || err.Error() != "2 rows came back unprocessed after 10 tries" {
			t.Errorf("%d, %v", n, err)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		n, err = erase.Rows(over, scripted{rows: 3}, ofCustomer("orders", "Ada"), "customer", "order")
		if n != 1 || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %d, %v", n, err)
		}
		down := errors.New("down")
		n, err = erase.Rows(t.Context(), scripted{rows: 3, fail: down}, ofCustomer("orders", "Ada"), "customer", "order")
		if n != 0 || !errors.Is(err, down) {
			t.Errorf("down: %d, %v", n, err)
		}
	})
}
