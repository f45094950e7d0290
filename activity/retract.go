package activity

import (
	"context"

	"github.com/homeops/ddbpatterns/event"
)

// Retract says which activity [Store.Retract] takes back.
type Retract struct {
	Scope string
	Event event.Event // the activity's own Event: the event's Nth(n) for the event's n-th activity

	// With Tombstone, the activity is taken back even if it does not exist yet,
	// so that a first delivery which comes after the retraction is not
	// recorded.
	Tombstone bool
}

const (
	// A row that has expired counts as deleted, whatever it holds.
	retractStanding = "attribute_exists(#id) AND attribute_not_exists(#retractedAt) AND NOT #ttl BETWEEN :one AND :now"
	retractAny      = "attribute_not_exists(#retractedAt) OR #ttl BETWEEN :one AND :now"
)

// Retract takes an activity back and leaves a tombstone, so that no redelivery
// brings it back: [Store.Record], [Store.RecordAll] and [Store.RecordMany]
// answer [ErrRetracted] from then on. The tombstone has the row's key, the time
// of the retraction and, with a Retention, a ttl, and nothing else of what was
// recorded.
//
// The outcome is Created, or Duplicate if the activity was retracted before,
// perhaps by an attempt of this call whose reply was lost. If the activity does not
// exist, the error is [ErrNotFound] and nothing is written, unless Retract.Tombstone
// asks for a tombstone.
//
// Retract finds an activity only by its Scope and Event. So keep the event's text,
// [event.Event.String], with whatever a retraction will name, such as the order.
//
// The other activities of the event stay. A retracted Nth(1) still guards them. To take
// back a whole event, retract each activity that [Store.OfEvent] returns. As soon as
// one is retracted, every RecordAll with it is refused.
//
// With a Retention, the tombstone expires when the row would have; by then a
// redelivery is too old, unless the Retention is made longer later.
//
// Price: 1 request, 4 WCU. Each KB begun of the row costs 1 WCU for the table
// and 1 WCU for each index. A tombstone where no row existed costs 1 WCU, and
// so does a call that finds a tombstone or no row.
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

	old, refused, err := s.put(ctx, "Retract", s.tombstone(r.Scope, r.Event, now), condition, names)
	switch {
	case err != nil:
		return 0, err
	case !refused:
		return event.Created, nil
	case retracted(old): // even if it has expired, as the own one may at once
		return event.Duplicate, nil
	}

	return 0, ErrNotFound
}
