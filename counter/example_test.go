package counter_test

import (
	"context"
	"errors"
	"fmt"
	"time"
	_ "time/tzdata"

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
	count, err := limits.Get(ctx, "ann", tzclock.Stockholm.Date(time.Now()))
	fmt.Println(count.Used, err)

	_, err = counter.New(db, "limits", tzclock.Zone{}, nil)
	fmt.Println(err)
	// Output:
	// 0 <nil>
	// counter: zone must be given: a zone is never assumed
}

func ExampleStore_Table() {
	limits := exampleStore(context.Background())
	table := limits.Table()
	fmt.Println(table.Name, table.Key, "expires by", table.TTL)
	// Output: limits (chatId S, date S) expires by ttl
}

// An event that comes more than a week late is neither granted nor refused:
// whether it was counted cannot be told any more. Trying again does not help,
// so the worker lets go of it.
func ExampleStore_Take_tooOld() {
	ctx := context.Background()
	limits := exampleStore(ctx)
	ev, err := event.New(sentAt.AddDate(0, 0, -9), "shop", "17")
	if err != nil {
		fmt.Println(err)
		return
	}
	grant, err := limits.Take(ctx, counter.Take{Key: "ann", Event: ev, Cap: 3})
	switch {
	case errors.Is(err, event.ErrTooOld):
		fmt.Println("let go:", err)
	case err != nil:
		fmt.Println("try again:", err)
	default:
		fmt.Println(grant.OK)
	}
	// Output: let go: counter: Take on table limits: the row of 2026-03-20 may have expired: event: too old to judge
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
		grant, err := limits.Take(ctx, counter.Take{Key: "ann", Event: ev, Cap: 2})
		switch {
		case err != nil:
			fmt.Println(err)
		case !grant.OK:
			fmt.Printf("%s: %d of %d used, free again %s\n", id, grant.Used, grant.Cap, grant.ResetsAt.Format(time.RFC3339))
		case grant.Outcome == event.Created:
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
	take := counter.Take{Key: "ann", Event: ev, Cap: 3}
	if _, err := limits.Take(ctx, take); err != nil {
		fmt.Println(err)
		return
	}
	// The answer could not be sent.
	total, err := limits.Refund(ctx, counter.Refund{Key: "ann", Event: ev})
	fmt.Println(total.Outcome, total.Used, err)

	grant, err := limits.Take(ctx, take) // a late delivery
	fmt.Println(grant.OK, grant.Refunded, grant.Used, err)

	other, err := ev.Nth(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = limits.Refund(ctx, counter.Refund{Key: "ann", Event: other})
	fmt.Println(errors.Is(err, counter.ErrNotFound))
	// Output:
	// created 0 <nil>
	// false true 0 <nil>
	// true
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
		fmt.Println(total.Outcome, total.Used, total.Day, err)
	}
	// Output:
	// created 12 2026-03-29 <nil>
	// duplicate 12 2026-03-29 <nil>
}

func ExampleStore_AddUnkeyed() {
	ctx := context.Background()
	limits := exampleStore(ctx)
	total, err := limits.AddUnkeyed(ctx, counter.AddUnkeyed{Key: "page views", At: sentAt})
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
	day := tzclock.Stockholm.Date(sentAt)
	if _, err := limits.AddUnkeyed(ctx, counter.AddUnkeyed{Key: "page views", At: sentAt, Weight: 5}); err != nil {
		fmt.Println(err)
		return
	}
	today, err := limits.Get(ctx, "page views", day)
	fmt.Println(today.Used, today.UpdatedAt.Format(time.RFC3339), err)
	yesterday, err := limits.Get(ctx, "page views", day.AddDays(-1))
	fmt.Println(yesterday.Used, err)
	// Output:
	// 5 2026-03-29T10:30:05Z <nil>
	// 0 <nil>
}

// sentAt is when the messages of the examples were sent; the examples' clock
// is five seconds on.
var sentAt = time.Date(2026, 3, 29, 10, 30, 0, 0, time.UTC)

func exampleStore(ctx context.Context) *counter.Store {
	db := dynamotest.NewServer(nil).Client()
	limits, err := counter.New(db, "limits", tzclock.Stockholm, &counter.Config{
		Now: func() time.Time { return sentAt.Add(5 * time.Second) },
	})
	if err != nil {
		panic(err)
	}
	if err := schema.Create(ctx, db, limits.Table()); err != nil {
		panic(err)
	}
	return limits
}
