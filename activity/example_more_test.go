package activity_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/homeops/ddbpatterns/activity"
)

func ExampleStore_Retract() {
	ctx := context.Background()
	acts := morning(ctx)
	order := did("77", "order", 10, 3)

	out, err := acts.Retract(ctx, activity.Retract{Scope: "shop-7", Event: order.Event})
	fmt.Println(out, err)
	_, err = acts.Record(ctx, order) // its redelivery
	fmt.Println(errors.Is(err, activity.ErrRetracted))

	// This retraction arrives before the activity that it takes back.
	later := did("77", "order", 20, 5)
	_, err = acts.Retract(ctx, activity.Retract{Scope: "shop-7", Event: later.Event})
	fmt.Println(errors.Is(err, activity.ErrNotFound))
	out, err = acts.Retract(ctx, activity.Retract{Scope: "shop-7", Event: later.Event, Tombstone: true})
	fmt.Println(out, err)
	_, err = acts.Record(ctx, later)
	fmt.Println(errors.Is(err, activity.ErrRetracted))
	// Output:
	// created <nil>
	// true
	// true
	// created <nil>
	// true
}

func ExampleStore_ByActor() {
	ctx := context.Background()
	for a, err := range morning(ctx).ByActor(ctx, "77", activity.Range{NewestFirst: true}) {
		if err != nil {
			panic(err)
		}
		show(a)
	}
	// Output:
	// 08:10 77 order
	// 08:05 77 return
}
