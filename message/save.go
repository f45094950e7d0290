package message

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// saveCondition takes a row that has expired for none, deleted or not. What
// was in it cannot come back: it is too old to be saved.
const saveCondition = "attribute_not_exists(#scope) OR #ttl BETWEEN :one AND :now"

// one is the least ttl that DynamoDB takes for one.
var one = item.N(1)

// Save stores the message unless one of its scope and sequence stands, and
// answers whether this delivery is the first. The one that stands is never
// touched: an edit is a Duplicate. A reply that was lost on the way and is
// tried again by the SDK reads Duplicate too, the row being the same. One that
// has expired does not stand: it is replaced when its sequence is used anew.
//
// Errors: [*event.InputError]; with a Retention [event.ErrTooOld], for a
// message so old that its row may have expired.
//
// Price: 1 request, 1 WCU. A message above 1 KB costs 1 WCU for each, a
// duplicate as much as what is stored, one in place of an expired row as the
// larger of the two. The index by actor adds as much again.
func (s *Store) Save(ctx context.Context, m Message) (event.Outcome, error) {
	now := s.cfg.Now()
	if err := s.check(m, now); err != nil {
		return 0, err
	}
	if s.tooOld(m.At, now) {
		return 0, fmt.Errorf("message: said before the retention of %s: %w", s.cfg.Retention, event.ErrTooOld)
	}
	row := s.encode(m, now)
	if err := item.CheckSize(pkg, "Raw", row); err != nil {
		return 0, err
	}
	in := &dynamodb.PutItemInput{
		TableName:                 aws.String(s.table),
		Item:                      row,
		ConditionExpression:       aws.String(saveCondition),
		ExpressionAttributeNames:  s.saveNames,
		ExpressionAttributeValues: ddb.Item{":one": one, ":now": item.N(now.Unix())},
	}
	err := ddb.Retry(ctx, func() error {
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

func (s *Store) wrap(op string, err error) error { return ddb.Wrap(pkg, op, s.table, err) }
