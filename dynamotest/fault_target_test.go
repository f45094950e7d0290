package dynamotest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

// An index that cannot keep up throttles the writes to its table.
func ExampleFault_index() {
	ctx := context.Background()
	srv := dynamotest.NewServer(nil)
	db := once(srv.Client())
	if err := schema.Create(ctx, db, orders("orders")); err != nil {
		log.Fatal(err)
	}
	srv.Tap().Inject(dynamotest.Fault{Do: dynamotest.Throttle.ByIndex("by-day"), Op: "PutItem"})
	var throttled *types.ThrottlingException
	if errors.As(put(ctx, db, "orders", order("ann", 1)), &throttled) {
		why := throttled.ThrottlingReasons[0]
		fmt.Println(*why.Reason)
		fmt.Println(*why.Resource)
	}
	// Output:
	// IndexWriteKeyRangeThroughputExceeded
	// arn:aws:dynamodb:us-east-1:123456789012:table/orders/index/by-day
}

const ordersARN = "arn:aws:dynamodb:us-east-1:123456789012:table/orders"

// send sends a request without a client, because this module has no client of
// streams.
func send(srv *dynamotest.Server, target, body string) (status int, reply map[string]any) {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("X-Amz-Target", target)
	w := httptest.NewRecorder()
	srv.Handler().ServeHTTP(w, r)
	_ = json.Unmarshal(w.Body.Bytes(), &reply) // a reply may be empty
	return w.Code, reply
}

func TestRequestsAboutTagsAndStreamsNameTheirTable(t *testing.T) {
	t.Parallel()
	const tables, streams = "DynamoDB_20120810.", "DynamoDBStreams_20120810."
	db := dynamotest.New(t, nil)
	create(t, db)
	srv := db.Server()
	_, table := send(srv, tables+"UpdateTable", `{"TableName":"orders","StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}}`)
	stream, _ := table["TableDescription"].(map[string]any)["LatestStreamArn"].(string)
	_, described := send(srv, streams+"DescribeStream", fmt.Sprintf(`{"StreamArn":%q}`, stream))
	shard := described["StreamDescription"].(map[string]any)["Shards"].([]any)[0].(map[string]any)["ShardId"].(string)
	inShard := fmt.Sprintf(`{"StreamArn":%q,"ShardId":%q,"ShardIteratorType":"TRIM_HORIZON"}`, stream, shard)
	_, place := send(srv, streams+"GetShardIterator", inShard)
	for _, tt := range []struct{ prefix, op, body string }{
		{tables, "TagResource", `{"ResourceArn":"` + ordersARN + `","Tags":[{"Key":"a","Value":"b"}]}`},
		{tables, "ListTagsOfResource", `{"ResourceArn":"` + ordersARN + `"}`},
		{tables, "UntagResource", `{"ResourceArn":"` + ordersARN + `","TagKeys":["a"]}`},
		{streams, "ListStreams", `{"TableName":"orders"}`},
		{streams, "DescribeStream", fmt.Sprintf(`{"StreamArn":%q}`, stream)},
		{streams, "GetShardIterator", inShard},
		{streams, "GetRecords", fmt.Sprintf(`{"ShardIterator":%q}`, place["ShardIterator"])},
	} {
		for name, status := range map[string]int{"orders": 500, ordersARN: 500, "others": 200} {
			srv.Tap().Inject(dynamotest.Fault{Do: dynamotest.InternalError, Op: tt.op, Table: name})
			if got, reply := send(srv, tt.prefix+tt.op, tt.body); got != status {
				t.Errorf("%s with a fault of %s: got %d %v, want %d", tt.op, name, got, reply, status)
			}
			srv.Tap().Heal()
		}
	}
}

func TestAFaultFindsATableByItsARN(t *testing.T) {
	t.Parallel()
	for _, do := range []dynamotest.Effect{dynamotest.LoseRequest, dynamotest.InternalError} {
		db := dynamotest.New(t, nil)
		table := create(t, db)
		db.Inject(dynamotest.Fault{Do: do, Op: "PutItem", Table: ordersARN})
		if err := put(t.Context(), once(db.Client()), table, order("ann", 1)); err == nil {
			t.Errorf("%v: not found", do)
		}
		db.Inject(dynamotest.Fault{Do: do, Table: table})
		if _, err := once(db.Client()).ListTagsOfResource(t.Context(), &dynamodb.ListTagsOfResourceInput{ResourceArn: aws.String(ordersARN)}); err == nil {
			t.Errorf("%v: tags are not found", do)
		}
	}
}

