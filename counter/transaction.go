package counter

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
)

// TakeItem is a Take as one action of a transaction of the caller's own. It is
// made once for each logical write, and sent again unchanged after an unknown
// outcome: its nonce tells an own lost reply from another delivery. It is good
// for [Config].MaxSkew. A caller that goes on longer makes another, which reads
// Duplicate where the first has taken effect.
type TakeItem struct {
	Item types.TransactWriteItem

	store *Store
	write keyed
	most  int64
}

// TakeItem returns the Take for a transaction. Nothing is sent; errors are those
// of Take that need no request.
//
// A transaction takes effect as a whole or not at all, so an event that has taken
// before cancels it: see [TakeItem.Outcome]. DynamoDB refuses two actions on one
// item, and so two of one key and day.
//
// Price: 0 requests, 2 WCU. In a transaction each action costs 2 WCU for each KB,
// also when it is cancelled.
func (s *Store) TakeItem(t Take) (*TakeItem, error) {
	w, in, err := s.taking("TakeItem", t)
	if err != nil {
		return nil, err
	}
	return &TakeItem{Item: action(in), store: s, write: w, most: t.Cap}, nil
}

// Outcome reads how the item fared in a transaction that was cancelled: the
// reason is the one of the item's place in
// [types.TransactionCanceledException].CancellationReasons. Nothing of that
// transaction was written.
//
//   - "None": the zero Grant. The item was not at fault.
//   - "ConditionalCheckFailed": what Take would have answered. First is true when
//     an earlier try of the same TakeItem took effect, whose reply was lost, and
//     with it all of that transaction. Duplicate: another call had taken. Else OK
//     is false, or there is an error, as of Take.
//   - Any other code, such as a conflict: an error with that code. The same
//     TakeItem may be sent again.
//
// When every action is the caller's own earlier one or a Duplicate, all is done.
// When some are, leave those out and send the rest. An own earlier try that was
// settled or refunded meanwhile is not known for its own any more: it reads
// Duplicate, or Refunded. So give what else is in the transaction a condition by
// which it happens once, too.
func (i *TakeItem) Outcome(reason types.CancellationReason) (Grant, error) {
	row, refused, err := i.store.refusing(i.write, reason)
	if !refused || err != nil {
		return Grant{}, err
	}
	return i.store.refusedTake(i.write, i.most, row)
}

// Committed is the Grant of a transaction that took effect. Its Used and
// Remaining are [Unknown].
func (i *TakeItem) Committed() Grant { return i.write.committed(i.most) }

func (p place) committed(most int64) Grant {
	g := p.grant(Grant{OK: true, Outcome: event.Created, Used: Unknown}, most)
	g.Remaining = Unknown
	return g
}

// AdjustItem is an Adjust as one action of a transaction of the caller's own, made
// once for each logical write like a [TakeItem].
type AdjustItem struct {
	Item types.TransactWriteItem

	store *Store
	write keyed
	most  int64
}

// AdjustItem returns the Adjust for a transaction, to settle a hold together with
// what it was for. Nothing is sent; errors are those of Adjust that need no request.
//
// DynamoDB refuses two actions on one item, and so the Take and its Adjust in one
// transaction: take what is needed, then.
//
// Price: 0 requests, 2 WCU. In a transaction each action costs 2 WCU for each KB,
// also when it is cancelled.
func (s *Store) AdjustItem(a Adjust) (*AdjustItem, error) {
	w, in, err := s.settling("AdjustItem", a)
	if err != nil {
		return nil, err
	}
	return &AdjustItem{Item: action(in), store: s, write: w, most: a.Cap}, nil
}

// Outcome reads how the item fared in a transaction that was cancelled, as
// [TakeItem.Outcome] does: the zero Grant when it was not at fault, what Adjust
// would have answered when its condition failed, else an error with the code.
func (i *AdjustItem) Outcome(reason types.CancellationReason) (Grant, error) {
	row, refused, err := i.store.refusing(i.write, reason)
	if !refused || err != nil {
		return Grant{}, err
	}
	return i.store.refusedAdjust(i.write, i.most, row)
}

// Committed is the Grant of a transaction that took effect. Its Used and
// Remaining are [Unknown].
func (i *AdjustItem) Committed() Grant { return i.write.committed(i.most) }

// RefundItem is a Refund as one action of a transaction of the caller's own, made
// once for each logical write like a [TakeItem].
type RefundItem struct {
	Item types.TransactWriteItem

	store *Store
	write keyed
}

// RefundItem returns the Refund for a transaction. Nothing is sent; errors are
// those of Refund that need no request.
//
// It cannot come before its Take, and a Tombstone is bad input: whether the event
// has been taken decides between two writes, of which an action is one, and
// DynamoDB refuses both in one transaction. Where the two may arrive out of order,
// call Refund with a Tombstone before the transaction, or after it.
//
// Price: 0 requests, 2 WCU. In a transaction each action costs 2 WCU for each KB,
// also when it is cancelled.
func (s *Store) RefundItem(r Refund) (*RefundItem, error) {
	if r.Tombstone {
		return nil, event.BadInput(pkg, "Tombstone", "may take a second request, which an action of a transaction has not")
	}
	w, in, err := s.refunding("RefundItem", r)
	if err != nil {
		return nil, err
	}
	return &RefundItem{Item: action(in), store: s, write: w}, nil
}

// Outcome reads how the item fared in a transaction that was cancelled, as
// [TakeItem.Outcome] does: the zero Total when it was not at fault, what Refund
// would have answered when its condition failed, else an error with the code.
func (i *RefundItem) Outcome(reason types.CancellationReason) (Total, error) {
	row, refused, err := i.store.refusing(i.write, reason)
	if !refused || err != nil {
		return Total{}, err
	}
	return i.store.refusedRefund(i.write, row)
}

// Committed is the Total of a transaction that took effect. Its Used is
// [Unknown].
func (i *RefundItem) Committed() Total { return i.write.refund(event.Created, Unknown) }

// action is the update as an action of a transaction.
func action(in *dynamodb.UpdateItemInput) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName:                           in.TableName,
		Key:                                 in.Key,
		UpdateExpression:                    in.UpdateExpression,
		ConditionExpression:                 in.ConditionExpression,
		ExpressionAttributeNames:            in.ExpressionAttributeNames,
		ExpressionAttributeValues:           in.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
	}}
}

// refusing returns the row that refused the write in a transaction, which is
// empty when there was none.
func (s *Store) refusing(w keyed, reason types.CancellationReason) (row ddb.Item, refused bool, err error) {
	row, refused, err = ddb.Action(reason)
	if row == nil {
		row = ddb.Item{}
	}
	return row, refused, s.wrap(w.op, err)
}
