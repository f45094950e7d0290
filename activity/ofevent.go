package activity

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// OfEvent returns what the event has recorded in the scope, whatever the N of
// ev, ordered by N: nothing if it has recorded nothing. What was retracted is
// left out. It reads consistently; only while a RecordAll of the same event is
// being committed may a part of its set show.
//
// Price: 1 request, 1 RCU. 1 for each 4 KB begun of the rows.
func (s *Store) OfEvent(ctx context.Context, scope string, ev event.Event) ([]Activity, error) {
	if err := checkArguments(scope, ev); err != nil {
		return nil, err
	}
	rows, err := s.rowsOf(ctx, "OfEvent", scope, ev)
	if err != nil {
		return nil, err
	}
	return s.standing("OfEvent", rows)
}

// checkArguments refuses what cannot be the scope and the event of a row.
func checkArguments(scope string, ev event.Event) error {
	return check.Positional(checkPlace(scope, ev, "ev"))
}

// checkPlace is checkArguments of a struct, in which the event is called so.
func checkPlace(scope string, ev event.Event, called string) error {
	if err := check.PartitionKey(pkg, "Scope", scope); err != nil {
		return err
	}
	if ev.IsZero() {
		return event.BadInput(pkg, called, "must not be the zero Event")
	}
	return nil
}

// rowsOf reads all rows of the event, tombstones and expired ones too, in the
// order of their N.
func (s *Store) rowsOf(ctx context.Context, method, scope string, ev event.Event) ([]ddb.Item, error) {
	in := &dynamodb.QueryInput{
		TableName:                &s.table,
		ConsistentRead:           aws.Bool(true),
		KeyConditionExpression:   aws.String(between),
		ExpressionAttributeNames: map[string]string{"#partition": s.cfg.ScopeAttr, "#sort": attrID},
		ExpressionAttributeValues: ddb.Item{
			":partition": item.S(scope), ":from": item.S(ev.First().String()), ":to": item.S(ev.Last().String()),
		},
	}
	var all []ddb.Item
	for { // at most 255 rows, but each may be of 400 KB
		out, err := s.api.Query(ctx, in)
		if err != nil {
			return nil, s.wrap(method, err)
		}
		all = append(all, out.Items...)
		if len(out.LastEvaluatedKey) == 0 {
			return all, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}
