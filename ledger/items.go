package ledger

import (
	"reflect"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/record"
)

// CompleteItem returns [Claim.Complete] as an action of a transaction, so that
// the effect and its record are written together or not at all:
//
//	done, err := c.CompleteItem(receipt)
//	…
//	_, err = db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
//		TransactItems: []types.TransactWriteItem{done.Item, {Put: order}},
//	})
//
// [DoTx] sends such a transaction and handles its errors. If you send the
// transaction yourself, make the item once, and send the transaction again
// unchanged after an unknown outcome.
//
// When the transaction is cancelled, Outcome answers as [Claim.Complete] does: with
// event.Created, if this claim is completed with this result, for example by an
// earlier try of this transaction; with [ErrLeaseLost], if this claim was lost or
// gave the key up; with a [*DoneError], if this claim is completed with another
// result; or with a [*PermanentError], if it failed with one.
//
// Inside [Do], the work may simply return the transaction's error: Do finds out
// whether the transaction took effect. A TransactionConflict may come from Do's own
// renewal: send the transaction again. The work's context may end with
// [ErrLeaseLost] after the transaction took effect, because the claim learns of the
// transaction only from the claim's own next request or from Outcome.
//
// Price: 0 requests, 2 WCU. In a transaction, each action costs 2 WCU for each
// KB.
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
		c.setSettled()
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
// held. A worker that was stopped for longer than its lease cannot know that another
// has the key; with this action in each of its transactions, such a worker writes
// nothing, and the rows that are written need no fence:
//
//	lock := c.CheckItem()
//	_, err = db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
//		TransactItems: []types.TransactWriteItem{lock.Item, {Put: price}},
//	})
//
// A holder whose lease has lapsed may still write as long as nobody else has claimed
// the key, and nobody can claim it between the check and the write: they are one.
//
// When the transaction is cancelled, Outcome returns [ErrLeaseLost] if this claim was
// lost or given up, and a [*DoneError] or a [*PermanentError] if it has ended. The
// check itself writes nothing. So if an earlier try of the transaction may have taken
// effect, and its reply was lost, ErrLeaseLost does not say that it did not: ask the
// other actions first. TransactionConflict may come from the renewal of [Hold] or [Do]:
// send the transaction again. A renewal that meets the transaction is sent again by
// itself.
//
// A transaction has one action for each row, so the check cannot stand beside the
// [Claim.CompleteItem] of the same claim, which checks as much. For the same reason,
// [DoTx] returns an [*event.InputError] for the check of its own claim, and sends no
// transaction. It takes the checks of other claims, such as that of a [Hold] around it.
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

// MarkItem returns [Store.MarkSeen] as an action of a transaction, so that the
// key and the effect are written together or not at all. With MarkSeen alone,
// the effect happens at most once; in such a transaction, it happens exactly
// once, or the key is not marked.
//
// Make the item once for each transaction, and send the transaction again unchanged
// after an unknown outcome. A key that was seen before and has not expired cancels
// the whole transaction: Outcome answers event.Duplicate, or event.Created if the
// key was marked by this very action. The action knows by its nonce, even after ten
// minutes, when DynamoDB has forgotten the ClientRequestToken. The SDK does not
// repeat a cancelled transaction: send the transaction again if a reason's code is
// TransactionConflict, ThrottlingError or ProvisionedThroughputExceeded.
//
// Price: 0 requests, 2 WCU. In a transaction, each action costs 2 WCU for each
// KB.
func (s *Store) MarkItem(key string) (*record.Action[event.Outcome], error) {
	if err := check.PartitionKey(pkg, "key", key); err != nil {
		return nil, err
	}
	nonce, err := s.nonce("MarkItem")
	if err != nil {
		return nil, err
	}
	refused := func(old record.Item) (event.Outcome, error) { return markOutcome(s.names.Read(old), nonce), nil }
	put := s.names.Action(ddb.PutAction(s.markInput(key, nonce, s.cfg.Now())))
	return record.NewAction(put, event.Created, refused, func(err error) error { return s.wrap("MarkItem", err) }), nil
}
