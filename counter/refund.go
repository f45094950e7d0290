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
	// Event is the very one that took or added: its time and its Nth, too. Keep
	// its text with what it paid for, and read it by [event.Parse]; the refund's
	// own time makes another event. To give back a part, take the parts by
	// several of [event.Event.Nth].
	Event event.Event
	// Weight must be what the event holds: what it took, or what it was settled
	// to. Defaults to 1, and so 0 is 1.
	Weight int64
	// Tombstone makes a refund that comes before its Take leave the tombstone at
	// once, so that the Take takes nothing when it comes.
	Tombstone bool
}

const (
	refundUpdate = "SET #entry = :entry, #updatedAt = :now, #ttl = :ttl ADD #count :back"
	// Only the digits say what may be given back: the nonce is that of the
	// call that took it, which may have been another's.
	refundCondition = "(begins_with(#entry, :held) OR begins_with(#entry, :settled)) AND #count >= :weight"

	tombstoneUpdate = "SET #entry = :entry, #updatedAt = :now, #ttl = :ttl ADD #count :zero, #recorded :one"
)

// zero is what a tombstone adds to the count of an event that took nothing.
var zero = item.N(0)

// errErased is the answer to a refund that found its event, and then did not.
var errErased = errors.New("the row was deleted meanwhile")

// Refund gives the event's weight back, once. A tombstone stays in the row, so
// that a late delivery of the event takes nothing again.
//
// A refund that comes before its Take is ErrNotFound and leaves no trace: the
// Take may still land, also one whose caller has given up on it. Where the two
// may arrive out of order, or the Take's own outcome is unknown, ask for a
// Tombstone: then nothing is held in the end, whichever comes first.
//
//	_, err := limits.Refund(ctx, counter.Refund{Key: chat, Event: ev, Tombstone: true})
//
// A caller that does not know whether a hold has been settled gives back what was
// taken. Where it holds something else by now, nothing is given back, and
// [WeightError.Recorded] is what to call with again:
//
//	var differs *counter.WeightError
//	if errors.As(err, &differs) {
//		back.Weight = differs.Recorded
//		_, err = limits.Refund(ctx, back)
//	}
//
// It is settled once, so the second call does not meet another weight. A refund that
// comes more than 7 days after the day ([Config].Retention) is [event.ErrTooOld]: the
// day is over, and nothing is left to give back.
//
// Errors: [ErrNotFound] when the event is not recorded, never with Tombstone;
// [*WeightError] when it holds or held another weight, [ErrBelowZero] when the
// count is less than that; [ErrFull] when there is no room for a tombstone;
// [event.ErrTooOld], [event.ErrUnknownOutcome] and [*event.InputError] as for
// Take.
//
// Price: 1 request, 1 WCU. A row above 1 KB costs 1 WCU for each, as for Take.
// Price (Tombstone): 2 requests, 2 WCU. That is a refund that comes first; any
// other costs 1 and 1, and one that its Take overtakes 3 and 3.
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
	in.ExpressionAttributeValues[":held"] = item.S(start(held, w.entry.weight))
	in.ExpressionAttributeValues[":settled"] = item.S(start(settled, w.entry.weight))
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

// refusedRefund tells from the row why it refused.
func (s *Store) refusedRefund(w keyed, row ddb.Item) (Total, error) {
	stands, err := s.judge(w, row)
	switch {
	case err != nil:
		return Total{}, err
	case !stands.recorded:
		return Total{}, ErrNotFound
	case stands.refunded():
		return w.refund(stands.outcome(), stands.used), nil
	case stands.used < w.entry.weight:
		return Total{}, ErrBelowZero
	}
	return Total{}, s.wrap(w.op, errNoReason)
}

// entomb records the event as refunded before it was taken. It is overtaken when
// the event has been taken meanwhile.
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
		return w.refund(stands.outcome(), stands.used), false, nil
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
