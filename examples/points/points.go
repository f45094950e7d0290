// Package points is an example of an own record whose values behave like money: the
// points of a shop's customers. Each order earns its points once and each purchase
// spends them once, in whatever order they are delivered, for 90 days after they
// happened (Retention). No balance goes below 0. docs/points.md shows it.
//
// # IAM actions
//
//   - The service, on the table: GetItem, PutItem, UpdateItem
//   - Operators (Erase), on the table: BatchWriteItem, Query
package points

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// Retention is how long after it happened an event may be delivered.
const Retention = 90 * 24 * time.Hour

// Store keeps the points.
type Store struct{ rows *record.Rows[int64] }

// New returns the points in a table.
func New(api record.API, table string) (Store, error) {
	rows, err := record.New(api, table, record.Kind[int64]{
		Package: "points", Type: "POINTS", Count: "events", Attributes: []string{"points"}, Retention: Retention,
		Decode: func(row record.Item) (int64, error) {
			f := record.Read(row)
			return f.Int("points"), f.Err()
		},
	}, nil)
	return Store{rows}, err
}

// Table returns the definition of the table, for schema.Create.
func (s Store) Table() schema.Table { return s.rows.Table() }

// Actions returns what IAM must grant for each call, for schema.Policy. Earn and
// SpendItem add, which needs no read.
func (s Store) Actions() schema.Actions {
	adds := schema.Grants{"": {"PutItem", "UpdateItem"}}
	rows := s.rows.Actions()
	return schema.Actions{
		Calls:     map[string]schema.Grants{"Earn": adds, "SpendItem": adds, "Of": rows.Calls["Get"]},
		Operators: rows.Operators,
	}
}

// Earn adds an order's points, once for its event.
//
// Price: 1 request, 4 WCU.
func (s Store) Earn(ctx context.Context, customer string, order event.Event, n int64) (event.Outcome, error) {
	if n < 1 {
		return 0, event.BadInput("points", "n", "must be at least 1")
	}
	return s.rows.Apply(ctx, change("Earn", customer, order, n))
}

// EarnIf returns the work of an order for ledger.DoTx: it earns the points once, if the
// condition of another row holds, such as that the customer was not erased. If it does not,
// refused is the answer for good.
func (s Store) EarnIf(customer string, order event.Event, n int64, condition types.TransactWriteItem, refused error) func(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error) {
	return func(ctx context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
		if n < 1 {
			return "", nil, event.BadInput("points", "n", "must be at least 1")
		}
		earn, err := s.rows.ApplyItem(ctx, change("EarnIf", customer, order, n))
		if err != nil {
			return "", nil, forGood(err)
		}
		if reasons := c.Reasons(); reasons != nil {
			if aws.ToString(reasons[len(earn.Items)].Code) == "ConditionalCheckFailed" {
				return "", nil, ledger.Permanent(refused)
			}
			out, err := earn.Outcome(reasons[:len(earn.Items)])
			if err != nil || out == event.Duplicate {
				return earned, nil, forGood(err)
			}
		}
		return earned, append(earn.Items, condition), nil
	}
}

// SpendItem returns the actions that take a purchase's points, once for its event,
// for a transaction such as one of ledger.DoTx. If there are too few points, its
// Outcome is a *record.FloorError.
//
// Price: 0 requests, 4 WCU.
func (s Store) SpendItem(ctx context.Context, customer string, purchase event.Event, n int64) (*record.ApplyItem, error) {
	if n < 1 {
		return nil, event.BadInput("points", "n", "must be at least 1")
	}
	spend := change("SpendItem", customer, purchase, -n)
	spend.AtLeast = map[string]int64{"points": 0}
	return s.rows.ApplyItem(ctx, spend)
}

const (
	earned = "earned"
	bought = "bought"
	tooFew = "too few points"
)

// Buy returns the work of a purchase for ledger.DoTx: it takes n points and hands over
// the goods, both or neither. Its result says whether there were enough points.
func (s Store) Buy(customer string, purchase event.Event, n int64, goods ...types.TransactWriteItem) func(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error) {
	return func(ctx context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
		spend, err := s.SpendItem(ctx, customer, purchase, n)
		if err != nil {
			return "", nil, forGood(err)
		}

		if reasons := c.Reasons(); reasons != nil { // the transaction of the call before was refused
			out, err := spend.Outcome(reasons[:len(spend.Items)]) // its item was made of the same input
			if _, poor := errors.AsType[*record.FloorError](err); poor {
				return tooFew, nil, nil
			}
			if err != nil {
				return "", nil, forGood(err)
			}
			if out == event.Duplicate { // the goods went with the points then
				return bought, nil, nil
			}
		}
		return bought, slices.Concat(spend.Items, goods), nil
	}
}

// forGood marks an error that each delivery would get: an event that is too old, or one that
// spent another amount before.
func forGood(err error) error {
	_, other := errors.AsType[*record.AddError](err)
	if other || errors.Is(err, event.ErrTooOld) {
		return ledger.Permanent(err)
	}
	return err
}

func change(method, customer string, ev event.Event, n int64) record.Apply {
	return record.Apply{
		Method: method, Partition: record.Key(customer, "POINTS"), Sort: "points", Event: ev,
		Add: map[string]int64{"points": n},
	}
}

// Erase erases a customer's points. Call it until it returns 0.
//
// Price: 4 requests, 2 RCU, 2 WCU. That is for the points of one order.
func (s Store) Erase(ctx context.Context, customer string) (int, error) {
	return s.rows.Erase(ctx, record.Key(customer, "POINTS"))
}

// Of returns a customer's points.
//
// Price: 1 request, 0.5 RCU.
func (s Store) Of(ctx context.Context, customer string) (int64, error) {
	n, _, err := s.rows.Get(ctx, record.Key(customer, "POINTS"), "points")
	return n, err
}
