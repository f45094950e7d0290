package counter

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Refund gives back what an event has taken or added.
type Refund struct {
	Key string
	// Event is the event of the Take or the Add, with the same time and the
	// same Nth. Keep the text of that event until the refund, for example in
	// the row of a purchase, and read it by [event.Parse]: an event made with
	// the time of the refund would be another event. To be able to give back a
	// part, take each part as an event of its own: ev.Nth(1), ev.Nth(2).
	Event event.Event
	// Weight must be the weight that the event holds: the weight that it took,
	// or the weight that it was settled to. It has no default.
	Weight int64
	// Tombstone is for a refund that may come before its Take. If the refund
	// comes first, it leaves a tombstone in the row, so that the Take takes
	// nothing when it comes.
	Tombstone bool
}

const (
	refundUpdate = "SET #entry = :entry, #updatedAt = :now, #ttl = :ttl ADD #count :back"
	// Only the digits are compared: the nonce is that of the call that took it,
	// which may have been another call.
	refundCondition = "(begins_with(#entry, :held) OR begins_with(#entry, :settled)) AND #count >= :weight"

	tombstoneUpdate = "SET #entry = :entry, #updatedAt = :now, #ttl = :ttl ADD #count :zero, #recorded :one"
)

// zero is what a tombstone adds to the count of an event that took nothing.
var zero = item.N(0)

// errErased is the error of a refund that found its event, and on the second
// look did not.
var errErased = errors.New("the row was deleted meanwhile")

// Refund gives the event's weight back, once. A tombstone stays in the row, so
// that a late delivery of the event does not take the weight again.
//
// Without Tombstone, a refund that comes before its Take returns ErrNotFound
// and leaves no trace: the Take may still arrive and take room, even if its
// caller has given up. If the refund and its Take may arrive out of order, or
// the outcome of the Take is unknown, set Tombstone. Then the event holds
// nothing in the end, whichever of the two comes first.
//
//	_, err := limits.Refund(ctx, counter.Refund{Key: customer, Event: ev, Weight: 1, Tombstone: true})
//
// If a caller does not know whether a hold has been settled, it first tries to
// give back the weight that was taken. If the event holds another weight by now,
// Refund gives nothing back and returns a [*WeightError]. The caller calls again
// with [WeightError.Recorded]:
//
//	var differs *counter.WeightError
//	if errors.As(err, &differs) {
//		back.Weight = differs.Recorded
//		_, err = limits.Refund(ctx, back)
//	}
//
// The second call cannot meet another weight, because a hold is settled only
// once.
//
// A row expires [Config].Retention (by default 7 days) after the end of the
// event's window. From [Config].MaxSkew before that, Refund and Take return
// [event.ErrTooOld], because the row may have expired by another clock.
//
// Errors: [ErrNotFound] when the event is not recorded (never with Tombstone);
// [*WeightError] when the event holds another weight than Weight, or held
// another weight before its refund, or was refunded with another Weight by a
// tombstone; [ErrBelowZero] when the count is less than Weight; [ErrFull] when
// there is no room for a tombstone; [event.ErrTooOld], [event.ErrUnknownOutcome]
// and [*event.InputError] as for Take.
//
// Price: 1 request, 1 WCU. A row above 1 KB costs 1 WCU for each KB, as for
// Take.
// Price (Tombstone): 2 requests, 2 WCU. That is the price of a refund that
// comes before its Take. If the Take arrives between the two requests, the
// refund costs 3 requests and 3 WCU. Any other refund costs 1 request and 1
// WCU.
func (s *Store) Refund(ctx context.Context, r Refund) (Total, error) {
	w, in, err := s.refunding("Refund", r)
	if err != nil {
		return Total{}, err
	}

	total, err := s.giveBack(ctx, w, in)
	if !r.Tombstone || !errors.Is(err, ErrNotFound) {
		return total, err
	}

	total, overtaken, err := s.entomb(ctx, w)
	if !overtaken || err != nil {
		return total, err
	}

	total, err = s.giveBack(ctx, w, in)
	if errors.Is(err, ErrNotFound) {
		return Total{}, s.wrap(w.op, errErased)
	}

	return total, err
}

// refunding returns the write of a Refund, and its request.
func (s *Store) refunding(op string, r Refund) (keyed, *dynamodb.UpdateItemInput, error) {
	w, err := s.keyed(op, r.Key, r.Event, r.Weight)
	if err != nil {
		return keyed{}, nil, err
	}
	w.entry.state = refunded
	in := s.record(w, refundUpdate, refundCondition)
	in.ExpressionAttributeValues[":held"] = item.S(entryStart(held, w.entry.weight))
	in.ExpressionAttributeValues[":settled"] = item.S(entryStart(settled, w.entry.weight))
	in.ExpressionAttributeValues[":weight"] = item.N(w.entry.weight)
	in.ExpressionAttributeValues[":back"] = item.N(-w.entry.weight)
	return w, in, nil
}

// giveBack gives back what the event holds.
func (s *Store) giveBack(ctx context.Context, w keyed, in *dynamodb.UpdateItemInput) (Total, error) {
	used, refusing, err := s.send(ctx, w.op, in)
	switch {
	case err != nil:
		return Total{}, err
	case refusing != nil:
		return s.refusedRefund(w, refusing)
	}
	return w.refund(event.Created, used), nil
}

// refusedRefund reads from the row why it refused.
func (s *Store) refusedRefund(w keyed, row ddb.Item) (Total, error) {
	stands, err := s.judge(w, row)
	switch {
	case err != nil:
		return Total{}, err
	case !stands.recorded:
		return Total{}, ErrNotFound
	case stands.refunded():
		return w.known(stands), nil
	case stands.used < w.entry.weight:
		return Total{}, ErrBelowZero
	}
	return Total{}, s.wrap(w.op, errNoReason)
}

// entomb records the event as refunded before it was taken. overtaken reports
// whether it has been taken meanwhile.
func (s *Store) entomb(ctx context.Context, w keyed) (total Total, overtaken bool, err error) {
	in := s.record(w, tombstoneUpdate, newEntry)
	s.bound(in)
	in.ExpressionAttributeValues[":zero"] = zero
	used, refusing, err := s.send(ctx, w.op, in)
	if err != nil {
		return Total{}, false, err
	}
	if refusing == nil {
		return w.refund(event.Created, used), false, nil
	}

	stands, err := s.judge(w, refusing)
	switch {
	case err != nil:
		return Total{}, false, err
	case stands.refunded():
		return w.known(stands), false, nil
	case stands.recorded:
		return Total{}, true, nil
	case stands.counts.recorded >= int64(s.cfg.MaxRecorded):
		return Total{}, false, ErrFull
	}

	return Total{}, false, s.wrap(w.op, errNoReason)
}

func (p place) refund(outcome event.Outcome, used int64) Total {
	total := p.total(outcome, used)
	total.Refunded = true
	return total
}
