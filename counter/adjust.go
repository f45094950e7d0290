package counter

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Adjust settles a hold: what an event took before it was known how much it
// needs.
type Adjust struct {
	Key   string
	Event event.Event // the very one that took or added
	// From must be what the event took. Defaults to 1, and so 0 is 1, as it is
	// for Take.
	From int64
	// To is what it holds from now on, 1 to 1,000,000,000,000; it has no default.
	// What is to hold nothing is given back by Refund.
	To int64
	// Cap is how much may be used a day. It is asked only when To is more than
	// From: what frees room is never refused. It must not be negative. The Grant's
	// Cap and Remaining are of this one: without it they are 0, and Used is right.
	Cap int64
}

const (
	adjustUpdate    = "SET #entry = :entry, #updatedAt = :now, #ttl = :ttl ADD #count :more"
	adjustCondition = "begins_with(#entry, :held)"
	riseCondition   = adjustCondition + " AND #count <= :room"
	fallCondition   = adjustCondition + " AND #count >= :back"
)

// Adjust changes what an event holds, once and for good: a hold of 10 that comes
// to 7 gives 3 back. The same call again is a Duplicate, and one to another
// weight a [*WeightError]: a late delivery can change nothing back. A settled
// event is OK for Take and Add, whatever they weigh it, and a Refund gives back
// what it was settled to.
//
// When To is more than From, the difference must find room under the cap. If
// there is none, OK is false and the hold stands as it was, neither settled nor
// given back: settle it to From, or ask again. As with Take, a first attempt that
// the network held back, while the SDK's second was refused, may still settle it
// when there is room again.
//
// A reply that was lost on the way and is tried again by the SDK still reads
// Created, unless the event was refunded meanwhile: then OK is false and Refunded
// is true.
//
// Errors: [ErrNotFound] when the event is not recorded, and no trace is left of
// it; [*WeightError] when it holds another weight than From, or was settled to
// another than To; [ErrBelowZero] when the count is less than what is given back;
// [event.ErrTooOld], [event.ErrUnknownOutcome] and [*event.InputError] as for
// Take.
//
// Price: 1 request, 1 WCU. A row above 1 KB costs 1 WCU for each, as for Take.
func (s *Store) Adjust(ctx context.Context, a Adjust) (Grant, error) {
	w, in, err := s.settling("Adjust", a)
	if err != nil {
		return Grant{}, err
	}
	used, refusing, err := s.send(ctx, w.op, in)
	switch {
	case err != nil:
		return Grant{}, err
	case refusing != nil:
		return s.refusedAdjust(w, a.Cap, refusing)
	}
	return w.grant(Grant{OK: true, Outcome: event.Created, Used: used}, a.Cap), nil
}

// settling returns the write of an Adjust, and its request.
func (s *Store) settling(op string, a Adjust) (keyed, *dynamodb.UpdateItemInput, error) {
	from, err := weightOf("From", a.From)
	switch {
	case err != nil:
		return keyed{}, nil, err
	case a.To < 1 || a.To > mostWeight:
		return keyed{}, nil, event.BadInput(pkg, "To", "must be 1 to 1,000,000,000,000; what is to hold nothing is given back by Refund")
	case a.Cap < 0:
		return keyed{}, nil, event.BadInput(pkg, "Cap", "must not be negative")
	}
	w, err := s.keyed(op, a.Key, a.Event, a.To)
	if err != nil {
		return keyed{}, nil, err
	}
	w.entry.state, w.from = settled, from
	more := a.To - from
	in := s.record(w, adjustUpdate, adjustCondition)
	values := in.ExpressionAttributeValues
	values[":held"], values[":more"] = item.S(start(held, w.from)), item.N(more)
	switch {
	case more > 0:
		*in.ConditionExpression, values[":room"] = riseCondition, item.N(a.Cap-more)
	case more < 0:
		*in.ConditionExpression, values[":back"] = fallCondition, item.N(-more)
	}
	return w, in, nil
}

// refusedAdjust tells from the row why it refused: the event is not in it, was
// settled or refunded, or there is no room.
func (s *Store) refusedAdjust(w keyed, most int64, row ddb.Item) (Grant, error) {
	more := w.entry.weight - w.from
	stands, err := s.judge(w, row)
	switch {
	case err != nil:
		return Grant{}, err
	case !stands.recorded:
		return Grant{}, ErrNotFound
	case stands.state != held:
		return w.grant(stands.grant(), most), nil
	case more > 0 && stands.used > most-more:
		return w.grant(Grant{Used: stands.used}, most), nil
	case more < 0 && stands.used < -more:
		return Grant{}, ErrBelowZero
	}
	return Grant{}, s.wrap(w.op, errNoReason)
}
