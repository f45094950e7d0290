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
		update:    naming + ", #learnedFrom = :actor",
		condition: free,
		names:     namingNames,
	}
	teachUnsigned = expression{ // by nobody known
		update:    naming + " REMOVE #learnedFrom",
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
// A phrase that stands only under an older system's spelling, one that is not
// in normal form, belongs to its name as well: Put of another name is a
// [*TakenError], Put of the same name writes the row in normal form, which
// hides the older one. Put looks for such spellings in the scope's book. One
// that an older system wrote after the book was read is not seen until the book
// expires.
//
// Price: 2 requests, 0.5 RCU, 2 WCU. With the scope's book in memory 1 request,
// 2 WCU: one for the item and one for the index; else the book is read first,
// as by [Store.All]. A refusal costs 1 WCU; one by an older spelling costs no
// WCU, but a [Store.Refresh].
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
	if err := s.unowned(ctx, p, put.Name); err != nil {
		return 0, err
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

// unowned refuses to take the phrase from another name that it has in an older
// system's spelling. The book may be behind, and a row in normal form may hide
// that spelling by now, so a refusal is made only after a consistent read.
func (s *Store) unowned(ctx context.Context, p place, name string) error {
	b, err := s.cache.lately(ctx, p.scope)
	if err == nil && b.ownedByOther(p.phrase, name) {
		b, err = s.cache.refresh(ctx, p.scope)
	}
	switch {
	case err != nil:
		return s.wrap("Put", err)
	case b.ownedByOther(p.phrase, name):
		return &TakenError{Owner: b.older[p.phrase]}
	}
	return nil
}

// ownedByOther reports whether the phrase stands, only in an older system's spelling,
// for another name.
func (b *book) ownedByOther(phrase, name string) bool {
	owner, ok := b.older[phrase]
	return ok && owner != name && !b.known[phrase]
}
