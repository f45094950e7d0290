package ledger

import (
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/record"
)

// CompleteItem returns [Claim.Complete] as an action of a transaction, so that the
// effect and its record are written together or not at all:
//
//	done, err := c.CompleteItem(receipt)
//	…
//	_, err = db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
//		TransactItems: []types.TransactWriteItem{done.Item, {Put: order}},
//	})
//
// Make the item once, and send the transaction again unchanged after an unknown outcome
// or a TransactionConflict, which may come from a renewal.
//
// When this action cancels the transaction, Outcome answers event.Created if this claim
// is completed with this result, and otherwise with Complete's errors. Inside [Do], the
// work may simply return the transaction's error: Do finds out whether it took effect.
//
// Price: 0 requests, 2 WCU. In a transaction, each action costs 2 WCU for each KB.
func (c *Claim) CompleteItem(result any) (*record.Action[event.Outcome], error) {
	text, err := c.encode(result)
	if err != nil {
		return nil, err
	}

	c.byWork(text)
	refused := func(old record.Item) (event.Outcome, error) {
		if err := c.judge("CompleteItem", c.store.names.Read(old), completedWith(text)); err != nil {
			return 0, err
		}
		return event.Created, nil
	}

	return record.NewAction(c.completion(text), event.Created, refused, func(err error) error { return c.store.wrap("CompleteItem", err) }), nil
}

// completion is the action that completes the claim.
func (c *Claim) completion(result string) types.TransactWriteItem {
	in := c.store.updateInput(c.Key, completeUpdate, held)
	in.ExpressionAttributeValues = c.completeValues(result)
	return c.store.names.Action(ddb.UpdateAction(in))
}

// CheckItem returns an action that cancels a transaction if this claim is no longer
// held. With it in each transaction, a worker that lost the key without noticing writes
// nothing, and the rows need no fence:
//
//	lock := c.CheckItem()
//	_, err = db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
//		TransactItems: []types.TransactWriteItem{lock.Item, {Put: price}},
//	})
//
// A holder whose lease has lapsed may still write until somebody else claims the key.
//
// When this action cancels the transaction, Outcome returns [ErrLeaseLost], or a
// [*DoneError] or a [*PermanentError] if this claim has ended. If an earlier try may have
// taken effect, ask the other actions first. A TransactionConflict may come from a
// renewal: send the transaction again.
//
// A transaction has one action for each row. So the check cannot stand beside the
// [Claim.CompleteItem] of the same claim, or in its [DoTx]; both check as much.
//
// Price: 0 requests, 2 WCU. In a transaction, each action costs 2 WCU for each KB.
func (c *Claim) CheckItem() *record.Action[struct{}] {
	in := c.store.updateInput(c.Key, "", held)
	in.ExpressionAttributeValues = c.heldValues()
	refused := func(old record.Item) (none struct{}, err error) {
		return none, c.judge("CheckItem", c.store.names.Read(old), func(row) bool { return false })
	}
	return record.NewAction(c.store.names.Action(ddb.CheckAction(in)), struct{}{}, refused,
		func(err error) error { return c.store.wrap("CheckItem", err) })
}

// isCheck reports whether the action is the CheckItem of this claim.
func (c *Claim) isCheck(action types.TransactWriteItem) bool {
	return action.ConditionCheck != nil && reflect.DeepEqual(action, c.CheckItem().Item)
}

// MarkItem returns [Store.MarkSeen] as an action of a transaction, so that the key and
// the effect are written together, exactly once, or not at all.
//
// Make the item once for each transaction, and send the transaction again unchanged
// after an unknown outcome or for a reason's code TransactionConflict, ThrottlingError
// or ProvisionedThroughputExceeded. A key that was seen before and has not expired
// cancels the transaction: Outcome answers event.Duplicate, or event.Created if this
// very action marked it, however long ago, unless the key was erased.
//
// Price: 0 requests, 2 WCU. In a transaction, each action costs 2 WCU for each KB.
func (s *Store) MarkItem(key string) (*record.Action[event.Outcome], error) {
	nonce, err := s.nonceFor("MarkItem", "key", key)
	if err != nil {
		return nil, err
	}
	refused := func(old record.Item) (event.Outcome, error) { return markOutcome(s.names.Read(old), nonce), nil }
	put := s.names.Action(ddb.PutAction(s.markInput(key, nonce, s.cfg.Now())))
	return record.NewAction(put, event.Created, refused, func(err error) error { return s.wrap("MarkItem", err) }), nil
}
