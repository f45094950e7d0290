package cookbook

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
)

// Card is a card that may spend up to a limit a day.
type Card struct {
	ID    string
	Limit int64 // in cents
	Spent *counter.Store
}

// Charge is [Idempotent.Work]. Its body is an amount in cents.
func (d Card) Charge(ctx context.Context, c *ledger.Claim, body []byte) (Answer, []types.TransactWriteItem, error) {
	cents, err := strconv.ParseInt(string(body), 10, 64)
	if err != nil || cents < 1 {
		return Answer{Status: http.StatusBadRequest}, nil, nil
	}
	ev, err := c.Event() // the request has no time: when its key was first seen
	if err != nil {
		return Answer{}, nil, err
	}
	grant, err := d.Spent.Take(ctx, counter.Take{Key: d.ID, Event: ev, Weight: cents, Cap: d.Limit})
	switch {
	case errors.Is(err, event.ErrTooOld): // an attempt of long ago may have counted it
		return Answer{Status: http.StatusGone}, nil, nil
	case err != nil:
		return Answer{}, nil, err
	case grant.Refused():
		return Answer{Status: http.StatusPaymentRequired}, nil, nil
	}
	return Answer{Status: http.StatusCreated}, nil, nil
}
