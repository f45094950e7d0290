package pattern

import (
	"context"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/rmw"
)

// observe sets all that counting an event changes.
const observe = rmw.Set + ", #days = :days, #hours = :hours, #lastSeen = :lastSeen"

var observeNames = map[string]string{"#days": attrDays, "#hours": attrHours, "#lastSeen": attrLastSeen}

// Observe is one event of a habit: the actor did, in the scope, what the
// name says.
type Observe struct {
	Scope string
	Actor string
	Name  string
	Event event.Event // what follows from one message counts apart by its Nth
}

// Observe counts the event into the habit once: on the weekday and into the
// hour it has in the store's zone. An event counted before, by a call whose
// reply was lost or on an earlier delivery, is [event.Duplicate]. One that is
// less than the 32 greatest of the habit is [event.ErrTooOld]: the row cannot
// tell whether it was counted. [ErrContended] leaves open whether it was.
//
// While other writers win, Observe tries again up to 15 times, with pauses that
// grow to 1.3 seconds: some 5 seconds in all, 10 at most, unless the context ends.
//
// Price: 2 requests, 1 RCU, 1 WCU. A duplicate and an event too old cost 1
// request and 1 RCU; a race lost to another writer adds 1 request and 1 WCU,
// at most 15 times. Rows above 1 KB: 1 WCU for each KB, and 1 RCU for each 4
// KB.
func (s *Store) Observe(ctx context.Context, o Observe) (event.Outcome, error) {
	if err := checkRow(o.Scope, o.Actor, o.Name); err != nil {
		return 0, err
	}
	at := o.Event.Time()
	day, hour := s.zone.Weekday(at), s.zone.Hour(at)
	return s.rows.Observe(ctx, partition(o.Scope, o.Actor), o.Name, o.Event, func(row ddb.Item) (ddb.Item, error) {
		return count(row, day, hour, at)
	})
}
