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

// saveCondition takes a row that has expired for none, deleted or not. What
// was in it cannot come back: it is too old to be saved.
const saveCondition = "attribute_not_exists(#scope) OR #ttl BETWEEN :one AND :now"

// one is the least ttl that DynamoDB takes for one.
var one = item.N(1)

// Save stores the message, and answers Created, unless one of its scope and
// sequence stands: then it answers Duplicate and touches nothing. It does not
// compare the two. A Duplicate may be
//
//   - the same message, delivered again;
//   - the same message, stored by this very call, whose reply was lost so that
//     the SDK sent it again: of a message that was saved once every answer may
//     be Duplicate;
//   - another message under the number, such as an edit, which is not stored.
//
// [Store.Get] tells them apart. A message that has expired does not stand: it
// is replaced when its sequence is used anew.
//
// Errors: [*event.InputError]; with a Retention [event.ErrTooOld], for a
// message so old that its row may have expired.
//
// Price: 1 request, 1 WCU. A message above 1 KB costs 1 WCU for each, a
// duplicate as much as what is stored, one in place of an expired row as the
// larger of the two. The index by actor adds as much again.
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
		return nil, s.wrap(op, fmt.Errorf("said before the retention of %s: %w", s.cfg.Retention, event.ErrTooOld))
	}
	return &dynamodb.PutItemInput{
		TableName:                 aws.String(s.table),
		Item:                      row,
		ConditionExpression:       aws.String(saveCondition),
		ExpressionAttributeNames:  s.saveNames,
		ExpressionAttributeValues: ddb.Item{":one": one, ":now": item.N(now.Unix())},
	}, nil
}

// SaveItem is a Save as one action of a transaction of the caller's own. It is
// made once for each logical write, and sent again unchanged after an unknown
// outcome. It is good for [Config].MaxSkew.
type SaveItem struct {
	Item types.TransactWriteItem

	store *Store
}

// SaveItem returns the Save for a transaction. Nothing is sent; errors are those
// of Save that need no request.
//
// A transaction takes effect as a whole or not at all, so a message that was
// saved before cancels it: see [SaveItem.Outcome].
//
// Price: 0 requests, 2 WCU. In a transaction each action costs 2 WCU for each KB,
// also when it is cancelled; the index by actor adds 1 for each.
func (s *Store) SaveItem(m Message) (*SaveItem, error) {
	in, err := s.saving("SaveItem", m)
	if err != nil {
		return nil, err
	}
	return &SaveItem{store: s, Item: types.TransactWriteItem{Put: &types.Put{
		TableName:                           in.TableName,
		Item:                                in.Item,
		ConditionExpression:                 in.ConditionExpression,
		ExpressionAttributeNames:            maps.Clone(in.ExpressionAttributeNames), // the caller may add to the action
		ExpressionAttributeValues:           in.ExpressionAttributeValues,
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}}, nil
}

// Outcome reads how the item fared in a transaction that was cancelled: the
// reason is the one of the item's place in
// [types.TransactionCanceledException].CancellationReasons. Nothing of that
// transaction was written.
//
//   - "None": 0 and no error. The item was not at fault.
//   - "ConditionalCheckFailed": Duplicate, as of Save. An earlier try of the same
//     item, whose reply was lost, and with it all of that transaction, reads so
//     too: the state is the same, and no nonce tells the two apart.
//   - Any other code, such as a conflict: an error with that code. The same
//     SaveItem may be sent again.
func (i *SaveItem) Outcome(reason types.CancellationReason) (event.Outcome, error) {
	_, refused, err := ddb.Action(reason)
	if refused {
		return event.Duplicate, nil
	}
	return 0, i.store.wrap("SaveItem", err)
}
