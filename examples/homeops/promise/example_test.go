package promise_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/promise"
	"github.com/homeops/ddbpatterns/schema"
)

// Anna promises to do the dishes and to do the laundry, both by Wednesday night, and
// does the dishes. The job finds the laundry overdue.
func Example() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client() // a *dynamodb.Client
	promises, err := promise.New(db, "homeops", time.Now)
	if err != nil {
		log.Fatal(err)
	}
	if err := schema.Create(ctx, db, promises.Table()); err != nil {
		log.Fatal(err)
	}
	wednesday := time.Date(2026, 2, 18, 11, 0, 0, 0, time.UTC)
	message := func(id int) event.Event {
		ev, err := event.New(wednesday.Add(time.Duration(id)*time.Minute), "telegram", "-4123", fmt.Sprint(id))
		if err != nil {
			log.Fatal(err)
		}
		return ev
	}
	for id, activity := range map[int]string{1: "dishes", 2: "laundry"} {
		if _, _, err := promises.Make(ctx, promise.Make{
			Event: message(id), User: "42", Description: "I promise to do the " + activity, Activity: activity,
			Household: "-4123", Chat: "-4123", Source: int64(id), Deadline: wednesday.Add(12 * time.Hour),
		}); err != nil {
			log.Fatal(err)
		}
	}
	for range 2 { // the message is delivered twice
		p, ok, err := promises.Keep(ctx, promise.Deed{User: "42", Household: "-4123", Activity: "dishes", Event: message(3)})
		fmt.Println(p.Description, p.Status, ok, err)
	}
	overdue, err := promises.Overdue(ctx, wednesday.Add(13*time.Hour))
	for _, p := range overdue {
		fmt.Println(p.Description, p.Status, err)
	}
	// Output:
	// I promise to do the dishes fulfilled true <nil>
	// I promise to do the dishes fulfilled true <nil>
	// I promise to do the laundry active <nil>
}
