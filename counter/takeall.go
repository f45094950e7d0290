package counter

import (
	"context"
	"fmt"
	"reflect"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/record"
)

// mostItems is how many actions a transaction can have.
const mostItems = 100

// TakeOf is a Take of one of the stores of [TakeAll].
type TakeOf struct {
	Store *Store
	Take  Take
}

// TakeAll takes all of the items or, if one has no room, none of them: so an event is
// counted against the cap of the hour and that of the month, or against the caps of
// a customer and of the customer's company. The Grant at index i answers items[i].
//
// Either every Grant is OK, or at least one is Refused, and this call has taken
// nothing. In the second case, the Grant of an item that was not at fault is the
// zero Grant: nothing was decided about it. An item that holds already, because
// an earlier call took it, is OK and a Duplicate, and TakeAll takes the others. So
// after an error make the same call again. If an event was refunded, its Grant is
// Refused, and TakeAll takes none of the others.
//
// The Used and Remaining of what this call took are [Unknown], because a committed
// transaction returns no count.
//
// All stores must have the same api, because one transaction is sent. No two items
// may be of the same row, that is of one table, key and window: DynamoDB refuses two
// actions on one item. TakeAll sends the transaction again, up to 5 times, if one of
// the rows is in another transaction, or DynamoDB has no capacity for it.
//
// Errors: an [*event.InputError] for no items, for more than 100, and for a bad item
// (its Field is then such as "items[1].Weight"); otherwise the error of Take for the
// first item that has one. After an error of an item, this call has taken nothing. Only
// an attempt that the network delays may still take, as for Take. After any other error
// the outcome is open: make the same call again.
//
// Price: 1 request, 4 WCU. That is the price of two items. Each item costs 2 WCU for
// each KB of its row, also if it is refused. If some items hold already, the others
// are sent again, for 1 request and their price.
func TakeAll(ctx context.Context, items ...TakeOf) ([]Grant, error) {
	if len(items) == 0 || len(items) > mostItems {
		return nil, event.BadInput(pkg, "items", fmt.Sprintf("must be 1 to 100, because a transaction has at most 100 actions; is %d", len(items)))
	}

	all := taking{grants: make([]Grant, len(items)), rows: map[[3]string]int{}}
	for i, of := range items {
		if err := all.add(i, of); err != nil {
			return nil, check.Within(fmt.Sprintf("items[%d]", i), err)
		}
	}

	for len(all.left) > 0 {
		if err := all.transact(ctx); err != nil {
			return nil, err
		}
	}
	return all.grants, nil
}

// taking is a TakeAll under way.
type taking struct {
	api   record.API
	table string            // of the first item, for errors
	rows  map[[3]string]int // the item of each table, key and window
	token string

	grants []Grant
	left   []share // what is not answered yet
}

// share is the action of an item, by its index.
type share struct {
	index  int
	action *record.Action[Grant]
}

// add checks an item, and adds its action to what is left to send. The first item gives
// the api, the table and the token.
func (a *taking) add(i int, of TakeOf) error {
	s := of.Store
	if s == nil {
		return event.BadInput(pkg, "Store", "must not be nil")
	}

	w, in, err := s.taking("TakeAll", of.Take)
	if err != nil {
		return err
	}
	if i == 0 {
		a.api, a.table, a.token = s.own, s.table, w.entry.nonce
	}

	row := [3]string{s.table, w.key, w.name}
	other, twice := a.rows[row]
	switch {
	case !same(a.api, s.own):
		return event.BadInput(pkg, "Store", "must have the api of the other stores, because one transaction is sent")
	case twice:
		return event.BadInput(pkg, "Take", fmt.Sprintf("must not be of the same row as items[%d]: a transaction cannot have two actions on one row", other))
	}

	a.rows[row] = i
	a.left = append(a.left, share{i, s.takeAction(w, in, of.Take.Cap)})
	return nil
}

// same reports whether two clients are the same. One that cannot be compared is taken
// for the same as another of its type.
func same(a, b record.API) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	return x.Type() == y.Type() && (!x.Comparable() || !y.Comparable() || a == b)
}

// transact sends what is left. What the reply does not answer is still left.
func (a *taking) transact(ctx context.Context) error {
	in := &dynamodb.TransactWriteItemsInput{
		// The same token after a conflict, so that what took effect counts as that.
		// What is sent anew is shorter each time.
		ClientRequestToken: aws.String(fmt.Sprintf("%s-%d", a.token, len(a.left))),
	}

	for _, it := range a.left {
		in.TransactItems = append(in.TransactItems, it.action.Item)
	}

	err := ddb.RetryIf(ctx, ddb.Busy, func() error {
		_, err := a.api.TransactWriteItems(ctx, in)
		return err
	})
	if err == nil {
		for _, it := range a.left {
			a.grants[it.index] = it.action.Committed()
		}
		a.left = nil
		return nil
	}

	reasons, cancelled := ddb.Cancelled(err)
	if !cancelled || len(reasons) != len(a.left) || ddb.Busy(err) {
		return ddb.Wrap(pkg, "TakeAll", a.table, err)
	}

	var left []share
	refused := false
	for n, it := range a.left {
		g, failed := it.action.Outcome(reasons[n])
		if failed != nil {
			return failed
		}
		a.grants[it.index], refused = g, refused || g.Refused()
		if !g.OK && !g.Refused() { // it was not at fault
			left = append(left, it)
		}
	}

	switch {
	case refused: // nothing is left to send
		left = nil
	case len(left) == len(a.left):
		return ddb.Wrap(pkg, "TakeAll", a.table, err)
	}
	a.left = left
	return nil
}
