package pattern_test

import (
	"context"
	"fmt"
	"log"
	"time"
	_ "time/tzdata"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// learn observes what one customer of a shop did, by the clock in Stockholm,
// and returns the store.
func learn(ctx context.Context, name string, times ...string) *pattern.Store {
	db := dynamotest.NewServer(nil).Client()
	habits, err := pattern.New(db, "habits", tzclock.Stockholm, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := schema.Create(ctx, db, habits.Table()); err != nil {
		log.Fatal(err)
	}
	for _, text := range times {
		o := pattern.Observe{Scope: "shop-7", Actor: "42", Name: name, Event: localEvent(text)}
		if _, err := habits.Observe(ctx, o); err != nil {
			log.Fatal(err)
		}
	}
	return habits
}

func localEvent(text string) event.Event {
	at, err := time.ParseInLocation("2006-01-02 15:04", text, tzclock.Stockholm.Location())
	if err != nil {
		log.Fatal(err)
	}
	ev, err := event.New(at, "shop", "shop-7", text)
	if err != nil {
		log.Fatal(err)
	}
	return ev
}

func ExampleNew() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client() // a *dynamodb.Client
	habits, err := pattern.New(db, "habits", tzclock.Stockholm, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := schema.Create(ctx, db, habits.Table()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(habits.Table().Name)
	// Output: habits
}

func ExampleStore_Observe() {
	ctx := context.Background()
	habits := learn(ctx, "order")

	ev, err := event.New(time.Date(2025, 10, 26, 1, 30, 0, 0, time.UTC), "shop", "shop-7", "42")
	if err != nil {
		log.Fatal(err)
	}
	for range 2 { // delivered twice
		out, err := habits.Observe(ctx, pattern.Observe{Scope: "shop-7", Actor: "42", Name: "order", Event: ev})
		fmt.Println(out, err)
	}
	habit, _, err := habits.Get(ctx, "shop-7", "42", "order")
	if err != nil {
		log.Fatal(err)
	}
	hour, _ := habit.PeakHour() // clocks went back at three: it was half past two for the second time
	fmt.Println(habit.Total, "in the hour from", hour)
	// Output:
	// created <nil>
	// duplicate <nil>
	// 1 in the hour from 2
}

// A backlog of one habit counts in one write, in whatever order it comes.
func ExampleStore_ObserveAll() {
	ctx := context.Background()
	habits := learn(ctx, "order")

	outcomes, err := habits.ObserveAll(ctx, pattern.ObserveAll{Scope: "shop-7", Actor: "42", Name: "order", Events: []event.Event{
		localEvent("2025-03-23 19:40"), localEvent("2025-03-16 19:10"), localEvent("2025-03-23 19:40"),
	}})
	fmt.Println(outcomes, err)
	habit, _, err := habits.Get(ctx, "shop-7", "42", "order")
	fmt.Println(habit.Total, err)
	// Output:
	// [created created duplicate] <nil>
	// 2 <nil>
}

func ExampleStore_Get() {
	ctx := context.Background()
	habits := learn(ctx, "order", "2025-03-16 19:10", "2025-03-19 20:05", "2025-03-23 19:40", "2025-03-31 07:30")

	habit, ok, err := habits.Get(ctx, "shop-7", "42", "order")
	if err != nil || !ok {
		log.Fatal(ok, err)
	}
	day, _ := habit.PeakDay()
	hour, _ := habit.PeakHour()
	fmt.Printf("%d times, last on %s\n", habit.Total, tzclock.Stockholm.Date(habit.LastSeen))
	fmt.Printf("mostly on %s (%.0f %%), at %d (%.0f %%)\n", day, 100*habit.DayShare(day), hour, 100*habit.HourShare(hour))

	_, ok, err = habits.Get(ctx, "shop-7", "42", "return")
	fmt.Println("returns:", ok, err)
	// Output:
	// 4 times, last on 2025-03-31
	// mostly on Sunday (50 %), at 19 (50 %)
	// returns: false <nil>
}

func ExampleStore_All() {
	ctx := context.Background()
	habits := learn(ctx, "order", "2025-03-16 19:10", "2025-03-19 20:05")
	o := pattern.Observe{Scope: "shop-7", Actor: "42", Name: "return", Event: localEvent("2025-03-22 10:00")}
	if _, err := habits.Observe(ctx, o); err != nil {
		log.Fatal(err)
	}

	all, err := habits.All(ctx, "shop-7", "42")
	if err != nil {
		log.Fatal(err)
	}
	for _, habit := range all {
		day, _ := habit.PeakDay()
		fmt.Println(habit.Name, habit.Total, day)
	}
	// Output:
	// order 2 Wednesday
	// return 1 Saturday
}

func ExampleStore_Erase() {
	ctx := context.Background()
	habits := learn(ctx, "order", "2025-03-16 19:10", "2025-03-19 20:05")
	fmt.Println(habits.Erase(ctx, "shop-7", "42")) // until it returns 0
	// Output: 1 <nil>
}
