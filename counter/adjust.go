package counter

import (
	"cmp"
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Adjust settles a hold, which is what an event took before its final weight
// was known.
type Adjust struct {
	Key   string
	Event event.Event // the event of the Take or the Add
	// From must be the weight that the event took. Like To, it has no default. If
	// the event took nothing, there is no hold to settle: Take the final weight.
	From int64
	// To is the weight that the event holds from now on, 1 to
	// 1,000,000,000,000. Call Refund if the event is to hold nothing.
	To int64
	// Cap is how much may be used in a window. It must not be negative. It limits an
	// Adjust only if To is more than From: the cap never refuses an Adjust that
	// frees room. The Grant's Cap and Remaining refer to this Cap: if it is 0,
	// Remaining is 0 or [Unknown].
	Cap int64
}

const (
	adjustUpdate    = "SET #entry = :entry, #updatedAt = :now, #ttl = :ttl ADD #count :more"
	adjustCondition = "begins_with(#entry, :held)"
	riseCondition   = adjustCondition + " AND #count <= :room"
	fallCondition   = adjustCondition + " AND #count >= :back"
)

// Adjust changes the weight that an event holds, once and for good: if an event
// took 10 and its final weight is 7, Adjust gives 3 back. The same call again
// answers Duplicate. A later call with another To returns a [*WeightError], so
// that a late delivery cannot change the weight back. If the event was
// refunded, OK is false and Refunded is true, whatever From and To are. A later
// Take or Add of the settled event may have any weight: it is a Duplicate. A
// Refund gives back the weight that the event was settled to.
//
// If To is more than From, the difference must fit under the cap. If it does not
// fit, OK is false and the hold is unchanged, neither settled nor given back:
// call Adjust with a To equal to From, or make the same call again later. As with
// Take, a refused hold may still be settled in one case: the network delays the
// SDK's first attempt, the second attempt is refused, and the first attempt
// arrives when room is free again.
//
// If a reply is lost, the SDK sends the write again, and the answer is still
// Created, with one exception: if the event was refunded meanwhile, OK is false
// and Refunded is true.
//
// Errors: [ErrNotFound] when the event is not recorded; [*WeightError] when the
// event holds another weight than From, or was settled to another weight than
// To and not refunded; [ErrBelowZero] when the count is less than the weight to
// give back; [event.ErrTooOld], [event.ErrUnknownOutcome] and
// [*event.InputError] as for Take.
//
// Price: 1 request, 1 WCU. A row above 1 KB costs 1 WCU for each KB, as for
// Take.
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
	return w.grant(true, w.total(event.Created, used), a.Cap), nil
}

// settling returns the write of an Adjust, and its request.
func (s *Store) settling(op string, a Adjust) (keyed, *dynamodb.UpdateItemInput, error) {
	err := cmp.Or(checkWeight("From", a.From),
		check.Refuse(pkg, "To", a.To < 1 || a.To > mostWeight, fmt.Sprintf("must be 1 to 1,000,000,000,000, is %d; to give everything back, call Refund", a.To)),
		check.Refuse(pkg, "Cap", a.Cap < 0, fmt.Sprintf("must not be negative, is %d", a.Cap)))
	if err != nil {
		return keyed{}, nil, err
	}

	w, err := s.keyed(op, a.Key, a.Event, a.To)
	if err != nil {
		return keyed{}, nil, err
	}

	w.entry.state, w.from = settled, a.From
	more := a.To - a.From
	in := s.record(w, adjustUpdate, adjustCondition)
	values := in.ExpressionAttributeValues
	values[":held"], values[":more"] = item.S(entryStart(held, w.from)), item.N(more)
	switch {
	case more > a.Cap: // more is more than 0
		*in.ConditionExpression = noRoomCondition
		delete(values, ":held")
	case more > 0:
		*in.ConditionExpression, values[":room"] = riseCondition, item.N(a.Cap-more)
	case more < 0:
		*in.ConditionExpression, values[":back"] = fallCondition, item.N(-more)
	}

	return w, in, nil
}

// refusedAdjust reads from the row why it refused: the event is not in it, was
// settled or refunded, or there is no room.
func (s *Store) refusedAdjust(w keyed, most int64, row ddb.Item) (Grant, error) {
	more := w.entry.weight - w.from
	room := most - more
	stands, err := s.judge(w, row)
	switch {
	case err != nil:
		return Grant{}, err
	case !stands.recorded:
		return Grant{}, ErrNotFound
	case stands.state != held:
		return w.grant(!stands.refunded(), w.known(stands), most), nil
	case more > 0 && (room < 0 || stands.used > room):
		return w.grant(false, w.total(0, stands.used), most), nil
	case more < 0 && stands.used < -more:
		return Grant{}, ErrBelowZero
	}

	return Grant{}, s.wrap(w.op, errNoReason)
}
