package counter

import (
	"context"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Refund gives back what an event has taken or added.
type Refund struct {
	Key   string
	Event event.Event // the very one that took or added: its time and its Nth, too
	// Weight must be what the event took. Defaults to 1, and so 0 is 1.
	Weight int64
}

const (
	refundUpdate = "SET #entry = :entry, #updatedAt = :now, #ttl = :ttl ADD #count :back"
	// Only the digits say what may be given back: the nonce is that of the
	// call that took it, which may have been another's.
	refundCondition = "begins_with(#entry, :held) AND #count >= :weight"
)

// Refund gives the event's weight back, once. A tombstone stays in the row, so
// that a late delivery of the event takes nothing again.
//
// A refund that comes before its Take is ErrNotFound and leaves no trace: the
// Take may still land, also one whose caller has given up on it. Where the two
// may arrive out of order, add the event first; for that moment it counts.
//
//	_, err := limits.Add(ctx, counter.Add{Key: chat, Event: ev})      // Duplicate, if the Take came first
//	_, err = limits.Refund(ctx, counter.Refund{Key: chat, Event: ev}) // a later Take finds Refunded
//
// Errors: [ErrNotFound] when the event is not recorded, [*WeightError] when it
// is recorded with another weight, [ErrBelowZero] when the count is less than
// that; [event.ErrTooOld], [event.ErrUnknownOutcome] and [*event.InputError]
// as for Take.
//
// Price: 1 request, 1 WCU. A row above 1 KB costs 1 WCU for each, as for Take.
func (s *Store) Refund(ctx context.Context, r Refund) (Total, error) {
	w, err := s.keyed("Refund", r.Key, r.Event, r.Weight)
	if err != nil {
		return Total{}, err
	}
	w.entry.refunded = true
	in := s.record(w, refundUpdate, refundCondition)
	in.ExpressionAttributeValues[":held"] = item.S(w.entry.held())
	in.ExpressionAttributeValues[":weight"] = item.N(w.entry.weight)
	in.ExpressionAttributeValues[":back"] = item.N(-w.entry.weight)

	used, refusing, err := s.send(ctx, w.op, in)
	if err != nil {
		return Total{}, err
	}
	if refusing == nil {
		total := w.total(event.Created, used)
		total.Refunded = true
		return total, nil
	}
	stands, err := s.judge(w, refusing)
	switch {
	case err != nil:
		return Total{}, err
	case !stands.recorded:
		return Total{}, ErrNotFound
	case stands.refunded:
		total := w.total(stands.outcome(), stands.used)
		total.Refunded = true
		return total, nil
	case stands.used < w.entry.weight:
		return Total{}, ErrBelowZero
	}
	return Total{}, s.wrap(w.op, errNoReason)
}
