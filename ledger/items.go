package ledger

import (
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
)

// CompleteItem is [Claim.Complete] as an action of a transaction that the
// caller sends. Make it with [Claim.CompleteItem].
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
// [DoTx] sends such a transaction and handles its errors. If you send the
// transaction yourself, make the item once, and send the transaction again
// unchanged after an unknown outcome. When the transaction is cancelled,
// [CompleteItem.Outcome] says why. Inside [Do], the work may simply return the
// transaction's error: Do finds out whether the transaction took effect. A
// TransactionConflict may come from Do's own renewal: send the transaction
// again. The work's context may end with [ErrLeaseLost] after the transaction
// took effect, because the claim learns of the transaction only from the
// claim's own next request or from Outcome.
//
// Price: 0 requests, 2 WCU. In a transaction, each action costs 2 WCU for each
// KB.
func (c *Claim) CompleteItem(result any) (*CompleteItem, error) {
	text, err := c.encode(result)
	if err != nil {
		return nil, err
	}
	c.byWork(text)
	return c.completeItem(text), nil
}

func (c *Claim) completeItem(result string) *CompleteItem {
	in := c.store.updateInput(c.Key, completeUpdate, held, maps.Clone(completeNames)) // the caller may add to the action
	return &CompleteItem{claim: c, result: result, Item: c.store.names.Action(types.TransactWriteItem{Update: &types.Update{
		TableName:                           in.TableName,
		Key:                                 in.Key,
		UpdateExpression:                    in.UpdateExpression,
		ConditionExpression:                 in.ConditionExpression,
		ExpressionAttributeNames:            in.ExpressionAttributeNames,
		ExpressionAttributeValues:           c.completeValues(result),
		ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
	}})}
}

// Outcome interprets the action's reason in a cancelled transaction. The zero
// event.Outcome without an error means that another action was at fault and
// nothing was written. Otherwise, Outcome answers as [Claim.Complete] does:
// with event.Created, if this claim is completed with this result, for example
// by an earlier try of this transaction; with [ErrLeaseLost], if this claim was
// lost or gave the key up; with a [*DoneError], if this claim is completed with
// another result; or with a [*PermanentError], if it failed with one. If the
// action failed for another reason than its condition, Outcome returns an error
// with the reason's code.
func (i *CompleteItem) Outcome(reason types.CancellationReason) (event.Outcome, error) {
	old, refused, err := ddb.Action(reason)
	if err != nil || !refused {
		return 0, i.claim.store.wrap("CompleteItem", err)
	}
	if err := i.claim.judge("CompleteItem", i.claim.store.names.Read(old), completedWith(i.result)); err != nil {
		return 0, err
	}
	i.claim.setSettled()
	return event.Created, nil
}

// MarkItem is [Store.MarkSeen] as an action of a transaction that the caller
// sends. Make it with [Store.MarkItem].
type MarkItem struct {
	// Item is the action, for TransactWriteItems.
	Item types.TransactWriteItem

	store *Store
	nonce string
}

// MarkItem returns [Store.MarkSeen] as an action of a transaction, so that the
// key and the effect are written together or not at all. With MarkSeen alone,
// the effect happens at most once; in such a transaction, it happens exactly
// once, or the key is not marked.
//
// Make the item once for each transaction, and send the transaction again unchanged
// after an unknown outcome. [MarkItem.Outcome] recognizes the item's own
// transaction by the nonce, even after ten minutes, when DynamoDB has forgotten the
// ClientRequestToken. The SDK does not repeat a cancelled transaction: send the
// transaction again if a reason's code is TransactionConflict, ThrottlingError or
// ProvisionedThroughputExceeded. A key that was seen before and has not expired
// cancels the whole transaction.
//
// Price: 0 requests, 2 WCU. In a transaction, each action costs 2 WCU for each
// KB.
func (s *Store) MarkItem(key string) (*MarkItem, error) {
	if err := check.PartitionKey(pkg, "key", key); err != nil {
		return nil, err
	}
	nonce, err := s.nonce("MarkItem")
	if err != nil {
		return nil, err
	}
	in := s.markInput(key, nonce, s.cfg.Now())
	return &MarkItem{store: s, nonce: nonce, Item: s.names.Action(types.TransactWriteItem{Put: &types.Put{
		TableName:                           in.TableName,
		Item:                                in.Item,
		ConditionExpression:                 in.ConditionExpression,
		ExpressionAttributeNames:            maps.Clone(in.ExpressionAttributeNames), // the caller may add to the action
		ExpressionAttributeValues:           in.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: in.ReturnValuesOnConditionCheckFailure,
	}})}, nil
}

// Outcome interprets the action's reason in a cancelled transaction. The zero
// event.Outcome without an error means that another action was at fault and
// nothing was written. Otherwise, Outcome answers as [Store.MarkSeen] does:
// with event.Created, if an earlier try of this transaction took effect, or
// with event.Duplicate, if the key was seen before. If the action failed for
// another reason than its condition, Outcome returns an error with the reason's
// code.
func (i *MarkItem) Outcome(reason types.CancellationReason) (event.Outcome, error) {
	old, refused, err := ddb.Action(reason)
	if err != nil || !refused {
		return 0, i.store.wrap("MarkItem", err)
	}
	return markOutcome(i.store.names.Read(old), i.nonce), nil
}
