package points

import (
	"context"
	"errors"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger/httpkey"
	"github.com/homeops/ddbpatterns/verdict"
)

// Shop sells lamps for points to clients that send an Idempotency-Key. Serve it by
// httpkey.Keys.Handler.
type Shop struct {
	Points   Store
	Customer func(*http.Request) string // who is logged in
	Price    int64
	// Lamp hands over a lamp.
	Lamp func(customer string, purchase event.Event) types.TransactWriteItem
}

// ServeHTTP answers 201, or 402 if there are too few points.
func (s Shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(s.buy(r.Context(), s.Customer(r)))
}

// buy is called again after its transaction was refused, with nothing added.
func (s Shop) buy(ctx context.Context, customer string) int {
	claim, _ := httpkey.FromContext(ctx)
	purchase, err := claim.Event() // the same in each attempt
	if err != nil {
		return http.StatusServiceUnavailable
	}
	work := s.Points.Buy(customer, purchase, s.Price, s.Lamp(customer, purchase))
	said, items, err := work(ctx, claim)
	switch err = errors.Join(err, httpkey.Add(ctx, items...)); {
	case err != nil:
		return verdict.Of(err).Status // a 503 is not stored
	case said == tooFew:
		return http.StatusPaymentRequired
	}
	return http.StatusCreated
}
