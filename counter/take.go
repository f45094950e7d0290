package counter

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Take asks for room under the cap of a window, such as a day.
type Take struct {
	Key   string      // what the limit is for: a customer, a tenant
	Event event.Event // the event that asks; it counts in its window
	// Cap is how much may be used in a window. A Cap of 0 grants nothing new. The Cap
	// must not be negative. Events of weight 1 alone cannot reach a Cap above
	// [Config].MaxRecorded, because the row is full before that ([ErrFull]).
	Cap int64
	// Weight is how much the event takes, 1 to 1,000,000,000,000. It has no
	// default: 1 counts calls. For an event that takes nothing, such as a hold
	// of 0, do not call Take; if an amount follows, Take that amount then. An
	// event with a Weight above the cap is not granted, unless it was granted
	// earlier.
	Weight int64
}

// Unknown is the Used and the Remaining of what a transaction wrote ([TakeAll],
// [Store.TakeItem]), because it returns no count. [Store.Get] reads the count.
const Unknown = -1

// Grant is the answer to a [Take] and to an [Adjust].
type Grant struct {
	// OK reports whether the event holds what it asked for, or what it was
	// settled to, by this call or by an earlier call. For an effect that must
	// happen at most once, use [Grant.First]. OK is also false where nothing was
	// decided, as after an error: to see a refusal, use [Grant.Refused].
	OK bool
	Total

	Cap       int64
	Remaining int64 // what is left of the cap, 0 to Cap; [Unknown] if Used is
}

// First reports whether this very call took or settled what the event asked for:
// OK and Created. Without an Erase, First is true for at most one Take and one Adjust
// of an event, for each key and window. Use First for an effect that may be lost and
// must not come twice: if the caller dies before the effect, the effect stays undone.
func (g Grant) First() bool { return g.OK && g.Outcome == event.Created }

// Refused reports whether the answer is no: it was decided, and OK is false. The
// reason is the cap, or that the event was refunded: if you answer these differently,
// look at Refunded first. The zero Grant, of an error and of an action that was not at
// fault, is not a refusal.
//
// So the Outcome of an action ([Store.TakeItem]) is one of four: an error; Refused;
// OK (the event is counted already: leave the action out); or the zero Grant (send
// the action again).
func (g Grant) Refused() bool { return !g.OK && !g.ResetsAt.IsZero() }

const (
	takeUpdate    = "SET #entry = :entry, #updatedAt = :now, #ttl = :ttl ADD #count :weight, #recorded :one"
	takeCondition = newEntry + " AND (attribute_not_exists(#count) OR #count <= :room)"
)

var errNoReason = errors.New("condition failed for no known reason")

// Take takes room for the event if enough is left, and returns how much is
// used. A refusal is an answer, not an error: OK is false. A refusal by the cap
// leaves no trace, so Take decides anew when the event comes again. In one
// case, a refused event still takes room: the network delays the SDK's first
// attempt, the second attempt is refused, and the first attempt arrives when
// room is free again. The first attempt takes that room, never above the cap,
// although the caller got a refusal. When the event comes again, it gets OK.
//
// Take never goes above the cap, for any number of callers at once, and each event
// takes once, however often it is delivered: a redelivery of an event that was
// granted and not refunded gets OK and Duplicate. If a reply is lost, the SDK
// sends the write again, and the answer is still Created, with two exceptions. If
// the event was refunded meanwhile, OK is false and Refunded is true. If the event
// was settled meanwhile, the answer is OK and Duplicate.
//
// A cap of 0 or a weight above the cap also gets a refusal, whatever the count is. But
// an event that was granted earlier, under a higher cap, and not refunded still gets OK
// and Duplicate.
//
// Errors: an [*event.InputError], also for a negative cap; [event.ErrTooOld] for an
// event whose row may have expired; [ErrFull]; [*WeightError] for an event that
// holds another weight (the weight of a settled or refunded event is not compared).
// Take also returns [event.ErrUnknownOutcome] in one case in which the write is
// known to have taken effect: the resulting count is not a whole number, so Take
// cannot return it. Only another system can cause this. The error's text says that
// the write took effect.
//
// Price: 1 request, 1 WCU. A row above 1 KB costs 1 WCU for each KB: about 22
// recorded events fit in the first KB and 25 in each further KB, fewer if the
// key is long or the weights have many digits. A refusal costs the same.
func (s *Store) Take(ctx context.Context, t Take) (Grant, error) {
	w, in, err := s.taking("Take", t)
	if err != nil {
		return Grant{}, err
	}
	used, refusing, err := s.send(ctx, w.op, in)
	switch {
	case err != nil:
		return Grant{}, err
	case refusing != nil:
		return s.refusedTake(w, t.Cap, refusing)
	}
	return w.grant(true, w.total(event.Created, used), t.Cap), nil
}

// taking returns the write of a Take, and its request.
func (s *Store) taking(op string, t Take) (keyed, *dynamodb.UpdateItemInput, error) {
	w, err := s.keyed(op, t.Key, t.Event, t.Weight)
	if err = cmp.Or(err, check.Refuse(pkg, "Cap", t.Cap < 0, fmt.Sprintf("must not be negative, is %d", t.Cap))); err != nil {
		return keyed{}, nil, err
	}

	in := s.recordNew(w, takeCondition)
	if room := t.Cap - w.entry.weight; room < 0 { // what may be used before
		*in.ConditionExpression = noRoomCondition
		delete(in.ExpressionAttributeValues, ":most")
	} else {
		in.ExpressionAttributeValues[":room"] = item.N(room)
	}

	return w, in, nil
}

// grant adds the cap to the answer.
func (p place) grant(ok bool, t Total, most int64) Grant {
	return Grant{OK: ok, Total: t, Cap: most, Remaining: max(0, most-max(0, t.Used))} // another system may have left less than 0
}

// refusedTake reads from the row why it refused: the event is in it, the cap is
// reached, or the row is full.
func (s *Store) refusedTake(w keyed, most int64, row ddb.Item) (Grant, error) {
	stands, err := s.judge(w, row)
	room := most - w.entry.weight
	switch {
	case err != nil:
		return Grant{}, err
	case stands.recorded:
		return w.grant(!stands.refunded(), w.known(stands), most), nil
	case room < 0 || stands.used > room:
		return w.grant(false, w.total(0, stands.used), most), nil
	case stands.counts.recorded >= int64(s.cfg.MaxRecorded):
		return Grant{}, ErrFull
	}

	return Grant{}, s.wrap(w.op, errNoReason)
}
