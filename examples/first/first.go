// Package first is the README's first example: a webhook that hands out at
// most three vouchers a day to each customer, and none twice for one order.
package first

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Order is what the shop's webhook sends.
type Order struct {
	ID, Customer string
	PlacedAt     time.Time
}

// Answer is what the shop is told: a voucher, or why there is none.
type Answer struct{ Voucher, Why string }

// Why there is no voucher.
const (
	Invalid = "this is not a valid order"
	TooOld  = "the order is too old"
	UsedUp  = "the customer has had today's vouchers"
)

// Vouchers is the webhook's state, in two tables.
type Vouchers struct {
	Seen   *ledger.Store
	Limits *counter.Store
}

// New creates the tables unless they exist. A day is one in Stockholm.
func New(ctx context.Context, db *dynamodb.Client, seenTable, limitsTable string) (Vouchers, error) {
	seen, err := ledger.New(db, seenTable, nil)
	if err != nil {
		return Vouchers{}, err
	}
	limits, err := counter.New(db, limitsTable, tzclock.Stockholm, nil)
	if err != nil {
		return Vouchers{}, err
	}
	return Vouchers{seen, limits}, schema.Create(ctx, db, seen.Table(), limits.Table())
}

// OrderPlaced may be called again for the same order, after a lost reply, a
// crash, or a redelivery: within the ledger's 14 days it gives the same answer
// each time. An order that first comes more than a week late is too old to count.
// An error is trouble, not an answer: let the shop deliver the order again. The
// ledger lets five attempts fail.
func (v Vouchers) OrderPlaced(ctx context.Context, o Order) (Answer, error) {
	key, err := ledger.Key("SHOP", o.ID)
	if err != nil {
		return Answer{Why: Invalid}, nil
	}
	placed, err := event.New(o.PlacedAt, "shop", o.ID)
	if err != nil {
		return Answer{Why: Invalid}, nil
	}
	told, err := ledger.Do(ctx, v.Seen, ledger.Request{Key: key}, func(ctx context.Context, _ *ledger.Claim) (Answer, error) {
		grant, err := v.Limits.Take(ctx, counter.Take{Key: o.Customer, Event: placed, Cap: 3})
		var bad *event.InputError
		switch {
		case errors.As(err, &bad):
			return Answer{Why: Invalid}, nil // an answer: it is stored, and told again
		case errors.Is(err, event.ErrTooOld):
			return Answer{Why: TooOld}, nil
		case err != nil:
			return Answer{}, err // trouble: no answer is stored, the next delivery tries again
		case !grant.OK:
			return Answer{Why: UsedUp}, nil
		}
		return Answer{Voucher: "VOUCHER-" + o.ID}, nil
	})
	return told.Value, err
}
