package counter

import (
	"context"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Add counts an event, without a cap.
type Add struct {
	Key   string
	Event event.Event // its local day is the one that counts
	// Weight is how much the event counts, at most 1,000,000,000,000. Defaults
	// to 1, and so 0 is 1: leave out the call of what counts nothing.
	Weight int64
}

// Total answers [Store.Add], [Store.Refund] and [Store.AddUnkeyed].
type Total struct {
	// Outcome is Created when this call changed the count, and Duplicate when
	// an earlier call of the same event had.
	Outcome event.Outcome
	// Refunded says that the event has been given back, perhaps before it came.
	// Adding it again changes nothing.
	Refunded bool

	// Used is the day's count, now; [Unknown] in what [RefundItem.Committed]
	// returns.
	Used     int64
	Day      tzclock.Date // the event's local day
	ResetsAt time.Time    // when that day is over
}

// Add counts the event once, however often it is delivered. It shares the
// count and the recorded events with Take: an event that has taken is a
// Duplicate here.
//
// To check first and count later, read with Get, act, and Add. Between the two
// others may do the same, so that the count ends above the limit: with a limit
// of 3, eight callers at once end anywhere from 3 to 8. Take has no such gap.
//
// Errors are those of Take.
//
// Price: 1 request, 1 WCU. A row above 1 KB costs 1 WCU for each, as for Take.
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
		total := w.total(stands.outcome(), stands.used)
		total.Refunded = stands.refunded()
		return total, nil
	case stands.counts.recorded >= int64(s.cfg.MaxRecorded):
		return Total{}, ErrFull
	}
	return Total{}, s.wrap(w.op, errNoReason)
}

func (p place) total(outcome event.Outcome, used int64) Total {
	return Total{Outcome: outcome, Used: used, Day: p.day, ResetsAt: p.end}
}
