package dynamotest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
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

// once returns a client that does not retry.
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
	srv.Tap().Inject(dynamotest.Fault{
		Do: dynamotest.Throttle, Op: "PutItem", Times: -1,
		Key: map[string]types.AttributeValue{"customer": &types.AttributeValueMemberS{Value: "ann"}},
	})
	fmt.Println("bo:", put(ctx, db, "orders", order("bo", 1)))
	var throttled *types.ThrottlingException
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
		srv.Tap().Inject(dynamotest.Fault{Do: dynamotest.InternalError, Op: "PutItem", Chance: 0.2, Seed: seed})
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
		{"throttle", dynamotest.Fault{Do: dynamotest.Throttle}, "ThrottlingException", 0},
		{"internal error", dynamotest.Fault{Do: dynamotest.InternalError}, "InternalServerError", 0},
		{"internal error after", dynamotest.Fault{Do: dynamotest.InternalError.After()}, "InternalServerError", 1},
		{"unavailable", dynamotest.Fault{Do: dynamotest.Unavailable}, "ServiceUnavailable", 0},
		{"unavailable after", dynamotest.Fault{Do: dynamotest.Unavailable.After()}, "ServiceUnavailable", 1},
		{"conflict", dynamotest.Fault{Do: dynamotest.Conflict}, "TransactionConflictException", 0},
		{"another table", dynamotest.Fault{Do: dynamotest.Throttle, Table: "another"}, "<nil>", 1},
		{"another key", dynamotest.Fault{Do: dynamotest.Throttle, Key: orderKey("bo", 1)}, "<nil>", 1},
		{"the key", dynamotest.Fault{Do: dynamotest.Throttle, Key: orderKey("ann", 1)}, "ThrottlingException", 0},
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
			if idle := db.Tap().Heal(); (len(idle) == 1) != (tt.code == "<nil>") {
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
		for i, do := range []dynamotest.Effect{dynamotest.Throttle, dynamotest.InternalError, dynamotest.Unavailable, dynamotest.Conflict} {
			db.Inject(dynamotest.Fault{Do: do, Op: "PutItem"})
			err := put(t.Context(), db.Client(), table, order("ann", i))
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
	db.Inject(dynamotest.Fault{Do: dynamotest.Throttle, Op: "Query"})
	_, err := once(db.Client()).Query(t.Context(), &dynamodb.QueryInput{
		TableName: &table, IndexName: aws.String("by-day"), KeyConditionExpression: aws.String("#d = :d"),
		ExpressionAttributeNames:  map[string]string{"#d": "day"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":d": &types.AttributeValueMemberS{Value: "x"}},
	})
	var throttled *types.ThrottlingException
	if !errors.As(err, &throttled) || len(throttled.ThrottlingReasons) != 1 {
		t.Fatalf("got %v", err)
	}
	why := throttled.ThrottlingReasons[0]
	if *why.Reason != "IndexReadKeyRangeThroughputExceeded" || !strings.HasSuffix(*why.Resource, ":table/orders/index/by-day") {
		t.Errorf("reason %s, resource %s", *why.Reason, *why.Resource)
	}
}

func TestATransactionMeetsAConflict(t *testing.T) {
	t.Parallel()
	for do, code := range map[dynamotest.Effect]string{dynamotest.Conflict: "TransactionConflict", dynamotest.Throttle: "ThrottlingError"} {
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
	db.Inject(dynamotest.Fault{Do: dynamotest.Unprocessed.Last(2), Op: "BatchWriteItem"})
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
	db.Inject(dynamotest.Fault{Do: dynamotest.Unprocessed.Last(4), Op: "BatchGetItem"})
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
		db.Inject(dynamotest.Fault{Do: dynamotest.Delay(3 * time.Second), Op: "PutItem", Times: 2})
		db.Inject(dynamotest.Fault{Do: dynamotest.DelayReply(2 * time.Second), Op: "PutItem", Times: 2})
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
	srv.Tap().Inject(dynamotest.Fault{Do: dynamotest.InternalError, Op: "ListTables"})
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
		"needs a server":             {Do: dynamotest.Throttle},
		"it has no Do":               {Op: "PutItem"},
		"delay must be positive":     {Do: dynamotest.Delay(0)},
		"fault Before: it has no":    {Do: dynamotest.Before(nil)},
		"fault After: it has no":     {Do: dynamotest.After(nil)},
		"99 is not the status":       {Do: dynamotest.Answer(99, "")},
		"is not a probability":       {Do: dynamotest.LoseReply, Chance: 2},
		"NaN is not a probability":   {Do: dynamotest.LoseReply, Chance: math.NaN()},
		"not be negative, except":    {Do: dynamotest.LoseReply, Nth: -1},
		"except for Times -1":        {Do: dynamotest.LoseReply, Times: -2},
		"Last must be positive":      {Do: dynamotest.Unprocessed.Last(-1)},
		`no operation "GetItm"`:      {Do: dynamotest.Throttle, Op: "GetItm"},
		"GetItem meets no Conflict":  {Do: dynamotest.Conflict, Op: "GetItem"},
		"ListTables names no table":  {Do: dynamotest.LoseReply, Op: "ListTables", Table: "orders"},
		"PutItem is not a batch":     {Do: dynamotest.Unprocessed, Op: "PutItem"},
		"names no items":             {Do: dynamotest.LoseReply, Op: "Query", Key: orderKey("ann", 1)},
		"GetRecords names no":        {Do: dynamotest.LoseReply, Op: "GetRecords", Key: orderKey("ann", 1)},
		"a table has no slash":       {Do: dynamotest.LoseReply, Table: "orders/by-day"},
		`"orders/index/by-day": a`:   {Do: dynamotest.LoseReply, Table: "arn:aws:dynamodb:us-east-1:123456789012:table/orders/index/by-day"},
		"not that of a table":        {Do: dynamotest.LoseReply, Table: "arn:aws:s3:::orders"},
		"give its own name":          {Do: dynamotest.LoseReply, Index: "orders/by-day"},
		"PutItem reads no index":     {Do: dynamotest.LoseReply, Op: "PutItem", Index: "by-day"},
		"to an index names no":       {Do: dynamotest.LoseReply, Index: "by-day", Key: orderKey("ann", 1)},
		"read no Index":              {Do: dynamotest.Conflict, Index: "by-day"},
		"batches read no Index":      {Do: dynamotest.Unprocessed, Op: "BatchGetItem", Index: "by-day"},
		"GetItem reads no index":     {Do: dynamotest.Throttle, Op: "GetItem", Index: "by-day"},
		"Throttle knows":             {Do: dynamotest.Throttle.As("SlowDown")},
		"consumes no capacity":       {Do: dynamotest.Throttle.As("ThrottlingException"), Op: "CreateTable"},
		"must name an attribute":     {Do: dynamotest.LoseReply, Key: map[string]types.AttributeValue{}},
		"dynamotest: fault Throttle": {Do: dynamotest.Throttle},
		"not a probability":          {Do: dynamotest.LoseReply, Chance: -1},
		"Query writes no items":      {Do: dynamotest.Throttle.ByIndex("by-day"), Op: "Query"},
		"no request is both":         {Do: dynamotest.Throttle.ByIndex("by-day"), Index: "by-day"},
		`Index "orders/by-day"`:      {Do: dynamotest.Throttle.ByIndex("orders/by-day")},
		"Last must":                  {Do: dynamotest.Unprocessed.Last(0)},
		"cannot be part of a key":    {Do: dynamotest.LoseReply, Key: document},
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

// A server knows its operations; those of another backend are unknown here.
func TestAnOperationThatIsMisspelt(t *testing.T) {
	t.Parallel()
	dynamotest.NewTap().Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "OfTomorrow"})
	for _, do := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest, dynamotest.DelayReply(time.Second), dynamotest.Unavailable} {
		f := dynamotest.Fault{Do: do, Op: "PutItme"}
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, `there is no operation "PutItme"`) {
					t.Errorf("%v: %s", do, got)
				}
			}()
			dynamotest.NewServer(nil).Tap().Inject(f)
		}()
	}
}

