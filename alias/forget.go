package alias

import (
	"context"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Forget says that a phrase shall stand for nothing.
type Forget struct {
	Scope  string
	Phrase string
	Event  event.Event
}

var forget = expression{
	update: "SET #type = :type, #namedBy = :event, #updatedAt = :now " +
		"REMOVE #canonicalActivity, #gsi1pk, #gsi1sk, #confirmations, #source, #learnedFrom, #confirmedBy",
	condition: "attribute_exists(#canonicalActivity) AND (attribute_not_exists(#namedBy) OR #namedBy < :event)",
	names: names(attrType, attrNamedBy, attrUpdatedAt, attrName, attrIndexPK, attrIndexSK,
		attrConfirmations, attrSource, attrLearnedFrom, attrConfirmedBy),
}

// Forget takes a phrase out of the book. Of its item the key and the event
// stay, so that neither a seed nor a redelivery of what taught it brings it
// back; a later Put or Correct does. A phrase that a later event named is
// [event.ErrTooOld], one that stands for nothing [ErrNotFound].
//
// Price: 1 request, 2 WCU. One for the item and one for the index; a refusal
// costs 1 WCU.
func (s *Store) Forget(ctx context.Context, f Forget) (event.Outcome, error) {
	p, err := s.place(f.Scope, f.Phrase)
	if err != nil {
		return 0, err
	}
	if err := s.check(f.Event, ""); err != nil {
		return 0, err
	}
	got, err := s.update(ctx, p, forget, ddb.Item{
		":type":  item.S(p.prefix),
		":event": item.S(f.Event.String()),
		":now":   item.Time(s.cfg.Now()),
	})
	switch {
	case err != nil:
		return 0, err
	case !got.refused:
		return event.Created, nil
	case got.by.namedBy == f.Event && !got.by.named():
		return event.Duplicate, nil
	case got.by.namedBy.Compare(f.Event) >= 0:
		return 0, tooOld("Forget")
	}
	return 0, ErrNotFound
}
