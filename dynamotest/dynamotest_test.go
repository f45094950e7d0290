package dynamotest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
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
	"github.com/homeops/ddbpatterns/schema"
)

func orders(name string) schema.Table {
	return schema.Table{
		Name:    name,
		Key:     schema.Key{Partition: schema.String("customer"), Sort: schema.Number("number")},
		Indexes: []schema.Index{{Name: "by-day", Key: schema.Key{Partition: schema.String("day")}}},
		TTL:     "expiresAt",
	}
}

func order(customer string, number int) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{
		"customer": &types.AttributeValueMemberS{Value: customer},
		"number":   &types.AttributeValueMemberN{Value: strconv.Itoa(number)},
		"day":      &types.AttributeValueMemberS{Value: "2026-03-29"},
	}
}

func create(t *testing.T, db *dynamotest.DB) string {
	t.Helper()
	name := db.Name("orders")
	if err := schema.Create(t.Context(), db.Client(), orders(name)); err != nil {
		t.Fatal(err)
	}
	return name
}

func put(ctx context.Context, db *dynamodb.Client, table string, item map[string]types.AttributeValue) error {
	_, err := db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: aws.String(table), Item: item,
		ConditionExpression: aws.String("attribute_not_exists(customer)"),
	})
	return err
}

func count(t *testing.T, db *dynamodb.Client, table string) int {
	t.Helper()
	out, err := db.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(table), ConsistentRead: aws.Bool(true)})
	if err != nil {
		t.Fatal(err)
	}
	return len(out.Items)
}

func ExampleNewServer() {
	ctx := context.Background()
	srv := dynamotest.NewServer(nil)
	db := srv.Client() // a real *dynamodb.Client; no socket
	if err := schema.Create(ctx, db, orders("orders")); err != nil {
		log.Fatal(err)
	}
	if err := put(ctx, db, "orders", order("ann", 1)); err != nil {
		log.Fatal(err)
	}
	err := put(ctx, db, "orders", order("ann", 1))
	var refused *types.ConditionalCheckFailedException
	fmt.Println(srv.Tables(), errors.As(err, &refused))
	// Output: [orders] true
}

func ExampleTap_Meter() {
	ctx := context.Background()
	srv := dynamotest.NewServer(nil)
	db := srv.Client()
	if err := schema.Create(ctx, db, orders("orders")); err != nil {
		log.Fatal(err)
	}
	cost := srv.Tap().Meter(func() {
		_ = put(ctx, db, "orders", order("ann", 1))
		_ = put(ctx, db, "orders", order("ann", 1)) // refused, and charged
	})
	fmt.Println(cost)
	// Output:
	// 2 requests, 3 WCU, 2 deep
	//   PutItem ×2
	//   table orders: 0 RCU, 3 WCU
	//   index orders/by-day: 0 RCU, 1 WCU
}

func ExampleTap_Inject() {
	ctx := context.Background()
	srv := dynamotest.NewServer(&dynamotest.Config{MaxBackoff: time.Millisecond})
	db := srv.Client()
	if err := schema.Create(ctx, db, orders("orders")); err != nil {
		log.Fatal(err)
	}
	// The write takes effect and its reply is lost. The SDK sends it again, and
	// the condition fails because of the first attempt.
	srv.Tap().Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "PutItem"})
	err := put(ctx, db, "orders", order("ann", 1))
	var refused *types.ConditionalCheckFailedException
	fmt.Println(errors.As(err, &refused))
	// Output: true
}

func ExampleWithMeter() {
	srv := dynamotest.NewServer(nil)
	db := srv.Client()
	if err := schema.Create(context.Background(), db, orders("orders")); err != nil {
		log.Fatal(err)
	}
	ctx, meter := dynamotest.WithMeter(context.Background())
	_ = put(ctx, db, "orders", order("ann", 1))
	_ = put(context.Background(), db, "orders", order("bo", 1)) // somebody else's
	fmt.Println(meter.Cost().Price())
	// Output: 1 request, 2 WCU
}

func TestLoseRequestIsSentAgain(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond))
	table := create(t, db)
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "PutItem"})
	cost := db.Meter(func() {
		if err := put(t.Context(), db.Client(), table, order("ann", 1)); err != nil {
			t.Error(err)
		}
	})
	cost.Want(t, dynamotest.Price{Requests: 2, WCU: 2})
	if cost.Unpriced != 1 || count(t, db.Client(), table) != 1 {
		t.Errorf("%v; %d rows", cost, count(t, db.Client(), table))
	}
}

func TestLoseEveryReply(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond))
	table := create(t, db)
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "PutItem", Table: table, Times: -1})
	err := put(t.Context(), db.Client(), table, order("ann", 1))
	if err == nil || !strings.Contains(err.Error(), "connection reset") {
		t.Errorf("got %v", err)
	}
	db.Heal()
	if n := count(t, db.Client(), table); n != 1 {
		t.Errorf("%d rows: the write should have taken effect once", n)
	}
}

