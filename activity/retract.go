package activity

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Retract takes one activity back.
type Retract struct {
	Scope string
	Event event.Event // the activity's own: Nth(n) for the n-th of an event

	// Tombstone takes back what is not there, too: an activity whose delivery
	// comes later than its retraction is then never recorded.
	Tombstone bool
}

const (
	// A row that has expired does not stand, whatever it is.
	retractStanding = "attribute_exists(#id) AND attribute_not_exists(#retractedAt) AND NOT #ttl BETWEEN :one AND :now"
	retractAny      = "attribute_not_exists(#retractedAt) OR #ttl BETWEEN :one AND :now"
)

// Retract takes an activity back and leaves a tombstone, so that no redelivery
// brings it back: [Store.Record], [Store.RecordAll] and [Store.RecordMany]
// answer [ErrRetracted] from then on. The tombstone has the row's key and the
// time of the retraction, nothing of what was recorded. Walks and counts pass
// over it; [Store.InScope] alone meets it, and pays for it.
//
// It is Created, or Duplicate if the activity was retracted before: also by this
// very call, whose reply was lost. If nothing stands there it is [ErrNotFound],
// and nothing is written, unless Retract.Tombstone asks for it.
//
// It takes back no other activity of the event. A RecordAll with it among its
// own is [ErrRetracted] as a whole and the others stay. The row of Nth(1) guards
// them as a tombstone, too. All of an event is taken back one by one, as
// [Store.OfEvent] finds them: while that is under way every redelivery of the
// whole is refused.
//
// With a Retention the tombstone expires when the activity would have, from
// when on a redelivery is too old. [Store.Delete] removes it.
//
// Price: 1 request, 4 WCU. One for the row and one for each index, by KB begun
// of the row. 1 WCU where it writes a tombstone on nothing or is refused.
func (s *Store) Retract(ctx context.Context, r Retract) (event.Outcome, error) {
	if err := checkPlace(r.Scope, r.Event, "Event"); err != nil {
		return 0, err
	}
	now := s.cfg.Now()
	condition, names := retractStanding, map[string]string{"#id": attrID, "#retractedAt": attrRetractedAt, "#ttl": attrTTL}
	if r.Tombstone {
		if err := r.Event.Check(pkg, "Event", now); err != nil {
			return 0, err
		}
		condition = retractAny
		delete(names, "#id")
	}
	err := ddb.Retry(ctx, func() error {
		_, err := s.api.PutItem(ctx, &dynamodb.PutItemInput{
			TableName:                           &s.table,
			Item:                                s.tombstone(r.Scope, r.Event, now),
			ConditionExpression:                 aws.String(condition),
			ExpressionAttributeNames:            names,
			ExpressionAttributeValues:           ddb.Item{":one": one, ":now": item.N(now.Unix())},
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	})
	old, refused := ddb.Refused(err)
	switch {
	case err == nil:
		return event.Created, nil
	case !refused:
		return 0, s.wrap("Retract", err)
	case retracted(old): // also one that has expired, as this call's own may have at once
		return event.Duplicate, nil
	}
	return 0, ErrNotFound
}
