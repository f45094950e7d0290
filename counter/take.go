package counter

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Take asks for room under a daily cap.
type Take struct {
	Key   string      // what the limit is for: the chat, the tenant
	Event event.Event // what asks; its local day is the one that counts
	// Cap is how much may be used a day. With 0 nothing is granted any more; it
	// must not be negative. One above [Config].MaxRecorded is out of reach of
	// events of weight 1: the row is full before ([ErrFull]).
	Cap int64
	// Weight is how much the event takes, at most 1,000,000,000,000. Defaults to
	// 1, and so 0 is 1: what takes nothing need not ask. One above the cap is
	// never granted.
	Weight int64
}

// Unknown is what Used and Remaining are after a transaction of the caller's
// own: it returns nothing. [Store.Get] knows the count.
const Unknown = -1

// Grant answers a [Take] and an [Adjust].
type Grant struct {
	// OK says that the event holds what it asked for, from this call or an
	// earlier one. What must happen at most once needs [Grant.First].
	OK bool
	// Outcome is Created when this call took or settled it, Duplicate when an
	// earlier call of the same event had, and neither when there was none.
	Outcome event.Outcome
	// Refunded says that the event was given back, perhaps before it was taken.
	// It is not granted again.
	Refunded bool

	// Used is how much of the cap is used now, this event included when OK. In
	// what [TakeItem.Committed] and [AdjustItem.Committed] return, it and Remaining are [Unknown].
	Used      int64
	Cap       int64
	Remaining int64        // of the cap, never below zero
	Day       tzclock.Date // the event's local day
	ResetsAt  time.Time    // when that day is over
}

// First reports whether the event holds what it asked for by this very call: OK
// and Created. Of all Takes of an event at most one is first, and so of all
// Adjusts: what must happen at most once is done then. A caller that dies before
// leaves it undone.
func (g Grant) First() bool { return g.OK && g.Outcome == event.Created }

const (
	takeUpdate    = "SET #entry = :entry, #updatedAt = :now, #ttl = :ttl ADD #count :weight, #recorded :one"
	takeCondition = newEntry + " AND (attribute_not_exists(#count) OR #count <= :room)"
	// With less than no room a day that has no count yet refuses, too. It is sent
	// all the same: the event may have been granted under a higher cap.
	noRoomCondition = newEntry + " AND #count <= :room"
)

var errNoReason = errors.New("condition failed for no known reason")

// Take takes room for the event if there is some, and says how much is used.
// Refusal is an answer, not an error: OK is false. A refused event leaves no
// trace, so it is judged anew when it comes again. Only a first attempt that
// the network held back, while the SDK's second was refused, may still arrive
// when there is room again: it takes that room, never above the cap, for an
// event whose caller was told no. Coming again it is OK.
//
// It never goes above the cap, however many call at once, and each event takes
// once however often it is delivered: a redelivery finds OK and Duplicate. A
// reply that was lost on the way and is tried again by the SDK still reads
// Created, unless the event was refunded meanwhile: then OK is false and
// Refunded is true. If it was settled meanwhile, it is OK and Duplicate.
//
// A cap of 0 and a weight above the cap are refusals, too, and an event that was
// granted earlier, under a higher cap, is OK and Duplicate.
//
// Errors: an [*event.InputError], also for a negative cap; [event.ErrTooOld] for
// an event whose row may have expired; [ErrFull]; [*WeightError] for an event
// that holds another weight (one that was settled or refunded is not compared);
// [event.ErrUnknownOutcome] when it took effect and the count after it is not a
// whole number, which only another system's writes can make it: the error says that
// it took effect.
//
// Price: 1 request, 1 WCU. A row above 1 KB costs 1 WCU for each; it holds
// about 22 recorded events in the first and 25 in each further. A refusal
// costs the same.
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
	return w.grant(Grant{OK: true, Outcome: event.Created, Used: used}, t.Cap), nil
}

// taking returns the write of a Take, and its request.
func (s *Store) taking(op string, t Take) (keyed, *dynamodb.UpdateItemInput, error) {
	w, err := s.keyed(op, t.Key, t.Event, t.Weight)
	if err != nil {
		return keyed{}, nil, err
	}
	if t.Cap < 0 {
		return keyed{}, nil, event.BadInput(pkg, "Cap", "must not be negative")
	}
	condition := takeCondition
	room := t.Cap - w.entry.weight // what may be used before
	if room < 0 {
		condition = noRoomCondition
	}
	in := s.recordNew(w, condition)
	in.ExpressionAttributeValues[":room"] = item.N(room)
	return w, in, nil
}

// grant gives the answer what it says of the cap and the day.
func (p place) grant(g Grant, most int64) Grant {
	g.Cap, g.Remaining = most, max(0, most-g.Used)
	g.Day, g.ResetsAt = p.day, p.end
	return g
}

// refusedTake tells from the row why it refused: the event is in it, the cap
// is reached, or the row is full.
func (s *Store) refusedTake(w keyed, most int64, row ddb.Item) (Grant, error) {
	stands, err := s.judge(w, row)
	switch {
	case err != nil:
		return Grant{}, err
	case stands.recorded:
		return w.grant(stands.grant(), most), nil
	case stands.used > most-w.entry.weight:
		return w.grant(Grant{Used: stands.used}, most), nil
	case stands.counts.recorded >= int64(s.cfg.MaxRecorded):
		return Grant{}, ErrFull
	}
	return Grant{}, s.wrap(w.op, errNoReason)
}
