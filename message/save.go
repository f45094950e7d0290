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
	now := s.cfg.Now()
	if err := s.check(m, now); err != nil {
		return 0, err
	}
	if s.tooOld(m.At, now) {
		return 0, s.wrap("Save", fmt.Errorf("said before the retention of %s: %w", s.cfg.Retention, event.ErrTooOld))
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
