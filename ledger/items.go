package ledger

import (
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
	in := c.store.updateInput(c.Key, completeUpdate, held, completeNames)
	in.ExpressionAttributeValues = c.completeValues(result)
	return c.store.names.Action(ddb.UpdateAction(in))
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
