package counter

import (
	"context"
	"time"

	"github.com/homeops/ddbpatterns/event"
)

// Add counts an event, without a cap.
type Add struct {
	Key   string
	Event event.Event // it counts in its window
	// Weight is how much the event counts, 1 to 1,000,000,000,000. It has no
	// default: 1 counts calls. For an event that adds nothing to the count, do
	// not call Add.
	Weight int64
}

// Total is the answer of [Store.Add], [Store.Refund] and [Store.AddUnkeyed], and a
// part of every [Grant].
type Total struct {
	// Outcome is Created if this call counted, took, settled or gave back, or left a
	// tombstone. It is Duplicate if an earlier call for the same event left nothing
	// to change, and zero if there is no room. After a lost reply, it is also
	// Duplicate if another call refunds or settles the event before the SDK sends the
	// request again.
	Outcome event.Outcome
	// Refunded reports whether the event was refunded: after it had counted, or
	// before it came ([Refund].Tombstone). A refunded event is not counted or
	// granted again.
	Refunded bool

	// Used is the window's count after the call, with this event if it counts; or
	// [Unknown].
	Used     int64
	StartsAt time.Time // the first instant of the event's window, in the store's zone
	ResetsAt time.Time // its end, which is the first instant of the next window
}

// Add counts the event once, however often it is delivered. Add and Take share
// the count and the recorded events: if a Take has recorded an event, an Add of
// the same event and weight answers Duplicate.
//
// Do not enforce a limit with a Get and a later Add. That is a race: other
// callers may do the same between the two calls, and the count may end above
// the limit. With a limit of 3 and eight callers at once, the count ends
// anywhere from 3 to 8. Take checks and counts in one write.
//
// Errors: those of [Store.Take].
//
// Price: 1 request, 1 WCU. A row above 1 KB costs 1 WCU for each KB, as for
// Take.
func (s *Store) Add(ctx context.Context, a Add) (Total, error) {
	w, err := s.keyed("Add", a.Key, a.Event, a.Weight)
	if err != nil {
		return Total{}, err
	}

	used, refusing, err := s.send(ctx, w.op, s.recordNew(w, newEntry))
	if err != nil {
		return Total{}, err
	}
	if refusing == nil {
		return w.total(event.Created, used), nil
	}

	stands, err := s.judge(w, refusing)
	switch {
	case err != nil:
		return Total{}, err
	case stands.recorded:
		return w.known(stands), nil
	case stands.counts.recorded >= int64(s.cfg.MaxRecorded):
		return Total{}, ErrFull
	}

	return Total{}, s.wrap(w.op, errNoReason)
}

func (p place) total(outcome event.Outcome, used int64) Total {
	return Total{Outcome: outcome, Used: used, StartsAt: p.start, ResetsAt: p.end}
}
