package message

import (
	"context"
	"fmt"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// saveCondition treats an expired row as absent, deleted or not. Its message
// cannot come back, because it is too old to be saved.
const saveCondition = "attribute_not_exists(#scope) OR #ttl BETWEEN :one AND :now"

var saveNames = map[string]string{"#scope": attrScope, "#ttl": attrTTL}

// one is the least ttl that DynamoDB accepts.
var one = item.N(1)

// Save stores the message and answers Created. If a message with the same scope
// and sequence exists and has not expired, Save answers Duplicate and changes
// nothing. Save does not compare the two messages. If the answer is Duplicate,
// the given message may be
//
//   - the stored message, delivered again;
//   - the stored message, which this very call stored: the reply was lost, and
//     the SDK sent the message again. So a message may be saved although every
//     answer is Duplicate;
//   - another message with the same sequence, such as an edit. Then the given
//     message is not stored.
//
// [Store.Get] shows which message is stored. An expired message does not make a
// Duplicate: a new message with its sequence replaces it.
//
// Errors: [*event.InputError]; with a Retention, also [event.ErrTooOld], for a
// message so old that its row may have expired.
//
// Price: 1 request, 1 WCU. A message above 1 KB costs 1 WCU for each KB. A
// Duplicate costs 1 WCU for each KB of the stored row. A message that replaces
// an expired row costs as much as the larger of the two. If the message is
// stored and has an actor, the index by actor costs 1 WCU for each KB of the
// message. If the replaced row has an actor, the index costs 1 WCU for each KB
// of that row, too.
func (s *Store) Save(ctx context.Context, m Message) (event.Outcome, error) {
	in, err := s.saving("Save", m)
	if err != nil {
		return 0, err
	}
	err = ddb.Retry(ctx, func() error {
		_, err := s.api.PutItem(ctx, in)
		return err
	})
	if _, refused := ddb.Refused(err); refused {
		return event.Duplicate, nil
	}
	if err != nil {
		return 0, s.wrap("Save", err)
	}
	return event.Created, nil
}

// saving checks the message and returns the request that saves it.
func (s *Store) saving(op string, m Message) (*dynamodb.PutItemInput, error) {
	now := s.cfg.Now()
	if err := s.check(m, now); err != nil {
		return nil, err
	}
	row, err := s.encode(m, now)
	if err != nil {
		return nil, err
	}
	if s.tooOld(m.At, now) {
		return nil, s.wrap(op, fmt.Errorf("the message is too old for the retention of %s: %w", s.cfg.Retention, event.ErrTooOld))
	}
	return &dynamodb.PutItemInput{
		TableName:                 aws.String(s.table),
		Item:                      row,
		ConditionExpression:       aws.String(saveCondition),
		ExpressionAttributeNames:  saveNames,
		ExpressionAttributeValues: ddb.Item{":one": one, ":now": item.N(now.Unix())},
	}, nil
}

// SaveItem is a Save as one action of the caller's own transaction. Make it
// once for each logical write. After an unknown outcome, send the same SaveItem
// again unchanged. Send it only within [Config].MaxSkew after it was made.
type SaveItem struct {
	Item types.TransactWriteItem

	store *Store
}

// SaveItem returns the Save for a transaction. It sends nothing. It returns the
// errors that Save returns before its request.
//
// A transaction takes effect as a whole or not at all. So if a message with the
// same scope and sequence exists and has not expired, the whole transaction is
// cancelled: see [SaveItem.Outcome].
//
// Price: 0 requests, 2 WCU. In a transaction, each action costs 2 WCU for each
// KB, even if it is cancelled. If the message is stored, the index by actor
// adds 1 WCU for each KB of a message with an actor, and of a replaced row with
// an actor.
func (s *Store) SaveItem(m Message) (*SaveItem, error) {
	in, err := s.saving("SaveItem", m)
	if err != nil {
		return nil, err
	}
	return &SaveItem{store: s, Item: s.names.Action(types.TransactWriteItem{Put: &types.Put{
		TableName:                           in.TableName,
		Item:                                in.Item,
		ConditionExpression:                 in.ConditionExpression,
		ExpressionAttributeNames:            maps.Clone(in.ExpressionAttributeNames), // the caller may add to the action
		ExpressionAttributeValues:           in.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}})}, nil
}

// Outcome interprets the item's reason in a cancelled transaction: the reason
// at the item's place in
// [types.TransactionCanceledException].CancellationReasons. The cancelled
// transaction wrote nothing.
//
//   - "None": 0 and no error. The item was not at fault.
//   - "ConditionalCheckFailed": Duplicate, as for Save. Either another call
//     saved a message with this scope and sequence, or an earlier transaction
//     with this same SaveItem took effect as a whole, and its reply was lost.
//     The row has no nonce to distinguish the two cases.
//   - Any other code, such as a conflict: an error with that code. The same
//     SaveItem may be sent again.
func (i *SaveItem) Outcome(reason types.CancellationReason) (event.Outcome, error) {
	_, refused, err := ddb.Action(reason)
	if refused {
		return event.Duplicate, nil
	}
	return 0, i.store.wrap("SaveItem", err)
}