func TestFaultsChooseTheirRequests(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	table := create(t, db)
	client := once(db.Client())
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "PutItem", Table: table, Nth: 2, Times: 2})
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "DeleteItem", Table: "another"})
	var lost []int
	for i := range 5 {
		if put(t.Context(), client, table, order("ann", i)) != nil {
			lost = append(lost, i)
		}
	}
	if diff := cmp.Diff([]int{1, 2}, lost); diff != "" {
		t.Error(diff)
	}
	idle := db.Tap().Heal()
	if len(idle) != 1 || !strings.Contains(idle[0], "DeleteItem") {
		t.Errorf("idle faults: %q", idle)
	}
}

// recorder replaces the testing.T of a test that fails.
type recorder struct {
	testing.TB
	errors   []string
	cleanups []func()
}

func (r *recorder) Helper()                           {}
func (r *recorder) Cleanup(f func())                  { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Error(args ...any)                 { r.errors = append(r.errors, fmt.Sprint(args...)) }
func (r *recorder) Fatal(args ...any)                 { r.Error(args...); runtime.Goexit() }
func (r *recorder) Fatalf(format string, args ...any) { r.Fatal(fmt.Sprintf(format, args...)) }
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) finish() {
	for _, f := range r.cleanups {
		f()
	}
}

func TestAFaultThatNeverFiredFailsTheTest(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	db := dynamotest.New(r, nil)
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem"})
	r.finish()
	if len(r.errors) != 1 || !strings.Contains(r.errors[0], "LoseReply") {
		t.Errorf("errors: %q", r.errors)
	}
}

func TestWantSaysWhatTheRequestsWere(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	table := create(t, db)
	cost := db.Meter(func() { _ = put(t.Context(), db.Client(), table, order("ann", 1)) })
	r := &recorder{TB: t}
	cost.Want(r, dynamotest.Price{Requests: 1, WCU: 1})
	want := []string{`cost: want 1 request, 1 WCU, got 1 request, 2 WCU, 1 deep
  PutItem ×1
  table orders: 0 RCU, 2 WCU
  index orders/by-day: 0 RCU, 1 WCU`}
	if diff := cmp.Diff(want, r.errors); diff != "" {
		t.Error(diff)
	}
}

// On any endpoint, the meter takes prices from the replies.
func TestMeterOnAnotherBackend(t *testing.T) {
	t.Parallel()
	tap, client := otherBackend(t)
	in := &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: order("ann", 1)}
	cost := tap.Meter(func() {
		if _, err := client.PutItem(t.Context(), in); err != nil {
			t.Error(err)
		}
	})
	cost.Want(t, dynamotest.Price{Requests: 1, WCU: 2})
	if cost.ByIndex["orders/by-day"].WCU != 1 {
		t.Errorf("the index is missing: %v", cost)
	}
	if in.ReturnConsumedCapacity != "" {
		t.Errorf("the caller's input asks for capacity: %q", in.ReturnConsumedCapacity)
	}
}

func withoutPrices(server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reply := httptest.NewRecorder()
		server.ServeHTTP(reply, r)
		reply.Header().Del("X-Dynamotest-Capacity")
		maps.Copy(w.Header(), reply.Header())
		w.WriteHeader(reply.Code)
		_, _ = w.Write(reply.Body.Bytes())
	})
}

// An operation that is missing here is answered with an error that the SDK does
// not retry.
func TestAnOperationThatThereIsNot(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	var err error
	cost := db.Meter(func() {
		_, err = db.Client().CreateBackup(t.Context(), &dynamodb.CreateBackupInput{TableName: aws.String("orders"), BackupName: aws.String("all")})
	})
	if errorCode(err) != "UnknownOperationException" || !strings.Contains(err.Error(), `dynamotest does not have "CreateBackup"`) || cost.Requests != 1 {
		t.Errorf("got %v after %v", err, cost)
	}
}

// As on DynamoDB, callers that did not ask for the capacity do not get it.
func TestRepliesAreTheCallers(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	create(t, db)
	out, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("orders"), Item: order("ann", 1)})
	if err != nil || out.ConsumedCapacity != nil {
		t.Errorf("%v, capacity %v", err, out.ConsumedCapacity)
	}
}

func TestMeterTellsReadsFromWritesInTransactions(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	table := create(t, db)
	cost := db.Meter(func() {
		_, err := db.Client().TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: aws.String(table), Item: order("ann", 1)}},
			{Put: &types.Put{TableName: aws.String(table), Item: order("ann", 2)}},
		}})
		if err != nil {
			t.Error(err)
		}
	})
	if cost.RCU != 0 || cost.WCU == 0 || cost.ByOp["TransactWriteItems"] != 1 {
		t.Error(cost)
	}
}

