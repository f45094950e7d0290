package rating_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/rating"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/schema"
)

// open returns the ratings in a table of the test's own.
func open(t *testing.T) (*dynamotest.DB, rating.Store) {
	t.Helper()
	db := dynamotest.Open(t, pricetest.Watch, dynamotest.MaxBackoff(time.Millisecond)) // the SDK's retries do not wait for seconds
	ratings, err := rating.New(db.Client(), db.Name("shop"))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Create(t.Context(), db.Client(), ratings.Table()); err != nil {
		t.Fatal(err)
	}
	return db, ratings
}

// delivery is the event of a delivery.
func delivery(t *testing.T, id string) event.Event {
	t.Helper()
	ev, err := event.New(time.Now(), "shop", "delivery", id)
	if err != nil {
		t.Fatal(err)
	}
	return ev
}

func rate(t *testing.T, ratings rating.Store, ev event.Event, stars int64, want event.Outcome) {
	t.Helper()
	if out, err := ratings.Rate(t.Context(), "bo", ev, stars); out != want || err != nil {
		t.Errorf("Rate = %v, %v, want %v", out, err, want)
	}
}

func wantRating(t *testing.T, ratings rating.Store, want rating.Rating) {
	t.Helper()
	if got, ok, err := ratings.Of(t.Context(), "bo"); got != want || !ok || err != nil {
		t.Errorf("Of = %+v, %v, %v, want %+v", got, ok, err, want)
	}
}

// A delivery counts once, at the published price.
func TestADuplicate(t *testing.T) {
	db, ratings := open(t)
	first := delivery(t, "1001")
	cost := db.Meter(func() { rate(t, ratings, first, 5, event.Created) })
	cost.Want(t, dynamotest.Price{Requests: 2, RCU: 1, WCU: 1})
	rate(t, ratings, first, 5, event.Duplicate)
	rate(t, ratings, delivery(t, "1002"), 2, event.Created)
	wantRating(t, ratings, rating.Rating{Stars: 7, Worst: 2, Ratings: 2})
}

// The write takes effect, its reply is lost, and the SDK sends it again. It finds
// its own event in the row.
func TestALostReply(t *testing.T) {
	db, ratings := open(t)
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem"})
	rate(t, ratings, delivery(t, "1001"), 5, event.Duplicate)
	wantRating(t, ratings, rating.Rating{Stars: 5, Worst: 5, Ratings: 1})
}

// The write that lost the race is computed again, from the row that won.
func TestALostRace(t *testing.T) {
	db, ratings := open(t)
	other := func() { rate(t, ratings, delivery(t, "1001"), 2, event.Created) }
	db.Inject(dynamotest.Fault{Do: dynamotest.Before(other), Op: "UpdateItem"})
	rate(t, ratings, delivery(t, "1002"), 4, event.Created)
	wantRating(t, ratings, rating.Rating{Stars: 6, Worst: 2, Ratings: 2})
}

func TestBadInput(t *testing.T) {
	_, ratings := open(t)
	for field, call := range map[string]func() error{
		"stars":     func() error { _, err := ratings.Rate(t.Context(), "bo", delivery(t, "1"), 6); return err },
		"Partition": func() error { _, err := ratings.Rate(t.Context(), "", delivery(t, "1"), 5); return err },
		"Event":     func() error { _, err := ratings.Rate(t.Context(), "bo", event.Event{}, 5); return err },
	} {
		if bad, ok := errors.AsType[*event.InputError](call()); !ok || bad.Field != field {
			t.Errorf("got %v, want bad input of %s", bad, field)
		}
	}
}

// Rate and Of cost what their Price says, and Actions grants exactly what they
// send.
func TestPrices(t *testing.T) {
	db, ratings := open(t)
	rate(t, ratings, delivery(t, "1001"), 5, event.Created)
	again := delivery(t, "1002")
	pricetest.Run(t, db, []pricetest.Case{
		{Func: "Store.Rate", Call: func(ctx context.Context) error { _, err := ratings.Rate(ctx, "bo", again, 4); return err }},
		{Func: "Store.Of", Call: func(ctx context.Context) error { _, _, err := ratings.Of(ctx, "bo"); return err }},
	}, ratings)
}