// readIndexed reads the table, and then its index, with one operation.
func readIndexed(t *testing.T, client *dynamodb.Client, op string) (table, index error) {
	t.Helper()
	read := func(index *string) error {
		var err error
		switch op {
		case "Scan":
			_, err = client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("orders"), IndexName: index})
		case "Query":
			in := &dynamodb.QueryInput{TableName: aws.String("orders"), IndexName: index, KeyConditionExpression: aws.String("customer = :c")}
			value := types.AttributeValue(&types.AttributeValueMemberS{Value: "ann"})
			if index != nil {
				in.KeyConditionExpression = aws.String("#c = :c")
				in.ExpressionAttributeNames = map[string]string{"#c": "day"}
			}
			in.ExpressionAttributeValues = map[string]types.AttributeValue{":c": value}
			_, err = client.Query(t.Context(), in)
		default:
			statement := selectOfAnn
			if index != nil {
				statement = `SELECT * FROM "orders"."` + *index + `" WHERE "day" = 'x'`
			}
			_, err = execute(t, client, statement)
		}
		return err
	}
	return read(nil), read(aws.String("by-day"))
}

func TestReadsOfAnIndexMeetItsFaults(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"Query", "Scan", "ExecuteStatement"} {
		for _, f := range []dynamotest.Fault{
			{Do: dynamotest.LoseRequest, Index: "by-day"},
			{Do: dynamotest.LoseReply, Index: "by-day", Op: op},
			{Do: dynamotest.Unavailable, Index: "by-day", Table: "orders"},
			{Do: dynamotest.Throttle, Index: "by-day"},
		} {
			db := dynamotest.New(t, nil)
			table := create(t, db)
			db.Inject(f)
			if err := put(t.Context(), once(db.Client()), table, order("ann", 1)); err != nil {
				t.Errorf("%v: a write: %v", &f, err)
			}
			ofTable, ofIndex := readIndexed(t, once(db.Client()), op)
			if ofTable != nil || ofIndex == nil {
				t.Errorf("%v: a %s of the table: %v; of the index: %v", &f, op, ofTable, ofIndex)
			}
			var throttled *types.ThrottlingException
			if f.Do != dynamotest.Throttle {
				continue
			}
			if !errors.As(ofIndex, &throttled) || *throttled.ThrottlingReasons[0].Resource != ordersARN+"/index/by-day" || !strings.Contains(throttled.ErrorMessage(), "global secondary indexes") {
				t.Errorf("%v: %v", &f, ofIndex)
			}
		}
	}
}

// writers write one order each.
var writers = map[string]func(ctx context.Context, client *dynamodb.Client, table string) error{
	"PutItem": func(ctx context.Context, client *dynamodb.Client, table string) error {
		return put(ctx, client, table, order("ann", 1))
	},
	"UpdateItem": func(ctx context.Context, client *dynamodb.Client, table string) error {
		_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &table, Key: orderKey("ann", 1)})
		return err
	},
	"DeleteItem": func(ctx context.Context, client *dynamodb.Client, table string) error {
		_, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: orderKey("ann", 1)})
		return err
	},
	"BatchWriteItem": func(ctx context.Context, client *dynamodb.Client, table string) error {
		_, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
			table: {{PutRequest: &types.PutRequest{Item: order("ann", 1)}}, {DeleteRequest: &types.DeleteRequest{Key: orderKey("bo", 1)}}},
		}})
		return err
	},
	"TransactWriteItems": func(ctx context.Context, client *dynamodb.Client, table string) error {
		_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: &table, Item: order("ann", 1)}},
		}})
		return err
	},
}

