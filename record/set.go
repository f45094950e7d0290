package record

import (
	"cmp"
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Set is the argument of [Rows.Set]: an event, and the values that the event
// gives to a row.
type Set struct {
	// Method is the name of the method in error texts. Defaults to "Set".
	Method string

	Partition string // made by [Key]
	Sort      string
	Event     event.Event
	Values    Item // the record's own attributes; a nil value removes its attribute
}

// A later event wins. Events sort as their text does.
const (
	setLatest = "SET #type = :type, #event = :event, #updatedAt = :updatedAt"
	ifLater   = "attribute_not_exists(#event) OR #event < :event"
)

// Set writes the values into the row, unless a later event has set the row
// already. So the event that happened last wins, in whatever order the events
// arrive. Set needs no read, because the values do not depend on the row.
//
// If this event was the last to set the row, Set answers [event.Duplicate]: an
// earlier delivery of the event, or an attempt whose reply was lost, has set
// the row. If a later event has set the row, the error is [event.ErrTooOld],
// and nothing is left to do.
//
// Price: 1 request, 1 WCU. A duplicate, or an event that is too old, costs the
// same. A row above 1 KB costs 1 WCU for each KB.
func (r *Rows[T]) Set(ctx context.Context, s Set) (event.Outcome, error) {
	if r.kind.Count != "" {
		return 0, event.BadInput(r.kind.Package, "Kind.Count", "must be empty for Set, which does not count events")
	}
	if err := r.checkKey(s.Partition, s.Sort); err != nil {
		return 0, err
	}
	now := r.cfg.Now()
	if err := s.Event.Check(r.kind.Package, "Event", now); err != nil {
		return 0, err
	}
	method := cmp.Or(s.Method, "Set")
	if err := r.checkOwn(s.Values); err != nil {
		return 0, event.BadInput(r.kind.Package, "Values", err.Error())
	}
	names := map[string]string{"#type": attrType, "#event": attrEvent, "#updatedAt": attrUpdatedAt}
	values := Item{":type": item.S(r.kind.Type), ":event": item.S(s.Event.String()), ":updatedAt": item.Time(now)}
	in := &dynamodb.UpdateItemInput{
		Key:                       keyOf(s.Partition, s.Sort),
		UpdateExpression:          aws.String(withOwn(setLatest, s.Values, names, values)),
		ConditionExpression:       aws.String(ifLater),
		ExpressionAttributeNames:  names,
		ExpressionAttributeValues: values,
	}
	err := ddb.Retry(ctx, func() error { return r.send(ctx, in) })
	stands, refused := ddb.Refused(err)
	switch {
	case !refused:
		if err != nil {
			return 0, r.wrap(method, err)
		}
		return event.Created, nil
	case item.Text(stands, attrEvent) == s.Event.String():
		return event.Duplicate, nil
	}
	return 0, r.wrap(method, fmt.Errorf("a later event has set the row: %w", event.ErrTooOld))
}
