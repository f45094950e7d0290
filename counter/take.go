package counter

import (
	"context"
	"errors"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Take asks for room under a daily cap.
type Take struct {
	Key   string      // what the limit is for: the chat, the tenant
	Event event.Event // what asks; its local day is the one that counts
	// Cap is how much may be used a day. It must be positive. One above
	// [Config].MaxRecorded is out of reach of events of weight 1: the row is full
	// before ([ErrFull]).
	Cap int64
	// Weight is how much the event takes, at most 1,000,000,000,000. Defaults to
	// 1, and so 0 is 1: what takes nothing need not ask.
	Weight int64
}

// Grant answers a [Take].
type Grant struct {
	// OK says that the event holds its room under the cap, from this call or
	// an earlier one. What must happen at most once needs OK and an Outcome of
	// [event.Created].
	OK bool
	// Outcome is Created when this call took the room, Duplicate when an
	// earlier call of the same event had, and neither when there was none.
	Outcome event.Outcome
	// Refunded says that the event had taken its room and given it back. It is
	// not granted again.
	Refunded bool

	Used      int64 // of the cap, now; this event included when OK
	Cap       int64
	Remaining int64        // of the cap, never below zero
	Day       tzclock.Date // the event's local day
	ResetsAt  time.Time    // when that day is over
}

const (
	takeUpdate    = "SET #entry = :entry, #updatedAt = :now, #ttl = :ttl ADD #count :weight, #recorded :one"
	takeCondition = "attribute_not_exists(#entry)" +
		" AND (attribute_not_exists(#count) OR #count <= :room)" +
		" AND (attribute_not_exists(#recorded) OR #recorded < :most)"
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
// Refunded is true.
//
// Errors: an [*event.InputError], also for a cap below 1 and a weight above the cap;
// [event.ErrTooOld] for an event whose row may have expired; [ErrFull];
// [*WeightError] for an event recorded with another weight;
// [event.ErrUnknownOutcome] when it took effect and the count after it is not a
// whole number, which only another system's writes can make it.
//
// Price: 1 request, 1 WCU. A row above 1 KB costs 1 WCU for each; it holds
// about 22 recorded events in the first and 25 in each further. A refusal
// costs the same.
func (s *Store) Take(ctx context.Context, t Take) (Grant, error) {
	w, err := s.keyed("Take", t.Key, t.Event, t.Weight)
	if err != nil {
		return Grant{}, err
	}
	if t.Cap < 1 {
		return Grant{}, event.BadInput(pkg, "Cap", "must be positive")
	}
	room := t.Cap - w.entry.weight // what may be used before
	if room < 0 {
		return Grant{}, event.BadInput(pkg, "Weight", "is above the cap and can never be granted")
	}
	in := s.recordNew(w, takeCondition)
	in.ExpressionAttributeValues[":room"] = item.N(room)

	used, refusing, err := s.send(ctx, w.op, in)
	if err != nil {
		return Grant{}, err
	}
	grant := Grant{OK: true, Outcome: event.Created, Used: used}
	if refusing != nil {
		if grant, err = s.refusedTake(w, room, refusing); err != nil {
			return Grant{}, err
		}
	}
	grant.Cap, grant.Remaining = t.Cap, max(0, t.Cap-grant.Used)
	grant.Day, grant.ResetsAt = w.day, w.end
	return grant, nil
}

// refusedTake tells from the row why it refused: the event is in it, the cap
// is reached, or the row is full.
func (s *Store) refusedTake(w keyed, room int64, row ddb.Item) (Grant, error) {
	stands, err := s.judge(w, row)
	switch {
	case err != nil:
		return Grant{}, err
	case stands.recorded:
		return Grant{OK: !stands.refunded, Outcome: stands.outcome(), Refunded: stands.refunded, Used: stands.used}, nil
	case stands.used > room:
		return Grant{Used: stands.used}, nil
	case stands.counts.recorded >= int64(s.cfg.MaxRecorded):
		return Grant{}, ErrFull
	}
	return Grant{}, s.wrap(w.op, errNoReason)
}
