package ddbpatterns_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// limited counts orders towards a daily limit, and notes them.
type limited struct {
	limits *counter.Store
	acts   *activity.Store
}

// order returns the work for one order of a customer who may have so many a day. The
// items are made anew at each call.
func (s limited) order(note activity.Activity, most int64) func(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error) {
	counted, noted := false, false // what is stored already, and is left out
	return func(_ context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
		take, err1 := s.limits.TakeItem(counter.Take{Key: note.Actor, Event: note.Event, Weight: 1, Cap: most})
		record, err2 := s.acts.RecordItems([]activity.Activity{note})
		if err := errors.Join(err1, err2); err != nil {
			return "", nil, err
		}
		reasons := c.Reasons() // for the actions returned last, in their order; nil at the first call
		if reasons != nil && !counted {
			grant, err := take.Outcome(reasons[0]) // the zero Grant if it was not at fault
			if err != nil {
				return "", nil, err
			}
			if grant.Refused() {
				return fmt.Sprintf("no more than %d a day", grant.Cap), nil, nil // an answer; a Permanent error would do as well
			}
			counted, reasons = grant.OK, reasons[1:]
		}
		if reasons != nil && !noted {
			outcome, err := record.Outcome(reasons)
			if err != nil { // such as an *activity.ConflictError
				return "", nil, ledger.Permanent(err)
			}
			noted = outcome == event.Duplicate
		}

		var items []types.TransactWriteItem
		if !counted {
			items = append(items, take.Item)
		}
		if !noted {
			items = append(items, record.Items...)
		}
		return "ordered", items, nil
	}
}

// One transaction counts an order towards a customer's daily limit, notes it,
// and stores the answer: all of it or nothing. If an item refuses, the work is
// called again. The items' Outcome says why: the work leaves out what is stored
// already, and a reached limit is an answer like any other.
func Example_transaction() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client()
	at := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	now := func() time.Time { return at }
	seen, err1 := ledger.New(db, "seen", &ledger.Config{Now: now})
	limits, err2 := counter.New(db, "limits", tzclock.UTC, &counter.Config{Now: now})
	acts, err3 := activity.New(db, "activity", &activity.Config{Now: now})
	check(errors.Join(err1, err2, err3))
	for _, table := range []schema.Table{seen.Table(), limits.Table(), acts.Table()} {
		check(schema.Create(ctx, db, table))
	}
	note := func(id string) activity.Activity {
		ev, err := event.New(at, "ORDER", id)
		check(err)
		return activity.Activity{Scope: "shop", Actor: "42", Event: ev, Kind: "order", Name: id}
	}
	_, err := acts.Record(ctx, note("o-2")) // somebody has noted it by hand
	check(err)

	caps := []int64{2, 2, 2, 2, 0} // at last the customer may order nothing
	for i, id := range []string{"o-1", "o-1", "o-2", "o-3", "o-4"} {
		key, err := ledger.Key("ORDER", id)
		check(err)
		res, err := ledger.DoTx(ctx, seen, ledger.Request{Key: key}, limited{limits, acts}.order(note(id), caps[i]))
		fmt.Println(id, res.Value, "replayed:", res.Replayed, err)
	}
	for a, err := range acts.InScope(ctx, "shop", activity.Range{}) {
		fmt.Println("noted:", a.Name, err)
	}
	// Output:
	// o-1 ordered replayed: false <nil>
	// o-1 ordered replayed: true <nil>
	// o-2 ordered replayed: false <nil>
	// o-3 no more than 2 a day replayed: false <nil>
	// o-4 no more than 0 a day replayed: false <nil>
	// noted: o-1 <nil>
	// noted: o-2 <nil>
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
