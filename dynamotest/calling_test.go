package dynamotest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

// Another process creates the order first.
func ExampleBefore() {
	ctx := context.Background()
	srv := seeded(ctx, 1)
	db := srv.Client()
	srv.Tap().Inject(dynamotest.Fault{
		Op: "PutItem",
		Do: dynamotest.Before(func() { fmt.Println("meanwhile:", put(ctx, db, "orders", order("bo", 1))) }),
	})
	fmt.Println("then:", errorCode(put(ctx, db, "orders", order("bo", 1))))
	// Output:
	// meanwhile: <nil>
	// then: ConditionalCheckFailedException
}

// A write takes effect, its reply is lost, and what it wrote is deleted before the
// SDK sends it again.
func ExampleAfter() {
	ctx := context.Background()
	srv := dynamotest.NewServer(nil)
	db := srv.Client()
	if err := schema.Create(ctx, db, orders("orders")); err != nil {
		log.Fatal(err)
	}
	srv.Tap().Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "PutItem"})
	srv.Tap().Inject(dynamotest.Fault{Op: "PutItem", Do: dynamotest.After(func() {
		name := "orders"
		_, err := db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &name, Key: orderKey("ann", 1)})
		fmt.Println("deleted:", err)
	})})
	fmt.Println("put:", put(ctx, db, "orders", order("ann", 1)))
	// Output:
	// deleted: <nil>
	// put: <nil>
}

// DynamoDB would refuse the write because a transaction is under way.
func ExampleAnswer() {
	ctx := context.Background()
	srv := seeded(ctx, 1)
	srv.Tap().Inject(dynamotest.Fault{
		Op: "PutItem",
		Do: dynamotest.Answer(400, `{"__type": "TransactionConflictException", "message": "a transaction is under way"}`),
	})
	err := put(ctx, srv.Client(), "orders", order("bo", 1))
	fmt.Println(errorCode(err), put(ctx, srv.Client(), "orders", order("bo", 1)))
	// Output: TransactionConflictException <nil>
}

// Before a request and after it, in the order of injection, once for each attempt;
// not for requests of the function itself.
func TestCalling(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t, dynamotest.MaxBackoff(1))
	table := create(t, db)
	var log []string
	rows := func(when string) func() {
		return func() {
			if len(log) > 9 {
				t.Fatal("it meets its own requests")
			}
			log = append(log, fmt.Sprint(when, count(t, db.Client(), table)))
			if err := put(t.Context(), db.Client(), table, order(when, len(log))); err != nil {
				t.Error(err)
			}
		}
	}
	before, after := dynamotest.Before(rows("before ")), dynamotest.After(rows("after "))
	if apart := map[dynamotest.Effect]bool{before: true, after: true}; len(apart) != 2 {
		t.Error("effects cannot be compared")
	}
	for _, do := range []dynamotest.Effect{before, after, dynamotest.Before(func() { log = append(log, "second") }), dynamotest.LoseReply} {
		db.Inject(dynamotest.Fault{Do: do, Op: "PutItem", Key: orderKey("ann", 1)})
	}
	if err := put(t.Context(), db.Client(), table, order("ann", 1)); errorCode(err) != "ConditionalCheckFailedException" { // its own
		t.Error(err)
	}
	if want := []string{"before 0", "second", "after 2"}; !slices.Equal(log, want) {
		t.Errorf("got %q, want %q", log, want)
	}
	db.Heal()
	log = nil
	db.Inject(dynamotest.Fault{Do: dynamotest.Before(rows("again ")), Op: "PutItem", Times: -1})
	for n := range 2 {
		if err := put(t.Context(), db.Client(), table, order("bo", n)); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"again 3", "again 5"}; !slices.Equal(log, want) {
		t.Errorf("got %q, want %q", log, want)
	}
}

// After a request that is lost, or answered elsewhere, nothing is called.
func TestNoReplyNoAfter(t *testing.T) {
	t.Parallel()
	for _, do := range []dynamotest.Effect{dynamotest.LoseRequest, dynamotest.Answer(503, "{}")} {
		db := dynamotest.New(t, nil)
		table := create(t, db)
		db.Inject(dynamotest.Fault{Do: do, Op: "PutItem"})
		db.Inject(dynamotest.Fault{Do: dynamotest.After(func() { t.Error("called") }), Op: "PutItem"})
		called := false
		db.Inject(dynamotest.Fault{Do: dynamotest.Before(func() { called = true }), Op: "PutItem"})
		cost := db.Meter(func() {
			if err := put(t.Context(), once(db.Client()), table, order("ann", 1)); err == nil {
				t.Errorf("%v: no error", do)
			}
		})
		if idle := db.Tap().Heal(); len(idle) != 1 || !strings.Contains(idle[0], "After") || !called || cost.Requests != 1 || cost.Unpriced != 1 {
			t.Errorf("%v: idle %q; called before: %t; %v", do, idle, called, cost)
		}
	}
}

// A request is held while others pass.
func TestHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, nil)
		table := create(t, db)
		release := make(chan struct{})
		db.Inject(dynamotest.Fault{Do: dynamotest.Before(func() { <-release }), Op: "PutItem"})
		done := make(chan error)
		go func() { done <- put(t.Context(), db.Client(), table, order("ann", 1)) }()
		synctest.Wait()
		if err := put(t.Context(), db.Client(), table, order("bo", 1)); err != nil || count(t, db.Client(), table) != 1 {
			t.Errorf("%d rows, %v", count(t, db.Client(), table), err)
		}
		close(release)
		if err := <-done; err != nil || count(t, db.Client(), table) != 2 {
			t.Errorf("%d rows, %v", count(t, db.Client(), table), err)
		}
	})
}

// cut is an HTTP client that loses every reply.
type cut struct{ next dynamodb.HTTPClient }

func (c cut) Do(r *http.Request) (*http.Response, error) {
	if reply, err := c.next.Do(r); err == nil {
		_ = reply.Body.Close()
	}
	return nil, errors.New("connection reset")
}

// A function that was not called, because its request was given up during a delay or
// no reply came, has proved nothing.
func TestAFunctionThatWasNotCalledIsIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv, tap := dynamotest.NewServer(nil), dynamotest.NewTap()
		db := once(dynamotest.Connect("http://localhost:1", func(o *dynamodb.Options) {
			o.HTTPClient = cut{srv.Client().Options().HTTPClient}
		}, tap.Attach))
		for _, call := range []func(func()) dynamotest.Effect{dynamotest.Before, dynamotest.After} {
			tap.Inject(dynamotest.Fault{Do: dynamotest.Delay(time.Minute)})
			tap.Inject(dynamotest.Fault{Do: call(func() { t.Error("called") })})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := db.ListTables(ctx, nil)
			cancel()
			if idle := tap.Heal(); err == nil || len(idle) != 1 {
				t.Errorf("%v, idle %q", err, idle)
			}
		}
		tap.Inject(dynamotest.Fault{Do: dynamotest.After(func() { t.Error("called") })})
		if _, err := db.ListTables(t.Context(), nil); err == nil || len(tap.Heal()) != 1 {
			t.Errorf("%v, and a lost reply counts", err)
		}
	})
}
