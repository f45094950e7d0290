package dynamotest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

// once returns a client that sends nothing again.
func once(client *dynamodb.Client) *dynamodb.Client {
	return dynamodb.New(client.Options(), func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
}

func errorCode(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return fmt.Sprint(err)
}

func orderKey(customer string, number int) map[string]types.AttributeValue {
	key := order(customer, number)
	delete(key, "day")
	return key
}

func ExampleFault_throttle() {
	ctx := context.Background()
	srv := dynamotest.NewServer(nil)
	db := once(srv.Client())
	if err := schema.Create(ctx, db, orders("orders")); err != nil {
		log.Fatal(err)
	}
	// The partition of one customer is hot; the others do not notice.
	srv.Inject(dynamotest.Fault{
		Do: dynamotest.Throttle, Op: "PutItem", Times: -1,
		Key: map[string]types.AttributeValue{"customer": &types.AttributeValueMemberS{Value: "ann"}},
	})
	fmt.Println("bo:", put(ctx, db, "orders", order("bo", 1)))
	var throttled *types.ProvisionedThroughputExceededException
	if errors.As(put(ctx, db, "orders", order("ann", 1)), &throttled) {
		fmt.Println("ann:", *throttled.ThrottlingReasons[0].Reason)
	}
	// Output:
	// bo: <nil>
	// ann: TableWriteKeyRangeThroughputExceeded
}

func ExampleFault_chance() {
	ctx := context.Background()
	run := func(seed uint64) (failed []int) {
		srv := dynamotest.NewServer(nil)
		db := once(srv.Client())
		if err := schema.Create(ctx, db, orders("orders")); err != nil {
			log.Fatal(err)
		}
		srv.Inject(dynamotest.Fault{Do: dynamotest.InternalError, Op: "PutItem", Chance: 0.2, Seed: seed})
		for i := range 20 {
			if put(ctx, db, "orders", order("ann", i)) != nil {
				failed = append(failed, i)
			}
		}
		return failed
	}
	first := run(7)
	fmt.Println(len(first) > 0, fmt.Sprint(first) == fmt.Sprint(run(7)), fmt.Sprint(first) == fmt.Sprint(run(8)))
	// Output: true true false
}

func TestServerFaultsAnswerInPlace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		fault dynamotest.Fault
		code  string
		rows  int
	}{
		{"throttle", dynamotest.Fault{Do: dynamotest.Throttle}, "ProvisionedThroughputExceededException", 0},
		{"internal error", dynamotest.Fault{Do: dynamotest.InternalError}, "InternalServerError", 0},
		{"internal error after", dynamotest.Fault{Do: dynamotest.InternalError, After: true}, "InternalServerError", 1},
		{"unavailable", dynamotest.Fault{Do: dynamotest.Unavailable}, "ServiceUnavailable", 0},
		{"unavailable after", dynamotest.Fault{Do: dynamotest.Unavailable, After: true}, "ServiceUnavailable", 1},
		{"conflict", dynamotest.Fault{Do: dynamotest.Conflict}, "TransactionConflictException", 0},
		{"another table", dynamotest.Fault{Do: dynamotest.Throttle, Table: "another"}, "<nil>", 1},
		{"another key", dynamotest.Fault{Do: dynamotest.Throttle, Key: orderKey("bo", 1)}, "<nil>", 1},
		{"the key", dynamotest.Fault{Do: dynamotest.Throttle, Key: orderKey("ann", 1)}, "ProvisionedThroughputExceededException", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := dynamotest.New(t, nil)
			table := create(t, db)
			tt.fault.Op = "PutItem"
			db.Inject(tt.fault)
			if got := errorCode(put(t.Context(), once(db.Client()), table, order("ann", 1))); got != tt.code {
				t.Errorf("got %s, want %s", got, tt.code)
			}
			if idle := db.Heal(); (len(idle) == 1) != (tt.code == "<nil>") {
				t.Errorf("idle faults: %q", idle)
			}
			if n := count(t, db.Client(), table); n != tt.rows {
				t.Errorf("%d rows, want %d", n, tt.rows)
			}
		})
	}
}

func TestAnUnavailableServerIsAskedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, nil)
		table := create(t, db)
		for _, do := range []dynamotest.Disturbance{dynamotest.Throttle, dynamotest.InternalError, dynamotest.Unavailable, dynamotest.Conflict} {
			db.Inject(dynamotest.Fault{Do: do, Op: "PutItem"})
			err := put(t.Context(), db.Client(), table, order("ann", int(do)))
			if retried := do != dynamotest.Conflict; (err == nil) != retried {
				t.Errorf("%v: %v", do, err)
			}
		}
	})
}

func TestThrottlingNamesTheResource(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	table := create(t, db)
	db.Inject(dynamotest.Fault{Do: dynamotest.Throttle, Op: "Query", Reason: "IndexReadProvisionedThroughputExceeded"})
	_, err := once(db.Client()).Query(t.Context(), &dynamodb.QueryInput{
		TableName: &table, IndexName: aws.String("by-day"), KeyConditionExpression: aws.String("#d = :d"),
		ExpressionAttributeNames:  map[string]string{"#d": "day"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":d": &types.AttributeValueMemberS{Value: "x"}},
	})
	var throttled *types.ProvisionedThroughputExceededException
	if !errors.As(err, &throttled) || len(throttled.ThrottlingReasons) != 1 {
		t.Fatalf("got %v", err)
	}
	why := throttled.ThrottlingReasons[0]
	if *why.Reason != "IndexReadProvisionedThroughputExceeded" || !strings.HasSuffix(*why.Resource, ":table/orders/index/by-day") {
		t.Errorf("reason %s, resource %s", *why.Reason, *why.Resource)
	}
}

func TestATransactionMeetsAConflict(t *testing.T) {
	t.Parallel()
	for do, code := range map[dynamotest.Disturbance]string{dynamotest.Conflict: "TransactionConflict", dynamotest.Throttle: "ProvisionedThroughputExceeded"} {
		db := dynamotest.New(t, nil)
		table := create(t, db)
		db.Inject(dynamotest.Fault{Do: do, Key: orderKey("ann", 2)})
		write := func() error {
			_, err := once(db.Client()).TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: &table, Item: order("ann", 1)}},
				{Delete: &types.Delete{TableName: &table, Key: orderKey("ann", 2)}},
			}})
			return err
		}
		var cancelled *types.TransactionCanceledException
		if err := write(); !errors.As(err, &cancelled) {
			t.Fatalf("%v: got %v", do, err)
		}
		if got := []string{*cancelled.CancellationReasons[0].Code, *cancelled.CancellationReasons[1].Code}; !cmp.Equal(got, []string{"None", code}) {
			t.Errorf("%v: reasons %q", do, got)
		}
		if n := count(t, db.Client(), table); n != 0 {
			t.Errorf("%v: %d rows", do, n)
		}
		if err := write(); err != nil {
			t.Errorf("%v: and then %v", do, err)
		}
	}
}

func TestUnprocessedEntriesComeBack(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	table := create(t, db)
	var requests []types.WriteRequest
	var keys []map[string]types.AttributeValue
	for i := range 5 {
		requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: order("ann", i)}})
		keys = append(keys, orderKey("ann", i))
	}
	db.Inject(dynamotest.Fault{Do: dynamotest.Unprocessed, Op: "BatchWriteItem", Entries: 2})
	db.Inject(dynamotest.Fault{Do: dynamotest.Unprocessed, Key: orderKey("ann", 0)})
	wrote, err := db.Client().BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: requests}})
	if err != nil {
		t.Fatal(err)
	}
	if left := wrote.UnprocessedItems[table]; len(left) != 3 || count(t, db.Client(), table) != 2 {
		t.Errorf("%d came back, %d rows", len(left), count(t, db.Client(), table))
	}
	if _, err = db.Client().BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: wrote.UnprocessedItems}); err != nil {
		t.Fatal(err)
	}
	db.Inject(dynamotest.Fault{Do: dynamotest.Unprocessed, Op: "BatchGetItem", Entries: 4})
	read, err := db.Client().BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: {Keys: keys}}})
	if err != nil || len(read.Responses[table]) != 1 || len(read.UnprocessedKeys[table].Keys) != 4 {
		t.Errorf("%v: %v", err, read)
	}
}

func TestDelaysPassInABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, nil)
		table := create(t, db)
		took := func(do func()) time.Duration {
			began := time.Now()
			do()
			return time.Since(began)
		}
		db.Inject(dynamotest.Fault{Do: dynamotest.Delay, Op: "PutItem", Delay: 3 * time.Second, Times: 2})
		db.Inject(dynamotest.Fault{Do: dynamotest.DelayReply, Op: "PutItem", Delay: 2 * time.Second, Times: 2})
		db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "PutItem"})
		client := once(db.Client())
		if d := took(func() { _ = put(t.Context(), client, table, order("ann", 1)) }); d != 5*time.Second {
			t.Errorf("both delays and a lost reply took %v", d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		d := took(func() {
			if err := put(ctx, client, table, order("ann", 2)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		})
		if d != 4*time.Second || count(t, db.Client(), table) != 2 {
			t.Errorf("after %v %d rows: both writes should have taken effect", d, count(t, db.Client(), table))
		}
	})
}

func TestAKeyIsFoundOnTheWay(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	table := create(t, db)
	client := once(db.Client())
	key := orderKey("ann", 1)
	key["number"] = &types.AttributeValueMemberN{Value: "1.0"}
	batch := func() error {
		_, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
			table: {{PutRequest: &types.PutRequest{Item: order("bo", 1)}}, {DeleteRequest: &types.DeleteRequest{Key: orderKey("ann", 1)}}},
		}})
		return err
	}
	for name, send := range map[string]func() error{
		"PutItem": func() error { return put(t.Context(), client, table, order("ann", 1)) },
		"GetItem": func() error {
			_, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: orderKey("ann", 1)})
			return err
		},
		"BatchWriteItem": batch,
	} {
		db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Key: key})
		if err := put(t.Context(), client, table, order(name, 1)); err != nil {
			t.Errorf("%s: another key: %v", name, err)
		}
		if send() == nil {
			t.Errorf("%s was not lost", name)
		}
	}
}

func TestOtherClientsMeetTheServersFaults(t *testing.T) {
	t.Parallel()
	srv := dynamotest.NewServer(nil)
	listening := httptest.NewServer(srv.Handler())
	defer listening.Close()
	srv.Inject(dynamotest.Fault{Do: dynamotest.InternalError, Op: "ListTables"})
	client := once(dynamotest.Connect(listening.URL))
	for _, want := range []string{"InternalServerError", "<nil>"} {
		if _, err := client.ListTables(t.Context(), &dynamodb.ListTablesInput{}); errorCode(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestFaultsThatCannotBe(t *testing.T) {
	t.Parallel()
	document := map[string]types.AttributeValue{"customer": &types.AttributeValueMemberBOOL{}}
	for want, f := range map[string]dynamotest.Fault{
		"needs a server":         {Do: dynamotest.Throttle},
		"no such Do":             {Op: "PutItem"},
		"Delay must be positive": {Do: dynamotest.Delay},
		"is no probability":      {Do: dynamotest.LoseReply, Chance: 2},
		"and no key":             {Do: dynamotest.LoseReply, Key: document},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("%+v: %s, want … %s …", f, got, want)
				}
			}()
			dynamotest.NewTap().Inject(f)
		}()
	}
}