// tried returns the results of two attempts to write with some faults, and the
// faults that did not fire.
func tried(t *testing.T, faults ...dynamotest.Fault) (first, second string, idle []string) {
	t.Helper()
	db := dynamotest.New(t, nil)
	table := create(t, db)
	for _, f := range faults {
		f.Op = "BatchWriteItem"
		db.Inject(f)
	}
	write := func() string {
		out, err := once(db.Client()).BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
			table: {{PutRequest: &types.PutRequest{Item: order("ann", 1)}}, {PutRequest: &types.PutRequest{Item: order("bo", 1)}}},
		}})
		switch {
		case err != nil && strings.Contains(err.Error(), "connection reset"):
			return fmt.Sprintf("lost, %d rows", count(t, db.Client(), table))
		case err != nil:
			return fmt.Sprintf("%s, %d rows", errorCode(err), count(t, db.Client(), table))
		}
		return fmt.Sprintf("%d left, %d rows", len(out.UnprocessedItems[table]), count(t, db.Client(), table))
	}
	return write(), write(), db.Tap().Heal()
}

func TestFaultsCompose(t *testing.T) {
	t.Parallel()
	one := dynamotest.Fault{Do: dynamotest.Unprocessed.Last(1)}
	throttle, lateError := dynamotest.Fault{Do: dynamotest.Throttle}, dynamotest.Fault{Do: dynamotest.Unavailable.After()}
	loseReply, loseRequest := dynamotest.Fault{Do: dynamotest.LoseReply}, dynamotest.Fault{Do: dynamotest.LoseRequest}
	delayReply := dynamotest.Fault{Do: dynamotest.DelayReply(time.Microsecond), Times: 2}
	answer := dynamotest.Fault{Do: dynamotest.Answer(400, `{"__type": "TransactionConflictException"}`)}
	for _, tt := range []struct {
		name          string
		faults        []dynamotest.Fault
		first, second string
		idle          int
	}{
		{"the first that answers", []dynamotest.Fault{throttle, lateError}, "ThrottlingException, 0 rows", "ServiceUnavailable, 2 rows", 0},
		{"the first that loses", []dynamotest.Fault{loseReply, loseRequest}, "lost, 2 rows", "lost, 2 rows", 0},
		{"lost before it is answered", []dynamotest.Fault{throttle, loseRequest}, "lost, 0 rows", "ThrottlingException, 0 rows", 0},
		{"answered and then lost", []dynamotest.Fault{throttle, loseReply}, "lost, 0 rows", "0 left, 2 rows", 0},
		{"in part and then lost", []dynamotest.Fault{one, loseReply}, "lost, 1 rows", "0 left, 2 rows", 0},
		{"in part and then an error", []dynamotest.Fault{lateError, one}, "ServiceUnavailable, 1 rows", "0 left, 2 rows", 0},
		{"refused before its parts", []dynamotest.Fault{one, throttle}, "ThrottlingException, 0 rows", "1 left, 1 rows", 0},
		{"parts add up", []dynamotest.Fault{one, one}, "2 left, 0 rows", "0 left, 2 rows", 0},
		{"no part is left", []dynamotest.Fault{{Do: dynamotest.Unprocessed}, one}, "2 left, 0 rows", "1 left, 1 rows", 0},
		{"no reply to delay", []dynamotest.Fault{delayReply, {Do: dynamotest.LoseRequest, Times: 2}}, "lost, 0 rows", "lost, 0 rows", 1},
		{"answered elsewhere", []dynamotest.Fault{answer, loseReply}, "TransactionConflictException, 0 rows", "lost, 2 rows", 0},
		{"no answer to a lost request", []dynamotest.Fault{loseRequest, answer}, "lost, 0 rows", "TransactionConflictException, 0 rows", 0},
		{"every second one", []dynamotest.Fault{{Do: dynamotest.LoseRequest, Nth: 2}, {Do: dynamotest.Throttle, Nth: 2}}, "0 left, 2 rows", "lost, 2 rows", 1},
	} {
		first, second, idle := tried(t, tt.faults...)
		if first != tt.first || second != tt.second || len(idle) != tt.idle {
			t.Errorf("%s: %s; %s; idle %q, want %s; %s; %d", tt.name, first, second, idle, tt.first, tt.second, tt.idle)
		}
	}
}

