package alias

import (
	"context"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Put teaches a phrase that stands for nothing yet.
type Put struct {
	Scope  string
	Phrase string // in any spelling; Normalize is applied
	Name   string // what it shall stand for, as it is
	Event  event.Event
	Actor  string // who taught it; may be ""
}

// putFree: the phrase was never taught, or forgotten by an earlier event.
var putFree = expression{
	condition: "attribute_not_exists(#pk) OR attribute_not_exists(#canonicalActivity) AND " +
		"(attribute_not_exists(#namedBy) OR #namedBy < :event)",
	names: names(attrPK, attrName, attrNamedBy),
}

// Put writes the alias if the phrase is free. If it stands for the same name
// already, whoever taught it, the answer is Duplicate and the row is
// untouched; if it stands for another, a [*TakenError] says for which, and
// only Correct changes it. A phrase that a later event forgot stays forgotten:
// [event.ErrTooOld].
//
// Price: 1 request, 2 WCU. One for the item and one for the index; a refusal
// costs 1 WCU.
func (s *Store) Put(ctx context.Context, put Put) (event.Outcome, error) {
	p, err := s.place(put.Scope, put.Phrase)
	if err != nil {
		return 0, err
	}
	if err := check.SortKey(pkg, "Name", put.Name); err != nil {
		return 0, err
	}
	if err := s.check(put.Event, put.Actor); err != nil {
		return 0, err
	}
	it := p.newItem(put.Name, Learned, s.cfg.Now())
	it[attrNamedBy] = item.S(put.Event.String())
	if put.Actor != "" {
		it[attrLearnedFrom] = item.S(put.Actor)
	}
	defer s.cache.drop(p.scope) // even on an error: it may have taken effect
	got, err := s.put(ctx, p, it, putFree, ddb.Item{":event": it[attrNamedBy]})
	switch {
	case err != nil:
		return 0, err
	case !got.refused:
		return event.Created, nil
	case !got.by.named():
		return 0, tooOld("Put")
	case got.by.Name != put.Name:
		return 0, &TakenError{Owner: got.by.Name}
	}
	return event.Duplicate, nil
}