// A deadline leaves open whether the write took effect, as on a socket.
func TestADeadlineIsAmbiguous(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		after time.Duration
		rows  int
	}{"on the way there": {2 * time.Millisecond, 0}, "on the way back": {8 * time.Millisecond, 1}} {
		synctest.Test(t, func(t *testing.T) {
			db := dynamotest.New(t, &dynamotest.Config{Latency: 10 * time.Millisecond})
			table := create(t, db)
			ctx, cancel := context.WithTimeout(t.Context(), tc.after)
			defer cancel()
			var err error
			cost := db.Meter(func() { err = put(ctx, db.Client(), table, order("ann", 1)) })
			if !errors.Is(err, context.DeadlineExceeded) || cost.Requests != 1 || cost.Unpriced != 1 {
				t.Errorf("%s: %v; %v", name, err, cost)
			}
			if n := count(t, db.Client(), table); n != tc.rows {
				t.Errorf("%s: %d rows, want %d", name, n, tc.rows)
			}
		})
	}
}

// A lost request and the one sent in its place are two round trips.
func TestDepthCountsWhatWasLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, &dynamotest.Config{Latency: 2 * time.Millisecond})
		table := create(t, db)
		db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "PutItem"})
		cost := db.Meter(func() { _ = put(t.Context(), db.Client(), table, order("ann", 0)) })
		if cost.Requests != 2 || cost.Depth != 2 {
			t.Error(cost)
		}
	})
}

// Callers may share an input, as they may with a bare client.
func TestASharedInput(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	in := &dynamodb.GetItemInput{TableName: aws.String(create(t, db)), Key: order("ann", 1)}
	delete(in.Key, "day")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := db.Client().GetItem(t.Context(), in); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// Depth counts dependent round trips, in virtual time.
func TestDepth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, &dynamotest.Config{Latency: 2 * time.Millisecond})
		table := create(t, db)
		began := time.Now()
		cost := db.Meter(func() {
			_ = put(t.Context(), db.Client(), table, order("ann", 0))
			var wg sync.WaitGroup
			for i := range 3 {
				wg.Go(func() { _ = put(t.Context(), db.Client(), table, order("ann", 1+i)) })
			}
			wg.Wait()
			_ = put(t.Context(), db.Client(), table, order("ann", 9))
		})
		if cost.Requests != 5 || cost.Depth != 3 || time.Since(began) != 6*time.Millisecond {
			t.Errorf("%v after %v", cost, time.Since(began))
		}
	})
}

func TestExpireTTLFollowsTheServersClock(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	db := dynamotest.New(t, &dynamotest.Config{Now: func() time.Time { return now }})
	table := create(t, db)
	item := order("ann", 1)
	item["expiresAt"] = &types.AttributeValueMemberN{Value: "1800000060"}
	if err := put(t.Context(), db.Client(), table, item); err != nil {
		t.Fatal(err)
	}
	now = now.Add(59 * time.Second)
	if n := db.Server().ExpireTTL(); n != 0 {
		t.Errorf("%d deleted before their time", n)
	}
	now = now.Add(2 * time.Second)
	if n := count(t, db.Client(), table); n != 1 {
		t.Errorf("%d rows: what has expired stays until the sweep", n)
	}
	if n := db.Server().ExpireTTL(); n != 1 || count(t, db.Client(), table) != 0 {
		t.Errorf("%d deleted", n)
	}
}

func TestNamesOnAnEndpointAreTheTestsOwn(t *testing.T) {
	t.Parallel()
	db, other := dynamotest.Open(t), dynamotest.Open(t)
	if db.InProcess() != (db.Server() != nil) {
		t.Error("InProcess and Server disagree")
	}
	if !db.InProcess() && db.Name("orders") == other.Name("orders") {
		t.Error("two tests share a table")
	}
	if !strings.HasSuffix(db.Name("orders"), "orders") {
		t.Errorf("Name = %s", db.Name("orders"))
	}
}

// A fault that never fired fails the test also when it is healed before the end.
func TestHealingAnIdleFaultFailsTheTest(t *testing.T) {
	t.Parallel()
	r := &recorder{TB: t}
	db := dynamotest.New(r, nil)
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem"})
	db.Heal()
	if len(r.errors) != 1 || !strings.Contains(r.errors[0], "LoseReply") {
		t.Errorf("errors: %q", r.errors)
	}
	if r.finish(); len(r.errors) != 1 {
		t.Errorf("it fails the test twice: %q", r.errors)
	}
}

// A fault's text has all its fields.
func TestFaultAsText(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]dynamotest.Fault{
		"LoseReply on request 1": {Do: dynamotest.LoseReply},
		"Throttle as ThrottlingException by index by-day on request 3 of Op PutItem of Table orders": {
			Do: dynamotest.Throttle.As("ThrottlingException").ByIndex("by-day"), Nth: 3, Op: "PutItem", Table: "orders",
		},
		"Delay on request 1 of Op Query of Index by-day by a chance of 0.01": {
			Do: dynamotest.Delay(time.Second), Op: "Query", Index: "by-day", Chance: 0.01,
		},
	} {
		if got := f.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
