package cookbook

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/verdict"
)

// Purchase is an order whose price is not final.
type Purchase struct {
	Order, Customer string
	PlacedAt        time.Time
	Cents           int64 // so far
}

// Hold is what the shop keeps with the purchase, to settle it or give it back.
type Hold struct {
	Customer string
	Event    string // the text of the purchase's event
	Cents    int64
}

// Hold makes the hold of a purchase from the purchase alone. Every delivery makes the
// same one, and so does a refund that comes first.
func (p Purchase) Hold() (Hold, error) {
	if p.Cents < 1 {
		return Hold{}, event.BadInput("cookbook", "Cents", "must be at least 1")
	}
	ev, err := event.New(p.PlacedAt, "shop", "orders", p.Order)
	return Hold{Customer: p.Customer, Event: ev.String(), Cents: p.Cents}, err
}

// Spending limits how many cents a customer may spend a day.
type Spending struct {
	Days *counter.Store
	Cap  int64 // cents a day
}

// Authorize holds the cents. The Grant is Refused if the day of the purchase has no
// room.
func (s Spending) Authorize(ctx context.Context, h Hold) (counter.Grant, error) {
	ev, err := event.Parse(h.Event)
	if err != nil {
		return counter.Grant{}, err
	}
	return s.Days.Take(ctx, counter.Take{Key: h.Customer, Event: ev, Weight: h.Cents, Cap: s.Cap})
}

// Capture settles the hold to the final price, at least 1 cent. If a higher price has no
// room, the Grant is Refused, and the hold stays. Void a purchase that comes to nothing.
func (s Spending) Capture(ctx context.Context, h Hold, cents int64) (counter.Grant, error) {
	ev, err := event.Parse(h.Event)
	if err != nil {
		return counter.Grant{}, err
	}
	return s.Days.Adjust(ctx, counter.Adjust{Key: h.Customer, Event: ev, From: h.Cents, To: cents, Cap: s.Cap})
}

// Void gives back what the purchase holds, settled or not. If the purchase has not
// come yet, it will hold nothing.
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

// Buy holds a purchase and logs it, in one transaction with the answer.
func (s Spending) Buy(ctx context.Context, seen *ledger.Store, log *activity.Store, p Purchase) (string, error) {
	h, err := p.Hold()
	ev, parseErr := event.Parse(h.Event)
	key, keyErr := ledger.Key("BUY", h.Event)
	if err := cmp.Or(err, parseErr, keyErr); err != nil {
		return "", err
	}
	held, logged := false, false // by an earlier transaction
	res, err := ledger.DoTx(ctx, seen, ledger.Request{Key: key}, func(_ context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
		take, takeErr := s.Days.TakeItem(counter.Take{Key: p.Customer, Event: ev, Weight: p.Cents, Cap: s.Cap})
		entry, err := log.RecordItems([]activity.Activity{{Scope: "shop", Actor: p.Customer, Name: "order", Event: ev}})
		if err := cmp.Or(takeErr, err); err != nil {
			return "", nil, final(err)
		}
		if reasons := c.Reasons(); reasons != nil { // one for each action of the last call
			if !held {
				grant, err := take.Outcome(reasons[0])
				switch {
				case err == nil && grant.Refunded:
					return "voided", nil, nil
				case err != nil || grant.Refused():
					return "over the limit", nil, final(err)
				}
				held, reasons = grant.OK, reasons[1:]
			}
			if !logged {
				out, err := entry.Outcome(reasons)
				if verdict.Of(err).Kind != verdict.Done {
					return "", nil, final(err)
				}
				logged = err != nil || out == event.Duplicate // as this or, by a ConflictError, as something else
			}
		}
		var actions []types.TransactWriteItem
		if !held {
			actions = append(actions, take.Item)
		}
		if !logged {
			actions = append(actions, entry.Items...)
		}
		return "bought", actions, nil
	})
	return res.Value, err
}

// final marks an error of the work that each further delivery would meet again. Bad input
// may be an event too far ahead, which becomes valid with time.
func final(err error) error {
	_, bad := errors.AsType[*event.InputError](err)
	if verdict.Of(err).Kind == verdict.Poison && !bad {
		return ledger.Permanent(err)
	}
	return err
}
