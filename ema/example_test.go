package ema_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/schema"
)

// create makes a store's table on a server of its own.
func create(ctx context.Context, cfg *ema.Config) *ema.Store {
	db := dynamotest.NewServer(nil).Client() // a *dynamodb.Client
	store, err := ema.New(db, "averages", cfg)
	if err != nil {
		log.Fatal(err)
	}
	if err := schema.Create(ctx, db, store.Table()); err != nil {
		log.Fatal(err)
	}
	return store
}

// delivered is the event of a delivery, one a minute.
func delivered(id int) event.Event {
	at := time.Date(2025, 3, 30, 19, id, 0, 0, time.UTC)
	ev, err := event.New(at, "courier", fmt.Sprint(id))
	if err != nil {
		log.Fatal(err)
	}
	return ev
}

func ExampleNew() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client() // a *dynamodb.Client
	minutes, err := ema.New(db, "averages", nil)
	if err != nil {
		log.Fatal(err)
	}
	ratings, err := ema.New(db, "averages", &ema.Config{Prefix: "RATING", Alpha: 0.1})
	if err != nil {
		log.Fatal(err)
	}
	// Both live in one table.
	if err := schema.Create(ctx, db, minutes.Table(), ratings.Table()); err != nil {
		log.Fatal(err)
	}
	o := ema.Observe{Subject: "42", Metric: "parcel", Event: delivered(1), Value: 5}
	fmt.Println(ratings.Observe(ctx, o))
	// Output: created <nil>
}

func ExampleStore_Observe() {
	ctx := context.Background()
	minutes := create(ctx, nil)

	for _, o := range []ema.Observe{
		{Subject: "42", Metric: "parcel", Event: delivered(1), Value: 2},
		{Subject: "42", Metric: "parcel", Event: delivered(2), Value: 4},
		{Subject: "42", Metric: "parcel", Event: delivered(2), Value: 4}, // delivered twice
	} {
		out, err := minutes.Observe(ctx, o)
		if err != nil {
			log.Fatal(err)
		}
		average, _, err := minutes.Get(ctx, "42", "parcel")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %.1f of %d\n", out, average.Value, average.Samples)
	}
	// Output:
	// created: 2.0 of 1
	// created: 2.6 of 2
	// duplicate: 2.6 of 2
}

func ExampleStore_All() {
	ctx := context.Background()
	minutes := create(ctx, nil)
	for i, metric := range []string{"sofa", "parcel", "sofa"} {
		o := ema.Observe{Subject: "42", Metric: metric, Event: delivered(i), Value: float64(5 * i)}
		if _, err := minutes.Observe(ctx, o); err != nil {
			log.Fatal(err)
		}
	}

	all, err := minutes.All(ctx, "42")
	if err != nil {
		log.Fatal(err)
	}
	for _, average := range all {
		fmt.Printf("%s %.1f of %d\n", average.Metric, average.Value, average.Samples)
	}
	// Output:
	// parcel 5.0 of 1
	// sofa 3.0 of 2
}

func ExampleStore_Erase() {
	ctx := context.Background()
	minutes := create(ctx, nil)
	if _, err := minutes.Observe(ctx, ema.Observe{Subject: "42", Metric: "sofa", Event: delivered(1), Value: 5}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(minutes.Erase(ctx, "42")) // until it returns 0
	// Output: 1 <nil>
}
