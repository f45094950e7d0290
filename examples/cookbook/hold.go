package cookbook

import (
	"context"
	"errors"
	"time"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
)

// Purchase is an order of which the price is not final: it is so many cents for now.
type Purchase struct {
	Order, Customer string
	PlacedAt        time.Time
	Cents           int64
}

// Hold is kept beside the purchase, until it can no longer be settled or given back.
type Hold struct {
	Customer string
	Event    string // the text of the purchase's event
	Cents    int64
}

// Hold returns the hold of a purchase. It follows from the purchase alone, so every
// delivery makes the same one, and so does a refund that comes first.
func (p Purchase) Hold() (Hold, error) {
	if p.Cents < 1 {
		return Hold{}, event.BadInput("cookbook", "Cents", "must be at least 1")
	}
	ev, err := event.New(p.PlacedAt, "shop", "orders", p.Order)
	return Hold{Customer: p.Customer, Event: ev.String(), Cents: p.Cents}, err
}

// Spending limits what a customer buys a day.
type Spending struct {
	Days *counter.Store
	Cap  int64 // cents a day
}

// Authorize holds the cents. OK reports whether the day of the purchase has room.
func (s Spending) Authorize(ctx context.Context, h Hold) (counter.Grant, error) {
	ev, err := event.Parse(h.Event)
	if err != nil {
		return counter.Grant{}, err
	}
	return s.Days.Take(ctx, counter.Take{Key: h.Customer, Event: ev, Weight: h.Cents, Cap: s.Cap})
}

// Capture settles the hold to the final price, at least 1 cent. A purchase that
// comes to nothing is voided.
func (s Spending) Capture(ctx context.Context, h Hold, cents int64) (counter.Grant, error) {
	ev, err := event.Parse(h.Event)
	if err != nil {
		return counter.Grant{}, err
	}
	return s.Days.Adjust(ctx, counter.Adjust{Key: h.Customer, Event: ev, From: h.Cents, To: cents, Cap: s.Cap})
}

// Void gives back what the purchase holds, settled or not. If Void comes first, the
// purchase holds nothing when it comes.
func (s Spending) Void(ctx context.Context, h Hold) error {
	ev, err := event.Parse(h.Event)
	if err != nil {
		return err
	}
	back := counter.Refund{Key: h.Customer, Event: ev, Weight: h.Cents, Tombstone: true}
	_, err = s.Days.Refund(ctx, back)
	var settled *counter.WeightError
	if errors.As(err, &settled) {
		back.Weight = settled.Recorded
		_, err = s.Days.Refund(ctx, back)
	}
	return err
}
