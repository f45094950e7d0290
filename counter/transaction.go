package counter

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/record"
)

// TakeItem returns the Take as an action of a transaction. It sends nothing. It
// returns the errors that Take returns before its first request.
//
// By its nonce, the action recognizes its own write. Send it only within
// [Config].MaxSkew after it was made. Later than that, make a new TakeItem: its
// Outcome is Duplicate if the first TakeItem has taken effect. DynamoDB refuses two
// actions on one item, so a transaction cannot have two TakeItems of one key and window.
//
// If the action was refused, Outcome returns what Take would have answered. If First
// is true, an earlier transaction with the same action took effect as a whole, and
// its reply was lost. If OK is true and First is false, another call had taken for
// the event, or the event was settled after an earlier try (see below). Otherwise
// Refused is true, or the error is one of Take's.
//
// If every action was done by an earlier try or is a Duplicate, nothing is left
// to do. If only some actions were done, leave them out and send the others. If
// the event was settled or refunded after an earlier try took effect, the action
// no longer recognizes that try: the Grant is a Duplicate, or Refunded. So every
// other action of the transaction needs a condition that lets it happen only
// once.
//
// Price: 0 requests, 2 WCU. In a transaction, each action costs 2 WCU for each
// KB, even if it is cancelled.
func (s *Store) TakeItem(t Take) (*record.Action[Grant], error) {
	w, in, err := s.taking("TakeItem", t)
	if err != nil {
		return nil, err
	}
	return s.takeAction(w, in, t.Cap), nil
}

func (s *Store) takeAction(w keyed, in *dynamodb.UpdateItemInput, most int64) *record.Action[Grant] {
	refused := func(row record.Item) (Grant, error) { return s.refusedTake(w, most, row) }
	return action(s, w, in, w.committed(most), refused)
}

// AdjustItem returns the Adjust as an action of a transaction, as TakeItem does: when
// it is committed, Used is [Unknown]. So one transaction can settle a hold and do the
// write for which the hold was taken.
//
// DynamoDB refuses two actions on one item, so a Take and the Adjust of the same
// event cannot be in one transaction: use a TakeItem with the final weight
// instead.
//
// Price: 0 requests, 2 WCU. In a transaction, each action costs 2 WCU for each
// KB, even if it is cancelled.
func (s *Store) AdjustItem(a Adjust) (*record.Action[Grant], error) {
	w, in, err := s.settling("AdjustItem", a)
	if err != nil {
		return nil, err
	}
	refused := func(row record.Item) (Grant, error) { return s.refusedAdjust(w, a.Cap, row) }
	return action(s, w, in, w.committed(a.Cap), refused), nil
}

// RefundItem returns the Refund as an action of a transaction, as TakeItem does.
//
// A RefundItem cannot come before its Take, and a Tombstone is bad input: a
// refund and a tombstone are two different writes to the same item, and
// DynamoDB refuses a transaction that has both. If the refund and its Take may
// arrive out of order, call Refund with a Tombstone before or after the
// transaction.
//
// Price: 0 requests, 2 WCU. In a transaction, each action costs 2 WCU for each
// KB, even if it is cancelled.
func (s *Store) RefundItem(r Refund) (*record.Action[Total], error) {
	if r.Tombstone {
		return nil, event.BadInput(pkg, "Tombstone", "must not be set in a transaction, because it may need a second request: call Refund instead")
	}
	w, in, err := s.refunding("RefundItem", r)
	if err != nil {
		return nil, err
	}
	refused := func(row record.Item) (Total, error) { return s.refusedRefund(w, row) }
	return action(s, w, in, w.refund(event.Created, Unknown), refused), nil
}

// action is the write as an action of a transaction.
func action[T any](s *Store, w keyed, in *dynamodb.UpdateItemInput, committed T, refused func(record.Item) (T, error)) *record.Action[T] {
	answer := func(row record.Item) (T, error) { return refused(s.names.Read(row)) }
	return record.NewAction(s.names.Action(ddb.UpdateAction(in)), committed, answer, func(err error) error { return s.wrap(w.op, err) })
}

// committed is the Grant of a transaction that took effect.
func (p place) committed(most int64) Grant {
	g := p.grant(true, p.total(event.Created, Unknown), most)
	g.Remaining = Unknown
	return g
}
