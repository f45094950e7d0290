package points

import (
	"context"
	"errors"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger/httpkey"
	"github.com/homeops/ddbpatterns/record"
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

// buy takes the points and hands over the lamp in one transaction with the answer. If the
// transaction is refused, it is called again, with nothing added.
func (s Shop) buy(ctx context.Context, customer string) int {
	claim, _ := httpkey.FromContext(ctx)
	purchase, err := claim.Event() // the same in each attempt
	if err != nil {
		return http.StatusServiceUnavailable
	}
	spend, err := s.Points.SpendItem(ctx, customer, purchase, s.Price)
	if err != nil {
		return http.StatusServiceUnavailable
	}
	if reasons := claim.Reasons(); reasons != nil {
		// What was refused was another item, made of the same.
		out, err := spend.Outcome(reasons[:len(spend.Items)])
		_, poor := errors.AsType[*record.FloorError](err)
		switch {
		case poor:
			return http.StatusPaymentRequired
		case err != nil:
			return http.StatusServiceUnavailable
		case out == event.Duplicate: // the lamp went with the points then
			return http.StatusCreated
		}
	}
	if httpkey.Add(ctx, append(spend.Items, s.Lamp(customer, purchase))...) != nil {
		return http.StatusServiceUnavailable
	}
	return http.StatusCreated
}
