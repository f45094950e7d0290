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

// learn observes what one member of a household did, by the clock in
// Stockholm, and returns the store.
func learn(ctx context.Context, name string, times ...string) *pattern.Store {
	db := dynamotest.NewServer(nil).Client()
	habits, err := pattern.New(db, "homeops", tzclock.Stockholm, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := schema.Create(ctx, db, habits.Table()); err != nil {
		log.Fatal(err)
	}
	for _, text := range times {
		o := pattern.Observation{Scope: "-100123", Actor: "42", Name: name, Event: localEvent(text)}
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
	ev, err := event.New(at, "telegram", "-100123", text)
	if err != nil {
		log.Fatal(err)
	}
	return ev
}

func ExampleNew() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client() // a *dynamodb.Client
	habits, err := pattern.New(db, "homeops", tzclock.Stockholm, nil)
	if err != nil {
		log.Fatal(err)
	}
	if err := schema.Create(ctx, db, habits.Table()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(habits.Table().Name)
	// Output: homeops
}

func ExampleStore_Observe() {
	ctx := context.Background()
	habits := learn(ctx, "diskning")

	ev, err := event.New(time.Date(2025, 10, 26, 1, 30, 0, 0, time.UTC), "telegram", "-100123", "42")
	if err != nil {
		log.Fatal(err)
	}
	for range 2 { // delivered twice
		out, err := habits.Observe(ctx, pattern.Observation{Scope: "-100123", Actor: "42", Name: "diskning", Event: ev})
		fmt.Println(out, err)
	}
	habit, _, err := habits.Get(ctx, "-100123", "42", "diskning")
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

func ExampleStore_Get() {
	ctx := context.Background()
	habits := learn(ctx, "diskning", "2025-03-16 19:10", "2025-03-19 20:05", "2025-03-23 19:40", "2025-03-31 07:30")

	habit, ok, err := habits.Get(ctx, "-100123", "42", "diskning")
	if err != nil || !ok {
		log.Fatal(ok, err)
	}
	day, _ := habit.PeakDay()
	hour, _ := habit.PeakHour()
	fmt.Printf("%d times, last on %s\n", habit.Total, tzclock.Stockholm.Date(habit.LastSeen))
	fmt.Printf("mostly on %s (%.0f %%), at %d (%.0f %%)\n", day, 100*habit.DayShare(day), hour, 100*habit.HourShare(hour))

	_, ok, err = habits.Get(ctx, "-100123", "42", "tvätt")
	fmt.Println("laundry:", ok, err)
	// Output:
	// 4 times, last on 2025-03-31
	// mostly on Sunday (50 %), at 19 (50 %)
	// laundry: false <nil>
}

func ExampleStore_All() {
	ctx := context.Background()
	habits := learn(ctx, "diskning", "2025-03-16 19:10", "2025-03-19 20:05")
	o := pattern.Observation{Scope: "-100123", Actor: "42", Name: "tvätt", Event: localEvent("2025-03-22 10:00")}
	if _, err := habits.Observe(ctx, o); err != nil {
		log.Fatal(err)
	}

	all, err := habits.All(ctx, "-100123", "42")
	if err != nil {
		log.Fatal(err)
	}
	for _, habit := range all {
		day, _ := habit.PeakDay()
		fmt.Println(habit.Name, habit.Total, day)
	}
	// Output:
	// diskning 2 Wednesday
	// tvätt 1 Saturday
}
