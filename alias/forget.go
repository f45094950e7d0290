package alias

import (
	"context"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Forget makes a phrase stand for nothing.
type Forget struct {
	Scope  string
	Phrase string
	Event  event.Event
}

// forget also notes the event of a phrase that stands for nothing, because an
// earlier Put or Correct may arrive after it.
var forget = expression{
	"SET #type = :type, #namedBy = :event, #createdAt = if_not_exists(#createdAt, :now), #updatedAt = :now " +
		"REMOVE #canonicalActivity, #gsi1pk, #gsi1sk, #confirmations, #source, #learnedFrom, #confirmedBy, #confirmers",
	"attribute_not_exists(#namedBy) OR #namedBy < :event",
}

// Forget takes a phrase out of the book. The item of the phrase stays, with its
// key, the event and the times. So neither a seed nor a redelivery of an earlier
// Put or Correct brings the phrase back. A Put or Correct by a later event
// brings it back. If this event or a later event named the phrase, or if a later
// event forgot it, the error is [event.ErrSuperseded].
//
// Forget answers [event.Duplicate] if this event has already forgotten the
// phrase, or has already found that it stands for nothing. If the phrase was
// never taught, or an earlier event forgot it, the error is [ErrNotFound]. Forget
// notes its event all the same, in a new item if the phrase has none. So a Put or
// Correct that happened before the Forget and arrives after it is refused. The
// item has no TTL, and every read of the scope's book also reads it. So forget
// only phrases that were known, not any text that somebody says.
//
// Price: 1 request, 2 WCU. One WCU is for the item and one is for its entry in
// the index. A phrase that stands for nothing costs 1 WCU. A refusal also costs
// 1 WCU.
func (s *Store) Forget(ctx context.Context, f Forget) (event.Outcome, error) {
	p, err := s.admit(f.Scope, f.Phrase, f.Event, "")
	if err != nil {
		return 0, err
	}

	old, refused, err := s.update(ctx, p, forget, ddb.Item{
		":type":  item.S(s.cfg.Prefix),
		":event": item.S(f.Event.String()),
		":now":   item.Time(s.cfg.Now()),
	})
	switch {
	case err != nil:
		return 0, s.wrap("Forget", err)
	case !refused && item.Has(old, attrName):
		return event.Created, nil
	case !refused:
		return 0, ErrNotFound
	}

	r, err := decode(f.Scope, old)
	switch {
	case err != nil:
		return 0, s.wrap("Forget", err)
	case r.NamedBy == f.Event && !r.named():
		return event.Duplicate, nil
	}

	return 0, s.superseded("Forget")
}
