package dynamotest_test

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

// shop sends a transaction on two tables, two reads of an index and a put.
func shop(t *testing.T, db *dynamodb.Client) {
	t.Helper()
	ctx, orders := t.Context(), aws.String("orders")
	if _, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: orders, Item: order("ann", 1)}},
		{Put: &types.Put{TableName: aws.String("others"), Item: order("ann", 1)}},
		{Put: &types.Put{TableName: orders, Item: order("ann", 2)}},
	}}); err != nil {
		t.Error(err)
	}
	for range 2 {
		if _, err := db.Scan(ctx, &dynamodb.ScanInput{TableName: orders, IndexName: aws.String("by-day")}); err != nil {
			t.Error(err)
		}
	}
	if err := put(ctx, db, "orders", order("bo", 1)); err != nil {
		t.Error(err)
	}
}

const shopped = "seen: TransactWriteItems ×1 on orders, others; Scan ×2 on orders/by-day; PutItem ×1 on orders"

// The message shows the fault's misspelt names and the requests that passed.
func TestAnIdleFaultSaysWhatPassed(t *testing.T) {
	t.Parallel()
	visitor := map[string]types.AttributeValue{"visitor": &types.AttributeValueMemberS{Value: "ann"}}
	for _, tt := range []struct {
		fault dynamotest.Fault
		want  string
	}{
		{
			dynamotest.Fault{Do: dynamotest.LoseReply, Op: "PutItem", Table: "oders"},
			"LoseReply on request 1 of Op PutItem of Table oders never fired: 0 requests matched; " + shopped,
		},
		{
			dynamotest.Fault{Do: dynamotest.Unavailable, Index: "by-week"},
			"Unavailable on request 1 of Index by-week never fired: 0 requests matched; " + shopped,
		},
		{
			dynamotest.Fault{Do: dynamotest.InternalError, Nth: 9},
			"InternalError on request 9 never fired: 4 requests matched; " + shopped,
		},
		{
			dynamotest.Fault{Do: dynamotest.Throttle, Index: "by-week"},
			"Throttle on request 1 of Index by-week never fired: 0 requests matched; " + shopped + "; Index finds reads only, ByIndex throttles writes",
		},
		{
			dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "PutItem", Key: visitor},
			"LoseRequest on request 1 of Op PutItem with visitor never fired: 0 requests matched; " + shopped + "; the key of orders is customer, number, without visitor",
		},
		{
			dynamotest.Fault{Do: dynamotest.Throttle, Op: "UpdateItem", Key: visitor}, // none of these names a key
			"Throttle on request 1 of Op UpdateItem with visitor never fired: 0 requests matched; " + shopped,
		},
		{
			dynamotest.Fault{Do: dynamotest.Throttle, Op: "PutItem", Key: orderKey("cy", 1)}, // a valid key, which no item here has
			"Throttle on request 1 of Op PutItem with customer with number never fired: 0 requests matched; " + shopped,
		},
		{
			dynamotest.Fault{Do: dynamotest.Throttle, Op: "PutItem", Key: map[string]types.AttributeValue{"number": &types.AttributeValueMemberS{Value: "1"}}},
			"Throttle on request 1 of Op PutItem with number never fired: 0 requests matched; " + shopped + "; the key of orders has number as N, not as S",
		},
		{
			dynamotest.Fault{Do: dynamotest.Throttle.ByIndex("by-dya"), Op: "PutItem"},
			"Throttle by index by-dya on request 1 of Op PutItem never fired: 0 requests matched; " + shopped + "; orders has no global index by-dya (it has by-day)",
		},
		{
			dynamotest.Fault{Do: dynamotest.Throttle.ByIndex("by-week"), Op: "TransactWriteItems", Table: "others"},
			"Throttle by index by-week on request 1 of Op TransactWriteItems of Table others never fired: 0 requests matched; " + shopped + "; others has no global index by-week (it has none)",
		},
		{
			dynamotest.Fault{Do: dynamotest.Throttle.ByIndex("by-day"), Op: "TransactWriteItems", Nth: 9}, // one of the two tables has it
			"Throttle by index by-day on request 9 of Op TransactWriteItems never fired: 1 request matched; " + shopped,
		},
	} {
		db := dynamotest.New(t, nil)
		others := orders("others")
		others.Indexes = nil
		if err := schema.Create(t.Context(), db.Client(), orders("orders"), others); err != nil {
			t.Fatal(err)
		}
		db.Inject(tt.fault)
		shop(t, db.Client())
		if diff := cmp.Diff([]string{"fault " + tt.want}, db.Tap().Heal()); diff != "" {
			t.Error(diff)
		}
	}
}

// For example because the fault was injected on another server.
func TestAnIdleFaultSaysThatNothingPassed(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	db := dynamotest.New(r, nil)
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply})
	r.finish()
	want := []string{"dynamotest: fault LoseReply on request 1 never fired: 0 requests matched; none was seen"}
	if diff := cmp.Diff(want, r.errors); diff != "" {
		t.Error(diff)
	}
}

// A Key matches no Query, with any key condition.
func TestAnIdleKeySaysThatNothingNamedAnItem(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	if err := schema.Create(t.Context(), db.Client(), orders("orders")); err != nil {
		t.Fatal(err)
	}
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Key: orderKey("ann", 1)})
	if _, err := db.Client().Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("orders")}); err != nil {
		t.Error(err)
	}
	want := "fault LoseReply on request 1 with customer with number never fired: 0 requests matched; " +
		"seen: Scan ×1 on orders; none of these names an item, so no Key finds them"
	if diff := cmp.Diff([]string{want}, db.Tap().Heal()); diff != "" {
		t.Error(diff)
	}
}

// A test of many tables gets a short list of them.
func TestWhatPassedIsToldInShort(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "PutItem"})
	many := map[string]types.KeysAndAttributes{}
	for i := range 10 {
		name := fmt.Sprintf("table%d", i)
		many[name] = types.KeysAndAttributes{Keys: []map[string]types.AttributeValue{orderKey("ann", 1)}}
	}
	_, _ = once(db.Client()).BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: many}) // the tables do not exist
	for i := range 10 {
		_, _ = db.Client().DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String(fmt.Sprintf("table%d", i))})
	}
	want := "fault LoseReply on request 1 of Op PutItem never fired: 0 requests matched; " +
		"seen: BatchGetItem ×1 on table0, table1, table2, table3 and 6 more"
	for i := range 7 {
		want += fmt.Sprintf("; DescribeTable ×1 on table%d", i)
	}
	if diff := cmp.Diff([]string{want + "; 3 others"}, db.Tap().Heal()); diff != "" {
		t.Error(diff)
	}
}