// Concurrent callers, each with items of its own, meet the same faults in every
// run, however they interleave: faults of the server and of the transport.
func TestASeedReplaysConcurrentCallers(t *testing.T) {
	t.Parallel()
	run := func(seed uint64) []string {
		db := dynamotest.New(t, nil)
		table := create(t, db)
		db.Inject(dynamotest.Fault{Do: dynamotest.InternalError, Chance: 0.3, Seed: seed, Table: table, Op: "GetItem"})
		db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Chance: 0.3, Seed: seed, Table: table, Op: "PutItem"})
		client := once(db.Client())
		var mu sync.Mutex
		var failed []string
		var wg sync.WaitGroup
		for caller := range 8 {
			wg.Go(func() {
				name := fmt.Sprint("c", caller)
				for i := range 20 {
					item := order(name, i%4)
					item["at"] = &types.AttributeValueMemberS{Value: time.Now().String()} // not a part of the draw
					_, lost := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: item})
					_, refused := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: orderKey(name, i%4)})
					mu.Lock()
					failed = append(failed, fmt.Sprint(name, " ", i, " ", refused != nil, " ", lost != nil))
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		slices.Sort(failed)
		return failed
	}
	first := run(1)
	for range 3 {
		if diff := cmp.Diff(first, run(1)); diff != "" {
			t.Fatal(diff)
		}
	}
	if cmp.Equal(first, run(2)) {
		t.Error("another seed makes no difference")
	}
	var failures, losses int
	for _, line := range first {
		if f := strings.Fields(line); f[2] == "true" {
			failures++
		}
		if strings.HasSuffix(line, "true") {
			losses++
		}
	}
	if failures < 25 || failures > 75 || losses < 25 || losses > 75 { // of 160, 48 are expected
		t.Errorf("%d failures and %d losses of 160", failures, losses)
	}
}

