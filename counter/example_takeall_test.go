package counter_test

import (
	"context"
	"fmt"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
)

// An order counts against the caps of a customer and of the customer's company, or
// against neither.
func ExampleTakeAll() {
	ctx := context.Background()
	limits := exampleStore(ctx)
	for _, id := range []string{"41", "42", "42", "43"} { // 42 is delivered twice
		ev, err := event.New(sentAt, "shop", id)
		if err != nil {
			panic(err)
		}
		grants, err := counter.TakeAll(ctx,
			counter.TakeOf{Store: limits, Take: counter.Take{Key: "ann", Event: ev, Weight: 1, Cap: 5}},
			counter.TakeOf{Store: limits, Take: counter.Take{Key: "acme", Event: ev, Weight: 1, Cap: 2}},
		)
		if err != nil {
			panic(err)
		}
		fmt.Println(id, grants[0].OK, grants[1].OK, "refused:", grants[1].Refused())
	}
	count, err := limits.Get(ctx, "ann", sentAt)
	fmt.Println("ann has", count.Used, err)
	// Output:
	// 41 true true refused: false
	// 42 true true refused: false
	// 42 true true refused: false
	// 43 false false refused: true
	// ann has 2 <nil>
}
