package rating_test

import (
	"context"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/rating"
	"github.com/homeops/ddbpatterns/internal/pricetest"
)

// Rate and Of cost what their Price says, and Actions grants exactly what they
// send.
func TestPrices(t *testing.T) {
	db := dynamotest.Open(t, pricetest.Watch)
	ratings, err := rating.New(db.Client(), db.Name("shop"))
	if err != nil {
		t.Fatal(err)
	}
	db.Create(ratings.Table())
	rate(t, ratings, delivery(t, "1001"), 5, event.Created)
	again := delivery(t, "1002")
	pricetest.Run(t, db, []pricetest.Case{
		{Func: "Store.Rate", Call: func(ctx context.Context) error { _, err := ratings.Rate(ctx, "bo", again, 4); return err }},
		{Func: "Store.Of", Call: func(ctx context.Context) error { _, _, err := ratings.Of(ctx, "bo"); return err }},
	}, ratings)
}
