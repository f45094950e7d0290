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

// OfEvent returns all activities of the event in the scope, ordered by N,
// without retracted and expired activities. The N of ev does not matter. If the
// event has no activities, the slice is empty. The read is consistent, but
// while a transaction on the same event (RecordAll, RecordItems, DeleteEvent)
// is being committed, OfEvent may return only some of its activities.
//
// Price: 1 request, 1 RCU. Each 4 KB begun of the event's rows costs 1 RCU, and
// each MB takes 1 request.
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

// checkPlace is checkArguments for a struct whose event field has the given
// name.
func checkPlace(scope string, ev event.Event, called string) error {
	if err := check.PartitionKey(pkg, "Scope", scope); err != nil {
		return err
	}
	if ev.IsZero() {
		return event.BadInput(pkg, called, "must not be the zero Event")
	}
	return nil
}

// rowsOf reads all rows of the event, including tombstones and expired ones, in
// the order of their N.
func (s *Store) rowsOf(ctx context.Context, method, scope string, ev event.Event) ([]ddb.Item, error) {
	from, to := ev, ev
	from[event.Size-1], to[event.Size-1] = 0, 255 // whatever their N
	in := &dynamodb.QueryInput{
		TableName:                &s.table,
		ConsistentRead:           aws.Bool(true),
		KeyConditionExpression:   aws.String(between),
		ExpressionAttributeNames: map[string]string{"#partition": attrScope, "#sort": attrID},
		ExpressionAttributeValues: ddb.Item{
			":partition": item.S(scope), ":from": item.S(from.String()), ":to": item.S(to.String()),
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

// sameEvent reports whether both follow from the same event; their N may differ.
func sameEvent(a, b event.Event) bool {
	b[event.Size-1] = a[event.Size-1]
	return a == b
}
