package ledger

import (
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
)

// CompleteItem is [Claim.Complete] as an action of a transaction of the
// caller's own, from [Claim.CompleteItem].
type CompleteItem struct {
	// Item is the action, for TransactWriteItems.
	Item types.TransactWriteItem

	claim  *Claim
	result string // as it is stored
}

// CompleteItem returns [Claim.Complete] as an action of a transaction, so that
// the effect and its record are written together or not at all:
//
//	done, err := c.CompleteItem(receipt)
//	…
//	_, err = db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
//		TransactItems: []types.TransactWriteItem{done.Item, {Put: order}},
//	})
//
// [DoTx] sends such a transaction, and knows what to make of its errors. For one
// of your own: make it once and send it again unchanged after an unknown
// outcome. When it is cancelled, [CompleteItem.Outcome] says how this action
// fared; inside [Do] the work may return the error instead, for Do tells its
// own transaction from a lost lease. The reason TransactionConflict may be a
// renewal by Do under way: send the transaction again. The claim hears of the
// transaction only by its own next request or by Outcome, and until then Do's
// context may end with [ErrLeaseLost].
//
// Price: 0 requests, 2 WCU. In a transaction each action costs 2 WCU for each KB.
func (c *Claim) CompleteItem(result any) (*CompleteItem, error) {
	text, err := c.encode(result)
	if err != nil {
		return nil, err
	}
	return c.completeItem(text), nil
}

func (c *Claim) completeItem(result string) *CompleteItem {
	in := c.store.updateInput(c.Key, completeUpdate, held, maps.Clone(c.store.names.complete)) // the caller may add to the action
	return &CompleteItem{claim: c, result: result, Item: types.TransactWriteItem{Update: &types.Update{
		TableName:                           in.TableName,
		Key:                                 in.Key,
		UpdateExpression:                    in.UpdateExpression,
		ConditionExpression:                 in.ConditionExpression,
		ExpressionAttributeNames:            in.ExpressionAttributeNames,
		ExpressionAttributeValues:           c.completeValues(result),
		ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
	}}}
}

// Outcome says how the action fared in a cancelled transaction, by the reason
// in its place. The zero Outcome without an error: it was not at fault, and
// nothing was written. Otherwise it is as [Claim.Complete]: event.Created when
// an earlier try of this transaction took effect, [ErrLeaseLost] when another
// worker took the key over, a [*DoneError] when this claim is completed with
// another result. A reason other than a failed condition is an error with its
// code.
func (i *CompleteItem) Outcome(reason types.CancellationReason) (event.Outcome, error) {
	old, refused, err := ddb.Action(reason)
	if err != nil || !refused {
		return 0, i.claim.store.wrap("CompleteItem", err)
	}
	if err := i.claim.judge("CompleteItem", old, completedWith(i.result)); err != nil {
		return 0, err
	}
	i.claim.setSettled()
	return event.Created, nil
}

// MarkItem is [Store.MarkSeen] as an action of a transaction of the caller's
// own, from [Store.MarkItem].
type MarkItem struct {
	// Item is the action, for TransactWriteItems.
	Item types.TransactWriteItem

	store *Store
	nonce string
}

// MarkItem returns [Store.MarkSeen] as an action of a transaction, so that the
// key is marked together with what must happen once, or not at all. Where
// MarkSeen alone is at most once, such a transaction is exactly once.
//
// Make it once for each transaction, and send it again unchanged after an
// unknown outcome: by its nonce [MarkItem.Outcome] tells an own lost reply from
// another delivery, also when DynamoDB has forgotten the ClientRequestToken, which it
// does after ten minutes. The SDK does not send again what was cancelled: do so where
// a reason's code is TransactionConflict, ThrottlingError or
// ProvisionedThroughputExceeded. A key that was seen cancels the whole transaction.
//
// Price: 0 requests, 2 WCU. In a transaction each action costs 2 WCU for each KB.
func (s *Store) MarkItem(key string) (*MarkItem, error) {
	if err := check.PartitionKey(pkg, "key", key); err != nil {
		return nil, err
	}
	nonce, err := s.nonce("MarkItem")
	if err != nil {
		return nil, err
	}
	in := s.markInput(key, nonce, s.cfg.Now())
	return &MarkItem{store: s, nonce: nonce, Item: types.TransactWriteItem{Put: &types.Put{
		TableName:                           in.TableName,
		Item:                                in.Item,
		ConditionExpression:                 in.ConditionExpression,
		ExpressionAttributeNames:            maps.Clone(in.ExpressionAttributeNames), // the caller may add to the action
		ExpressionAttributeValues:           in.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
	}}}, nil
}

// Outcome says how the action fared in a cancelled transaction, by the reason
// in its place. The zero Outcome without an error: it was not at fault, and
// nothing was written. Otherwise it is that of [Store.MarkSeen]: event.Created
// when an earlier try of this transaction took effect, event.Duplicate when the
// key was seen before. A reason other than a failed condition is an error with
// its code.
func (i *MarkItem) Outcome(reason types.CancellationReason) (event.Outcome, error) {
	old, refused, err := ddb.Action(reason)
	if err != nil || !refused {
		return 0, i.store.wrap("MarkItem", err)
	}
	return markOutcome(old, i.nonce), nil
}
