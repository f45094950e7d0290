// Package first is the README's first example: a webhook that approves card
// charges up to a limit a day, and counts each charge once.
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

// Limit is what a card may spend a day, in cents.
const Limit = 500_00

// Charge is what the webhook is asked to approve.
type Charge struct {
	ID, Card string
	Cents    int64
	At       time.Time
}

// Answer is what the webhook replies, the same at each delivery.
type Answer string

// The answers to a charge.
const (
	Approved  Answer = "approved"
	OverLimit Answer = "over the card's daily limit"
	Refunded  Answer = "refunded before it was approved"
	TooOld    Answer = "too old to count"
	Invalid   Answer = "not a valid charge"
)

// Cards is the webhook's state, in two tables.
type Cards struct {
	Seen  *ledger.Store
	Spent *counter.Store
}

// New creates the tables unless they exist. A day is a day in Stockholm.
func New(ctx context.Context, db *dynamodb.Client, seenTable, spentTable string) (Cards, error) {
	seen, err := ledger.New(db, seenTable, nil)
	if err != nil {
		return Cards{}, err
	}
	spent, err := counter.New(db, spentTable, tzclock.Stockholm, nil)
	if err != nil {
		return Cards{}, err
	}
	return Cards{seen, spent}, schema.Create(ctx, db, seen.Table(), spent.Table())
}

// Approve counts a charge once and remembers the answer for 14 days, however often
// the charge is delivered. An error is not an answer: reply 500, so that the charge
// is delivered again.
func (c Cards) Approve(ctx context.Context, charge Charge) (Answer, error) {
	key, keyErr := ledger.Key("charge", charge.ID)
	ev, err := event.New(charge.At, "charge", charge.ID)
	if keyErr != nil || err != nil {
		return Invalid, nil
	}
	res, err := ledger.Do(ctx, c.Seen, ledger.Request{Key: key}, func(ctx context.Context, _ *ledger.Claim) (Answer, error) {
		grant, err := c.Spent.Take(ctx, counter.Take{Key: charge.Card, Event: ev, Weight: charge.Cents, Cap: Limit})
		var bad *event.InputError
		switch {
		case errors.As(err, &bad):
			return Invalid, nil
		case errors.Is(err, event.ErrTooOld):
			return TooOld, nil
		case err != nil:
			return "", err // no answer is stored: the next delivery tries again
		case grant.Refunded: // before Refused, which is true then as well
			return Refunded, nil
		case grant.Refused():
			return OverLimit, nil
		}
		return Approved, nil
	})
	return res.Value, err
}
