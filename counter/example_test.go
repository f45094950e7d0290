package counter_test

import (
	"context"
	"errors"
	"fmt"
	"time"
	_ "time/tzdata"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

func ExampleNew() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client()

	limits, err := counter.New(db, "limits", tzclock.Stockholm, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := schema.Create(ctx, db, limits.Table()); err != nil {
		fmt.Println(err)
		return
	}
	count, err := limits.Get(ctx, "ann", time.Now())
	fmt.Println(count.Used, err)

	_, err = counter.New(db, "limits", tzclock.Zone{}, nil)
	fmt.Println(err)
	// Output:
	// 0 <nil>
	// counter: zone must be given: a zone is never assumed
}

func ExampleStore_Take() {
	ctx := context.Background()
	limits := exampleStore(ctx)

	for _, id := range []string{"41", "42", "42", "43"} { // 42 is delivered twice
		ev, err := event.New(sentAt, "shop", id)
		if err != nil {
			fmt.Println(err)
			return
		}
		grant, err := limits.Take(ctx, counter.Take{Key: "ann", Event: ev, Weight: 1, Cap: 2})
		switch {
		case err != nil:
			fmt.Println(err)
		case grant.Refused():
			fmt.Printf("%s: %d of %d used, free again %s\n", id, grant.Used, grant.Cap, grant.ResetsAt.Format(time.RFC3339))
		case grant.First():
			fmt.Printf("%s: answer it; %d left\n", id, grant.Remaining)
		default:
			fmt.Printf("%s: answered already\n", id)
		}
	}
	// Output:
	// 41: answer it; 1 left
	// 42: answer it; 0 left
	// 42: answered already
	// 43: 2 of 2 used, free again 2026-03-30T00:00:00+02:00
}

func ExampleStore_Refund() {
	ctx := context.Background()
	limits := exampleStore(ctx)
	ev, err := event.New(sentAt, "shop", "42")
	if err != nil {
		fmt.Println(err)
		return
	}
	take := counter.Take{Key: "ann", Event: ev, Weight: 1, Cap: 3}
	if _, err := limits.Take(ctx, take); err != nil {
		fmt.Println(err)
		return
	}
	// The answer could not be sent.
	total, err := limits.Refund(ctx, counter.Refund{Key: "ann", Event: ev, Weight: 1})
	fmt.Println(total.Outcome, total.Used, err)

	grant, err := limits.Take(ctx, take) // a late delivery
	fmt.Println(grant.OK, grant.Refunded, grant.Used, err)

	other, err := ev.Nth(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = limits.Refund(ctx, counter.Refund{Key: "ann", Event: other, Weight: 1})
	fmt.Println(errors.Is(err, counter.ErrNotFound))
	// Output:
	// created 0 <nil>
	// false true 0 <nil>
	// true
}

// A refund may be delivered before what it refunds. With a Tombstone, the late Take
// then takes nothing.
func ExampleStore_Refund_comesFirst() {
	ctx := context.Background()
	limits := exampleStore(ctx)
	paid := "01KMWJ9PM0VFX0S5XHDNM3TYA1" // the text of the payment's event, kept with the payment
	ev, err := event.Parse(paid)
	if err != nil {
		fmt.Println(err)
		return
	}
	total, err := limits.Refund(ctx, counter.Refund{Key: "ann", Event: ev, Weight: 250, Tombstone: true})
	fmt.Println("refund:", total.Outcome, total.Used, err)

	grant, err := limits.Take(ctx, counter.Take{Key: "ann", Event: ev, Weight: 250, Cap: 1000})
	fmt.Println("payment:", grant.OK, grant.Refunded, grant.Used, err)
	// Output:
	// refund: created 0 <nil>
	// payment: false true 0 <nil>
}

// A job takes 10 units before it runs, because nobody knows yet what it needs.
// Later it is settled to what it did need.
func ExampleStore_Adjust() {
	ctx := context.Background()
	limits := exampleStore(ctx)
	job, err := event.New(sentAt, "jobs", "acme", "7001")
	if err != nil {
		fmt.Println(err)
		return
	}
	hold, err := limits.Take(ctx, counter.Take{Key: "acme", Event: job, Weight: 10, Cap: 50})
	fmt.Println("held:", hold.OK, hold.Used, err)

	settle := counter.Adjust{Key: "acme", Event: job, From: 10, To: 7, Cap: 50}
	for range 2 { // the worker crashed after the first
		grant, err := limits.Adjust(ctx, settle)
		fmt.Println("settled:", grant.OK, grant.Outcome, grant.Used, err)
	}
	settle.To = 9 // it is final
	_, err = limits.Adjust(ctx, settle)
	fmt.Println(err)
	// Output:
	// held: true 10 <nil>
	// settled: true created 7 <nil>
	// settled: true duplicate 7 <nil>
	// counter: the event is recorded with weight 7, not 9
}

func ExampleStore_Add() {
	ctx := context.Background()
	limits := exampleStore(ctx)
	ev, err := event.New(sentAt, "orders", "acme", "7001")
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		total, err := limits.Add(ctx, counter.Add{Key: "acme", Event: ev, Weight: 12})
		fmt.Println(total.Outcome, total.Used, total.StartsAt.Format(time.DateOnly), err)
	}
	// Output:
	// created 12 2026-03-29 <nil>
	// duplicate 12 2026-03-29 <nil>
}

func ExampleStore_AddUnkeyed() {
	ctx := context.Background()
	limits := exampleStore(ctx)
	total, err := limits.AddUnkeyed(ctx, counter.AddUnkeyed{Key: "page views", At: sentAt, Weight: 1})
	switch {
	case errors.Is(err, event.ErrUnknownOutcome):
		fmt.Println("counted or not; never repeat it")
	case err != nil:
		fmt.Println("not counted:", err)
	default:
		fmt.Println(total.Used)
	}
	// Output: 1
}

func ExampleStore_Get() {
	ctx := context.Background()
	limits := exampleStore(ctx)
	if _, err := limits.AddUnkeyed(ctx, counter.AddUnkeyed{Key: "page views", At: sentAt, Weight: 5}); err != nil {
		fmt.Println(err)
		return
	}
	today, err := limits.Get(ctx, "page views", sentAt)
	fmt.Println(today.Used, today.UpdatedAt.Format(time.RFC3339), err)
	yesterday, err := limits.Get(ctx, "page views", sentAt.AddDate(0, 0, -1))
	fmt.Println(yesterday.Used, err)
	// Output:
	// 5 2026-03-29T10:30:05Z <nil>
	// 0 <nil>
}

func ExampleStore_Erase() {
	ctx := context.Background()
	limits := exampleStore(ctx)
	must(limits.AddUnkeyed(ctx, counter.AddUnkeyed{Key: "ann", At: sentAt, Weight: 5}))
	fmt.Println(limits.Erase(ctx, "ann")) // until it returns 0
	// Output: 1 <nil>
}

// sentAt is when the messages of the examples were sent; the examples' clock
// is five seconds on.
var sentAt = time.Date(2026, 3, 29, 10, 30, 0, 0, time.UTC)

func exampleStore(ctx context.Context) *counter.Store {
	_, limits := exampleTables(ctx)
	return limits
}

// exampleTables are the limits, and orders by id.
func exampleTables(ctx context.Context) (*dynamodb.Client, *counter.Store) {
	db := dynamotest.NewServer(nil).Client()
	limits, err := counter.New(db, "limits", tzclock.Stockholm, &counter.Config{
		Now: func() time.Time { return sentAt.Add(5 * time.Second) },
	})
	if err != nil {
		panic(err)
	}
	orders := schema.Table{Name: "orders", Key: schema.Key{Partition: schema.String("id")}}
	if err := schema.Create(ctx, db, limits.Table(), orders); err != nil {
		panic(err)
	}
	return db, limits
}