func TestAnIndexHoldsWritesBack(t *testing.T) {
	t.Parallel()
	for op, write := range writers {
		db := lagging(t, nil)
		if err := schema.Create(t.Context(), db.Client(), orders("others")); err != nil {
			t.Fatal(err)
		}
		client := once(db.Client())
		db.Inject(dynamotest.Fault{Do: dynamotest.Throttle.ByIndex("global"), Op: op})
		db.Inject(dynamotest.Fault{Do: dynamotest.Throttle.ByIndex("local"), Op: op}) // a local index is a part of its table
		db.Inject(dynamotest.Fault{Do: dynamotest.Throttle, Index: "global"})         // a fault of reads
		if err := write(t.Context(), client, "others"); err != nil {
			t.Errorf("%s: a table without the index: %v", op, err)
		}
		err := write(t.Context(), client, "orders")
		var throttled *types.ThrottlingException
		var cancelled *types.TransactionCanceledException
		switch {
		case errors.As(err, &cancelled):
			if why := cancelled.CancellationReasons[0]; *why.Code != "ThrottlingError" || !strings.Contains(*why.Message, "global secondary indexes") {
				t.Errorf("%s: %s, %s", op, *why.Code, *why.Message)
			}
		case errors.As(err, &throttled):
			got := throttled.ThrottlingReasons
			want := []types.ThrottlingReason{{Reason: aws.String("IndexWriteKeyRangeThroughputExceeded"), Resource: aws.String(ordersARN + "/index/global")}}
			if len(got) != 1 || *got[0].Reason != *want[0].Reason || *got[0].Resource != *want[0].Resource || !strings.Contains(throttled.ErrorMessage(), "global secondary indexes") {
				t.Errorf("%s: %v", op, err)
			}
		default:
			t.Errorf("%s: %v", op, err)
		}
		if err := write(t.Context(), client, "orders"); err != nil {
			t.Errorf("%s: and then %v", op, err)
		}
		if idle := db.Tap().Heal(); len(idle) != 2 {
			t.Errorf("%s: idle faults: %q", op, idle)
		}
	}
}

// Without an operation, ByIndex throttles all writes to tables with the index,
// and no reads.
func TestAnIndexHoldsAnyWriteBack(t *testing.T) {
	t.Parallel()
	for op, write := range writers {
		db := lagging(t, nil)
		client := once(db.Client())
		db.Inject(dynamotest.Fault{Do: dynamotest.Throttle.ByIndex("global")})
		if _, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("orders"), IndexName: aws.String("global")}); err != nil {
			t.Errorf("%s: a read: %v", op, err)
		}
		if err := write(t.Context(), client, "orders"); err == nil {
			t.Errorf("%s was not held back", op)
		}
	}
}

// Throttling.As sets the code ThrottlingException, which has texts of its own.
func TestThrottlingByItsOtherName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ index, reason, text string }{
		{"", "TableWriteKeyRangeThroughputExceeded " + ordersARN, "current capacity of your table or index"},
		{"by-day", "IndexWriteKeyRangeThroughputExceeded " + ordersARN + "/index/by-day", "automatically scaling your index"},
	} {
		db := dynamotest.New(t, nil)
		table := create(t, db)
		client := once(db.Client())
		fault := dynamotest.Fault{Do: dynamotest.Throttle.As("ThrottlingException").ByIndex(tt.index), Op: "PutItem"}
		db.Inject(fault)
		var throttled *types.ThrottlingException
		if err := put(t.Context(), client, table, order("ann", 1)); !errors.As(err, &throttled) || !strings.Contains(throttled.ErrorMessage(), tt.text) {
			t.Fatalf("got %v", err)
		}
		if why := throttled.ThrottlingReasons[0]; *why.Reason+" "+*why.Resource != tt.reason {
			t.Errorf("got %s of %s, want %s", *why.Reason, *why.Resource, tt.reason)
		}
		fault.Op = "TransactWriteItems"
		db.Inject(fault)
		var cancelled *types.TransactionCanceledException
		if err := writers[fault.Op](t.Context(), client, table); !errors.As(err, &cancelled) || *cancelled.CancellationReasons[0].Code != "ThrottlingError" {
			t.Errorf("got %v", err)
		}
	}
	db := dynamotest.New(t, nil)
	create(t, db)
	db.Inject(dynamotest.Fault{Do: dynamotest.Throttle.As("ThrottlingException"), Key: orderKey("bo", 1)})
	if codes, _ := executeBatch(t, db.Client(), insertAnn1, insertBo1); !cmp.Equal(codes, []string{"", "ThrottlingError"}) {
		t.Errorf("statements: %q", codes)
	}
}