// A chance is drawn anew for each attempt: a request that failed may succeed
// when it is sent again.
func TestAChanceIsDrawnForEachAttempt(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	table := create(t, db)
	db.Inject(dynamotest.Fault{Do: dynamotest.Unavailable, Op: "GetItem", Chance: 0.5, Seed: 1})
	failed := 0
	for range 60 {
		if _, err := once(db.Client()).GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &table, Key: orderKey("ann", 1)}); err != nil {
			failed++
		}
	}
	if failed < 15 || failed > 45 {
		t.Errorf("%d of 60 failed", failed)
	}
}

// Two items of one table are throttled for one reason.
func TestAReasonIsGivenOnce(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	table := create(t, db)
	db.Inject(dynamotest.Fault{Do: dynamotest.Throttle, Op: "BatchGetItem"})
	_, err := once(db.Client()).BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		table: {Keys: []map[string]types.AttributeValue{orderKey("ann", 1), orderKey("bo", 1)}},
	}})
	var throttled *types.ThrottlingException
	if !errors.As(err, &throttled) || len(throttled.ThrottlingReasons) != 1 {
		t.Errorf("got %v", err)
	}
}

// The SDK retries a disturbed call after its own back-off, which passes in the
// bubble, unless the error is not retryable.
func TestEveryDisturbanceInABubble(t *testing.T) {
	t.Parallel()
	type outcome struct {
		code     string
		requests int
		waited   bool
	}
	batch := func(t *testing.T, db *dynamotest.DB, table string) error {
		out, err := db.Client().BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
			table: {{PutRequest: &types.PutRequest{Item: order("ann", 1)}}},
		}})
		if err == nil && len(out.UnprocessedItems) > 0 {
			err = errors.New("left")
		}
		return err
	}
	single := func(t *testing.T, db *dynamotest.DB, table string) error {
		return put(t.Context(), db.Client(), table, order("ann", 1))
	}
	for _, tt := range []struct {
		fault dynamotest.Fault
		send  func(t *testing.T, db *dynamotest.DB, table string) error
		want  outcome
	}{
		{dynamotest.Fault{Do: dynamotest.LoseRequest}, single, outcome{"<nil>", 2, true}},
		{dynamotest.Fault{Do: dynamotest.LoseReply}, batch, outcome{"<nil>", 2, true}},
		{dynamotest.Fault{Do: dynamotest.Delay(time.Second)}, single, outcome{"<nil>", 1, true}},
		{dynamotest.Fault{Do: dynamotest.DelayReply(time.Second)}, single, outcome{"<nil>", 1, true}},
		{dynamotest.Fault{Do: dynamotest.Throttle}, single, outcome{"<nil>", 2, true}},
		{dynamotest.Fault{Do: dynamotest.InternalError}, single, outcome{"<nil>", 2, true}},
		{dynamotest.Fault{Do: dynamotest.InternalError.After()}, single, outcome{"ConditionalCheckFailedException", 2, true}},
		{dynamotest.Fault{Do: dynamotest.Unavailable}, single, outcome{"<nil>", 2, true}},
		{dynamotest.Fault{Do: dynamotest.Unavailable, Times: 2}, single, outcome{"<nil>", 3, true}},
		{dynamotest.Fault{Do: dynamotest.Unavailable, Times: 3}, single, outcome{"ServiceUnavailable", 3, true}},
		{dynamotest.Fault{Do: dynamotest.Conflict}, single, outcome{"TransactionConflictException", 1, false}},
		{dynamotest.Fault{Do: dynamotest.Unprocessed}, batch, outcome{"left", 1, false}},
	} {
		synctest.Test(t, func(t *testing.T) {
			db := dynamotest.New(t, nil)
			table := create(t, db)
			db.Inject(tt.fault)
			began := time.Now()
			var err error
			cost := db.Meter(func() { err = tt.send(t, db, table) })
			if got := (outcome{errorCode(err), cost.Requests, time.Since(began) > 0}); got != tt.want {
				t.Errorf("%v: got %v, want %v", tt.fault.Do, got, tt.want)
			}
			db.Heal()
		})
	}
}

