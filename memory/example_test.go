package memory_test

import (
	"context"
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/memory"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// shop is a memory of one week, on a server in this process.
func shop(ctx context.Context) *memory.Memory {
	db := dynamotest.NewServer(nil).Client()
	acts, err := activity.New(db, "shop-activities", nil)
	if err != nil {
		panic(err)
	}
	if err := schema.Create(ctx, db, acts.Table()); err != nil {
		panic(err)
	}
	for i, did := range []activity.Activity{
		{Actor: "42", ActorName: "Ann", Name: "order"},
		{Actor: "77", ActorName: "Bo", Name: "order"},
		{Actor: "42", ActorName: "Ann", Name: "return"},
	} {
		did.Scope = "shop-7"
		did.Event, err = event.New(time.Date(2026, 3, 23+i, 18, 0, 0, 0, time.UTC), "shop", did.Scope, fmt.Sprint(i))
		if err != nil {
			panic(err)
		}
		if _, err := acts.Record(ctx, did); err != nil {
			panic(err)
		}
	}
	mem, err := memory.New(acts, tzclock.Stockholm)
	if err != nil {
		panic(err)
	}
	return mem
}

func ExampleMemory_LastOf() {
	ctx := context.Background()
	mem := shop(ctx)
	last, ok, err := mem.LastOf(ctx, "shop-7", "order")
	fmt.Println(last.ActorName, last.At.Format(time.DateOnly), ok, err)
	// Output: Bo 2026-03-24 true <nil>
}

func ExampleMemory_CountBy() {
	ctx := context.Background()
	mem := shop(ctx)
	n, err := mem.CountBy(ctx, activity.Filter{
		Scope: "shop-7", Name: "order",
		From: time.Date(2026, 3, 24, 0, 0, 0, 0, time.UTC),
	})
	fmt.Println(n, err)
	// Output: 1 <nil>
}

func ExampleMemory_ThisWeek() {
	ctx := context.Background()
	mem := shop(ctx)
	asked := time.Date(2026, 3, 29, 22, 30, 0, 0, time.UTC) // half past midnight on Monday, in Stockholm
	for _, at := range []time.Time{asked, asked.Add(-time.Hour)} {
		n, err := mem.ThisWeek(ctx, memory.ThisWeek{Scope: "shop-7", Name: "order", Of: at})
		fmt.Println(n, err)
	}
	// Output:
	// 0 <nil>
	// 2 <nil>
}

func ExampleMemory_TallyWeek() {
	ctx := context.Background()
	mem := shop(ctx)
	tally, err := mem.TallyWeek(ctx, "shop-7", time.Date(2026, 3, 25, 12, 0, 0, 0, time.UTC))
	if err != nil {
		panic(err)
	}
	for _, row := range tally {
		fmt.Println(row.Actor, row.Name, row.Count)
	}
	// Output:
	// 42 order 1
	// 42 return 1
	// 77 order 1
}

func ExampleMemory_LastBy() {
	ctx := context.Background()
	last, found, err := shop(ctx).LastBy(ctx, "shop-7", "42", "order")
	fmt.Println(last.ActorName, found, err)
	// Output: Ann true <nil>
}
