package activity

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// OfEvent returns what the event has recorded in the scope, whatever the N of
// ev, ordered by N: nothing if it has recorded nothing. It reads consistently;
// only while a RecordAll of the same event is being committed may a part of
// its set show.
//
// Price: 1 request, 1 RCU. 1 for each 4 KB begun of the rows.
func (s *Store) OfEvent(ctx context.Context, scope string, ev event.Event) ([]Activity, error) {
	if err := check.PartitionKey(pkg, "scope", scope); err != nil {
		return nil, err
	}
	if ev.IsZero() {
		return nil, event.BadInput(pkg, "ev", "must not be the zero Event")
	}
	return s.ofEvent(ctx, "OfEvent", scope, ev)
}

func (s *Store) ofEvent(ctx context.Context, method, scope string, ev event.Event) ([]Activity, error) {
	in := &dynamodb.QueryInput{
		TableName:                &s.table,
		ConsistentRead:           aws.Bool(true),
		KeyConditionExpression:   aws.String(between),
		ExpressionAttributeNames: map[string]string{"#partition": s.cfg.ScopeAttr, "#sort": attrID},
		ExpressionAttributeValues: ddb.Item{
			":partition": item.S(scope), ":from": item.S(ev.First().String()), ":to": item.S(ev.Last().String()),
		},
	}
	var all []Activity
	for { // at most 255 rows, but each may be of 400 KB
		out, err := s.api.Query(ctx, in)
		if err != nil {
			return nil, ddb.Wrap(pkg, method, s.table, err)
		}
		page, err := s.decodeAll(method, out.Items)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if len(out.LastEvaluatedKey) == 0 {
			return all, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// Delete removes one activity, the one whose Event is ev, and no other of the
// event. If there is none the error is [ErrNotFound]: also when it is repeated
// after a lost reply, the state being the same.
//
// Nothing stays behind, so the event is free to be recorded again: a late
// redelivery is Created, not Duplicate. Delete the row of Nth(1) last: it
// guards the others of its set. While others stand without it, a RecordAll that
// shares none with them is Created, and a [*ConflictError] when it is repeated:
// see [Store.RecordAll].
//
// Price: 1 request, 4 WCU. One for the row and one for each index, by KB begun
// of the row; 1 WCU if there is none.
func (s *Store) Delete(ctx context.Context, scope string, ev event.Event) error {
	if err := check.PartitionKey(pkg, "scope", scope); err != nil {
		return err
	}
	if ev.IsZero() {
		return event.BadInput(pkg, "ev", "must not be the zero Event")
	}
	var out *dynamodb.DeleteItemOutput
	err := ddb.Retry(ctx, func() (err error) {
		out, err = s.api.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName:    &s.table,
			Key:          ddb.Item{s.cfg.ScopeAttr: item.S(scope), attrID: item.S(ev.String())},
			ReturnValues: types.ReturnValueAllOld,
		})
		return err
	})
	if err != nil {
		return ddb.Wrap(pkg, "Delete", s.table, err)
	}
	if len(out.Attributes) == 0 {
		return ErrNotFound
	}
	return nil
}
