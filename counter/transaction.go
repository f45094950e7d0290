package counter

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
)

// TakeItem is a Take as one action of the caller's own transaction. Make it
// once for each logical write. After an unknown outcome, send the same TakeItem
// again unchanged: by its nonce it recognizes its own write. Send it only
// within [Config].MaxSkew after it was made. Later than that, make a new
// TakeItem: its Outcome is Duplicate if the first TakeItem has taken effect.
type TakeItem struct {
	Item types.TransactWriteItem

	store *Store
	write keyed
	most  int64
}

// TakeItem returns the Take for a transaction. It sends nothing. It returns the
// errors that Take returns before its first request.
//
// A transaction takes effect as a whole or not at all. So if the event has
// already taken, the whole transaction is cancelled: see [TakeItem.Outcome].
// DynamoDB refuses two actions on one item, so a transaction cannot have two
// TakeItems of one key and day.
//
// Price: 0 requests, 2 WCU. In a transaction, each action costs 2 WCU for each
// KB, even if it is cancelled.
func (s *Store) TakeItem(t Take) (*TakeItem, error) {
	w, in, err := s.taking("TakeItem", t)
	if err != nil {
		return nil, err
	}
	return &TakeItem{Item: s.action(in), store: s, write: w, most: t.Cap}, nil
}

// Outcome interprets the item's reason in a cancelled transaction: the reason
// at the item's place in
// [types.TransactionCanceledException].CancellationReasons. The cancelled
// transaction wrote nothing.
//
//   - "None": the zero Grant. The item was not at fault.
//   - "ConditionalCheckFailed": what Take would have answered. If First is true,
//     an earlier transaction with the same TakeItem took effect as a whole, and
//     its reply was lost. If OK is true and First is false, another call had
//     taken for the event, or the event was settled after an earlier try (see
//     below). Otherwise Refused is true, or the error is one of Take's.
//   - Any other code, such as a conflict: an error with that code. The same
//     TakeItem may be sent again.
//
// If every action was done by an earlier try or is a Duplicate, nothing is left
// to do. If only some actions were done, leave them out and send the others. If
// the event was settled or refunded after an earlier try took effect, the item
// no longer recognizes that try: the Grant is a Duplicate, or Refunded. So give
// each other action of the transaction a condition that lets it happen only
// once.
func (i *TakeItem) Outcome(reason types.CancellationReason) (Grant, error) {
	row, refused, err := i.store.refusing(i.write, reason)
	if !refused || err != nil {
		return Grant{}, err
	}
	return i.store.refusedTake(i.write, i.most, row)
}

// Committed is the Grant of a transaction that took effect. The Grant's Used
// and Remaining are [Unknown].
func (i *TakeItem) Committed() Grant { return i.write.committed(i.most) }

func (p place) committed(most int64) Grant {
	g := p.grant(Grant{OK: true, Outcome: event.Created, Used: Unknown}, most)
	g.Remaining = Unknown
	return g
}

// AdjustItem is an Adjust as one action of the caller's own transaction. Make it
// once for each logical write, like a [TakeItem].
type AdjustItem struct {
	Item types.TransactWriteItem

	store *Store
	write keyed
	most  int64
}

// AdjustItem returns the Adjust for a transaction. So one transaction can settle a
// hold and do the write for which the hold was taken. AdjustItem sends nothing. It
// returns the errors that Adjust returns before its first request.
//
// DynamoDB refuses two actions on one item, so a Take and the Adjust of the same
// event cannot be in one transaction: use a TakeItem with the final weight
// instead.
//
// Price: 0 requests, 2 WCU. In a transaction, each action costs 2 WCU for each
// KB, even if it is cancelled.
func (s *Store) AdjustItem(a Adjust) (*AdjustItem, error) {
	w, in, err := s.settling("AdjustItem", a)
	if err != nil {
		return nil, err
	}
	return &AdjustItem{Item: s.action(in), store: s, write: w, most: a.Cap}, nil
}

// Outcome interprets the item's reason in a cancelled transaction, as
// [TakeItem.Outcome] does. If the item was not at fault, Outcome returns the
// zero Grant. If the item's condition failed, Outcome returns what Adjust would
// have answered. For any other reason it returns an error with the reason's
// code.
func (i *AdjustItem) Outcome(reason types.CancellationReason) (Grant, error) {
	row, refused, err := i.store.refusing(i.write, reason)
	if !refused || err != nil {
		return Grant{}, err
	}
	return i.store.refusedAdjust(i.write, i.most, row)
}

// Committed is the Grant of a transaction that took effect. The Grant's Used
// and Remaining are [Unknown].
func (i *AdjustItem) Committed() Grant { return i.write.committed(i.most) }

// RefundItem is a Refund as one action of the caller's own transaction. Make it
// once for each logical write, like a [TakeItem].
type RefundItem struct {
	Item types.TransactWriteItem

	store *Store
	write keyed
}

// RefundItem returns the Refund for a transaction. It sends nothing. It returns
// the errors that Refund returns before its first request.
//
// A RefundItem cannot come before its Take, and a Tombstone is bad input: a
// refund and a tombstone are two different writes to the same item, and
// DynamoDB refuses a transaction that has both. If the refund and its Take may
// arrive out of order, call Refund with a Tombstone before or after the
// transaction.
//
// Price: 0 requests, 2 WCU. In a transaction, each action costs 2 WCU for each
// KB, even if it is cancelled.
func (s *Store) RefundItem(r Refund) (*RefundItem, error) {
	if r.Tombstone {
		return nil, event.BadInput(pkg, "Tombstone", "must not be set in a transaction, because it may need a second request: call Refund instead")
	}
	w, in, err := s.refunding("RefundItem", r)
	if err != nil {
		return nil, err
	}
	return &RefundItem{Item: s.action(in), store: s, write: w}, nil
}

// Outcome interprets the item's reason in a cancelled transaction, as
// [TakeItem.Outcome] does. If the item was not at fault, Outcome returns the
// zero Total. If the item's condition failed, Outcome returns what Refund would
// have answered. For any other reason it returns an error with the reason's
// code.
func (i *RefundItem) Outcome(reason types.CancellationReason) (Total, error) {
	row, refused, err := i.store.refusing(i.write, reason)
	if !refused || err != nil {
		return Total{}, err
	}
	return i.store.refusedRefund(i.write, row)
}

// Committed is the Total of a transaction that took effect. The Total's Used is
// [Unknown].
func (i *RefundItem) Committed() Total { return i.write.refund(event.Created, Unknown) }

// action is the update as an action of a transaction.
func (s *Store) action(in *dynamodb.UpdateItemInput) types.TransactWriteItem {
	return s.names.Action(types.TransactWriteItem{Update: &types.Update{
		TableName:                           in.TableName,
		Key:                                 in.Key,
		UpdateExpression:                    in.UpdateExpression,
		ConditionExpression:                 in.ConditionExpression,
		ExpressionAttributeNames:            in.ExpressionAttributeNames,
		ExpressionAttributeValues:           in.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
	}})
}

// refusing returns the row that refused the write in a transaction, empty if it
// did not exist.
func (s *Store) refusing(w keyed, reason types.CancellationReason) (row ddb.Item, refused bool, err error) {
	row, refused, err = ddb.Action(reason)
	row = s.names.Read(row)
	if row == nil {
		row = ddb.Item{}
	}
	return row, refused, s.wrap(w.op, err)
}