// A throttled control-plane operation gets another error.
func TestThrottlingOfTables(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	db.Inject(dynamotest.Fault{Do: dynamotest.Throttle})
	_, err := once(db.Client()).DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("orders")})
	if code := errorCode(err); code != "ThrottlingException" {
		t.Errorf("got %s", code)
	}
}

// A local index is a part of its table, a global one is not.
func TestThrottlingOfIndexes(t *testing.T) {
	t.Parallel()
	db := lagging(t, nil)
	for index, want := range map[string]string{"local": "TableReadKeyRangeThroughputExceeded table/orders", "global": "IndexReadKeyRangeThroughputExceeded table/orders/index/global"} {
		db.Inject(dynamotest.Fault{Do: dynamotest.Throttle, Op: "Scan"})
		_, err := once(db.Client()).Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String("orders"), IndexName: &index})
		var throttled *types.ThrottlingException
		if !errors.As(err, &throttled) {
			t.Fatalf("%s: %v", index, err)
		}
		_, resource, _ := strings.Cut(*throttled.ThrottlingReasons[0].Resource, "123456789012:")
		if got := *throttled.ThrottlingReasons[0].Reason + " " + resource; got != want {
			t.Errorf("%s: got %s, want %s", index, got, want)
		}
	}
}

// The transport understands a request as the server does: only members that
// name tables count as names, an ARN counts, too, and a key belongs to its
// table.
func TestARequestIsUnderstoodOnItsWay(t *testing.T) {
	t.Parallel()
	for _, do := range []dynamotest.Effect{dynamotest.LoseRequest, dynamotest.InternalError} {
		db := dynamotest.New(t, nil)
		table := create(t, db)
		client := once(db.Client())
		if err := schema.Create(t.Context(), client, orders("others")); err != nil {
			t.Fatal(err)
		}
		db.Inject(dynamotest.Fault{Do: do, Table: table, Key: orderKey("ann", 1)})
		if err := put(t.Context(), client, "others", order(table, 1)); err != nil {
			t.Errorf("%v: a value is not a table: %v", do, err)
		}
		_, err := client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
			table:    {{PutRequest: &types.PutRequest{Item: order("bo", 1)}}},
			"others": {{PutRequest: &types.PutRequest{Item: order("ann", 1)}}},
		}})
		if err != nil {
			t.Errorf("%v: the key of another table: %v", do, err)
		}
		if err := put(t.Context(), client, "arn:aws:dynamodb:us-east-1:123456789012:table/"+table, order("ann", 1)); err == nil {
			t.Errorf("%v: an ARN names the table", do)
		}
		db.Inject(dynamotest.Fault{Do: do, Table: table, Op: "DescribeTable"})
		if _, err := client.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: &table}); err == nil {
			t.Errorf("%v: DescribeTable names a table", do)
		}
	}
}

