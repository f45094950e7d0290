package message

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/record"
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

	_, _, refused, err := ddb.Write(ctx, s.api.PutItem, in)
	switch {
	case err != nil:
		return 0, s.wrap("Save", err)
	case refused:
		return event.Duplicate, nil
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
	if s.retention.TooOld(m.At, now) {
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

// SaveItem returns the Save as an action of a transaction. It sends nothing. It
// returns the errors that Save returns before its request.
//
// If a message with the same scope and sequence exists and has not expired, the
// transaction is cancelled, and the action's Outcome is Duplicate. The answer is the
// same if an earlier transaction with this same action saved the message: the row has
// no nonce to distinguish the two cases. With a Retention, send the action only within
// [Config].MaxSkew after it was made.
//
// Price: 0 requests, 2 WCU. In a transaction, each action costs 2 WCU for each
// KB, even if it is cancelled. If the message is stored, the index by actor
// adds 1 WCU for each KB of a message with an actor, and of a replaced row with
// an actor.
func (s *Store) SaveItem(m Message) (*record.Action[event.Outcome], error) {
	in, err := s.saving("SaveItem", m)
	if err != nil {
		return nil, err
	}
	duplicate := func(record.Item) (event.Outcome, error) { return event.Duplicate, nil }
	return record.NewAction(s.names.Action(ddb.PutAction(in)), event.Created, duplicate, func(err error) error { return s.wrap("SaveItem", err) }), nil
}
