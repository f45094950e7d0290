package activity_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/schema"
)

// created returns a log whose table exists, on a server in this process.
func created(ctx context.Context) *activity.Store {
	return createdOn(ctx, dynamotest.NewServer(nil).Client())
}

func createdOn(ctx context.Context, db *dynamodb.Client) *activity.Store {
	acts, err := activity.New(db, "shop-activities", nil)
	if err != nil {
		panic(err)
	}
	if err := schema.Create(ctx, db, acts.Table()); err != nil {
		panic(err)
	}
	return acts
}

// did is what a customer did in the shop at some minute past eight.
func did(actor, name string, minute, id int) activity.Activity {
	at := time.Date(2026, 3, 23, 8, minute, 0, 0, time.UTC)
	ev, err := event.New(at, "shop", "shop-7", strconv.Itoa(id))
	if err != nil {
		panic(err)
	}
	return activity.Activity{Scope: "shop-7", Actor: actor, Event: ev, Name: name, Kind: "sale"}
}

func morning(ctx context.Context) *activity.Store {
	acts := created(ctx)
	_, err := acts.RecordMany(ctx, []activity.Activity{
		did("42", "order", 0, 1), did("77", "return", 5, 2), did("77", "order", 10, 3), did("42", "order", 15, 4),
	})
	if err != nil {
		panic(err)
	}
	return acts
}

func show(a activity.Activity) {
	fmt.Println(a.At.Format("15:04"), a.Actor, a.Name)
}

func ExampleNew() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client() // or dynamodb.NewFromConfig(cfg)

	acts, err := activity.New(db, "shop-activities", nil)
	if err != nil {
		panic(err)
	}
	if err := schema.Create(ctx, db, acts.Table()); err != nil {
		panic(err)
	}
	for _, index := range acts.Table().Indexes {
		fmt.Println(index.Name)
	}
	// Output:
	// userId-timestamp-index
	// chatId-activity-index
	// chatUser-activity-index
}

func ExampleStore_Record() {
	ctx := context.Background()
	acts := created(ctx)
	placedAt := time.Date(2026, 3, 23, 8, 0, 0, 0, time.UTC)
	ev, err := event.New(placedAt, "shop", "shop-7", "7")
	if err != nil {
		panic(err)
	}
	order := activity.Activity{Scope: "shop-7", Actor: "42", Event: ev, Name: "order", Kind: "sale", Effort: 0.6}

	for range 2 { // the queue delivers twice
		out, err := acts.Record(ctx, order)
		fmt.Println(out, err)
	}
	// Output:
	// created <nil>
	// duplicate <nil>
}

func ExampleStore_RecordAll() {
	ctx := context.Background()
	acts := created(ctx)
	first := did("42", "order", 0, 7)

	out, err := acts.RecordAll(ctx, []activity.Activity{first})
	fmt.Println(out, err)

	// The rules have changed before the redelivery, which now finds a second
	// activity in the same event. What was recorded first stays.
	second, err := first.Event.Nth(2)
	if err != nil {
		panic(err)
	}
	more := first
	more.Event, more.Name = second, "return"
	_, err = acts.RecordAll(ctx, []activity.Activity{first, more})
	var conflict *activity.ConflictError
	if errors.As(err, &conflict) {
		fmt.Println("stands:", len(conflict.Stored), conflict.Stored[0].Name)
	}
	// Output:
	// created <nil>
	// stands: 1 order
}

// A list in parts: each walk says in Next where the one after it begins.
func ExampleRange() {
	ctx := context.Background()
	acts := morning(ctx)
	r := activity.Range{Limit: 3}
	r.Next = &r.Cursor // or, if a client carries it, a variable of one's own
	for more := true; more; more = r.Cursor != "" {
		for a, err := range acts.InScope(ctx, "shop-7", r) {
			if err != nil {
				panic(err)
			}
			show(a)
		}
		fmt.Println("more:", r.Cursor != "")
	}
	// Output:
	// 08:00 42 order
	// 08:05 77 return
	// 08:10 77 order
	// more: true
	// 08:15 42 order
	// more: false
}
