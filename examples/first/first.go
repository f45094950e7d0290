// Package first is the README's first example: a webhook that hands out at
// most three vouchers a day to each customer, and none twice for one order.
package first

import (
	"context"
	"errors"
	"time"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
)

// Order is what the shop's webhook sends.
type Order struct {
	ID, Customer string
	PlacedAt     time.Time
}

// Vouchers is the webhook's state, in two tables.
type Vouchers struct {
	Seen   *ledger.Store
	Limits *counter.Store
}

// OrderPlaced may be called again for the same order, after a lost reply, a
// crash, or a redelivery: it hands out one voucher and says so each time.
// Within the ledger's 14 days it replays its answer; an order of which nothing
// is known after 7 is refused with event.ErrTooOld, never counted again.
func (v Vouchers) OrderPlaced(ctx context.Context, o Order) (string, error) {
	key, err := ledger.Key("SHOP", o.ID)
	if err != nil {
		return "", err
	}
	placed, err := event.New(o.PlacedAt, "shop", o.ID)
	if err != nil {
		return "", err
	}
	voucher, err := ledger.Do(ctx, v.Seen, ledger.Request{Key: key}, func(ctx context.Context, _ *ledger.Claim) (string, error) {
		grant, err := v.Limits.Take(ctx, counter.Take{Key: o.Customer, Event: placed, Cap: 3})
		if errors.Is(err, event.ErrTooOld) {
			return "", ledger.Permanent(err) // an answer: told again, not tried again
		}
		if err != nil || !grant.OK {
			return "", err
		}
		return "VOUCHER-" + o.ID, nil
	})
	return voucher.Value, err
}