// On an endpoint, a fault that only a server of this process has ends the test
// at once, with the reason.
func TestAnEndpointCommitsNoFaultOfAServer(t *testing.T) {
	t.Setenv("DYNAMODB_ENDPOINT", "http://127.0.0.1:1") // nothing is sent
	for _, do := range []dynamotest.Effect{
		dynamotest.Throttle, dynamotest.InternalError, dynamotest.Unavailable, dynamotest.Conflict, dynamotest.Unprocessed,
	} {
		r := &recorder{TB: t}
		ended := make(chan bool)
		go func() {
			defer close(ended)
			db := dynamotest.Open(r)
			if db.InProcess() || db.Server() != nil {
				t.Error("not the endpoint")
			}
			db.Inject(dynamotest.Fault{Do: do})
			t.Errorf("%v: the test goes on", do)
		}()
		<-ended
		r.finish()
		if len(r.errors) != 1 || !strings.Contains(r.errors[0], do.String()+" needs a server in this process") {
			t.Errorf("%v: errors %q", do, r.errors)
		}
	}
	r := &recorder{TB: t}
	db := dynamotest.Open(r)
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest}) // works everywhere
	if _, err := once(db.Client()).ListTables(t.Context(), &dynamodb.ListTablesInput{}); err == nil || !strings.Contains(err.Error(), "connection reset") {
		t.Errorf("got %v", err)
	}
	if r.finish(); len(r.errors) != 0 {
		t.Errorf("errors %q", r.errors)
	}
}

// The attempts stay three, and the same errors are retryable: only the waits
// are shorter.
func TestMaxBackoff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for longest, short := range map[time.Duration]bool{0: false, time.Millisecond: true} {
			db := dynamotest.New(t, &dynamotest.Config{MaxBackoff: longest})
			table := create(t, db)
			db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "PutItem", Times: 3})
			began := time.Now()
			cost := db.Meter(func() {
				if err := put(t.Context(), db.Client(), table, order("ann", 1)); err == nil || !strings.Contains(err.Error(), "connection reset") {
					t.Errorf("got %v", err)
				}
			})
			if took := time.Since(began); cost.Requests != 3 || (took <= 2*time.Millisecond) != short {
				t.Errorf("MaxBackoff %v: %d requests in %v", longest, cost.Requests, took)
			}
			db.Inject(dynamotest.Fault{Do: dynamotest.Conflict, Op: "PutItem"}) // not sent again
			if err := put(t.Context(), db.Client(), table, order("bo", 1)); errorCode(err) != "TransactionConflictException" {
				t.Errorf("got %v", err)
			}
		}
	})
}

// Several comments say how long the SDK waits. They must be true of the version
// in go.mod.
func TestTheSDKWaitsAsLongAsTheDocsSay(t *testing.T) {
	t.Setenv("AWS_NEW_RETRIES_2026", "false") // not the SDK's future default
	retryer := dynamotest.New(t, nil).Client().Options().Retryer
	for attempt, most := range map[int]time.Duration{1: 2 * time.Second, 2: 4 * time.Second} {
		var longest time.Duration
		for range 200 { // drawn evenly between 0 and the longest
			d, err := retryer.RetryDelay(attempt, errors.New("lost"))
			if err != nil {
				t.Fatal(err)
			}
			longest = max(longest, d)
		}
		if longest > most || longest < most/2 {
			t.Errorf("attempt %d is made after up to %v, want %v", attempt+1, longest, most)
		}
	}
}

// The option reaches the client on every backend.
func TestOpenTakesOptions(t *testing.T) {
	for _, endpoint := range []string{"", "http://127.0.0.1:1"} { // nothing is sent
		t.Setenv("DYNAMODB_ENDPOINT", endpoint)
		db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Microsecond))
		for attempt := range 3 {
			if d, err := db.Client().Options().Retryer.RetryDelay(attempt+1, errors.New("lost")); err != nil || d > time.Microsecond {
				t.Errorf("endpoint %q: attempt %d after %v, %v", endpoint, attempt+2, d, err)
			}
		}
	}
}
