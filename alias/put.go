package alias

import (
	"context"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
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

// free: the phrase was never taught, or an earlier event forgot it.
const free = "attribute_not_exists(#canonicalActivity) AND (attribute_not_exists(#namedBy) OR #namedBy < :event)"

// Put updates the item, so that what else a forgotten phrase's item holds stays.
var (
	teach = expression{
		update:    naming + ", #learnedFrom = :actor" + countAnew,
		condition: free,
		names:     namingNames,
	}
	teachUnsigned = expression{ // by nobody known
		update:    naming + countAnew + ", #learnedFrom",
		condition: free,
		names:     namingNames,
	}
)

// Put writes the alias if the phrase is free. If it stands for the same name
// already, whoever taught it, the answer is Duplicate and the row is
// untouched; if it stands for another, a [*TakenError] says for which, and
// only Correct changes it. A phrase that this event or a later one forgot stays
// forgotten: [event.ErrTooOld].
//
// A phrase that stands only under an older spelling, an older system's or one of
// an earlier normal form, belongs to its name as well: Put of another name is a
// [*TakenError], Put of the same name is Duplicate, and [Store.Adopt] writes it in
// normal form. Put looks for such spellings in the scope's book. One
// that an older writer wrote after the book was read is not seen until the book
// expires.
//
// Price: 2 requests, 0.5 RCU, 2 WCU. With the scope's book in memory 1 request,
// 2 WCU: one for the item and one for the index; else the book is read first,
// as by [Store.All]. A refusal costs 1 WCU; an answer by an older spelling costs
// no WCU, but a [Store.Refresh].
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
	if out, err := s.spelledOtherwise(ctx, p, put.Name); out != 0 || err != nil {
		return out, err
	}
	change, values := teach, s.naming(p, put.Name, put.Event)
	if put.Actor == "" {
		change = teachUnsigned
	} else {
		values[":actor"] = item.S(put.Actor)
	}
	got, err := s.update(ctx, "Put", p, change, values)
	switch {
	case err != nil:
		return 0, err
	case !got.refused:
		return event.Created, nil
	case !got.by.named():
		return 0, s.tooOld("Put")
	case got.by.Name != put.Name:
		return 0, &TakenError{Owner: got.by.Name}
	}
	return event.Duplicate, nil
}

// spelledOtherwise answers for a phrase that has a name only under an older
// spelling. What was forgotten under one is adopted, for Put to judge.
func (s *Store) spelledOtherwise(ctx context.Context, p place, name string) (event.Outcome, error) {
	b, err := s.look(ctx, "Put", p, false)
	if err != nil {
		return 0, err
	}
	elders := b.eldersOf(p.phrase)
	switch {
	case len(elders) == 0:
		return 0, nil
	case elders[0].Name == name:
		return event.Duplicate, nil
	case elders[0].named():
		return 0, &TakenError{Owner: elders[0].Name}
	}
	return 0, s.adoptAll(ctx, "Put", p, elders)
}
