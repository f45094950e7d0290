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
	Name   string // the name the phrase is to stand for, stored unchanged
	Event  event.Event
	Actor  string // who taught the phrase; may be ""
}

// free means that the phrase was never taught, or an earlier event forgot it.
const free = "attribute_not_exists(#canonicalActivity) AND (attribute_not_exists(#namedBy) OR #namedBy < :event)"

// Put updates the item, so that the other attributes of a forgotten phrase's
// item stay.
var (
	teach = expression{
		update:    naming + ", #learnedFrom = :actor" + countAnew,
		condition: free,
		names:     namingNames,
	}
	teachUnsigned = expression{ // the teacher is unknown
		update:    naming + countAnew + ", #learnedFrom",
		condition: free,
		names:     namingNames,
	}
)

// Put writes the alias if the phrase is free. If the phrase stands for the same
// name already, Put returns Duplicate and does not change the row. It does not
// matter who taught the phrase. If the phrase stands for another name, the
// error is a [*TakenError] with that name, and only Correct changes the name.
// If this event or a later event forgot the phrase, the phrase stays forgotten
// and the error is [event.ErrSuperseded].
//
// Some phrases are stored only under an older spelling, from an older system or
// from an earlier normal form. The name in that row then owns the phrase: Put of
// another name returns a [*TakenError], and Put of the same name returns
// Duplicate. [Store.Adopt] moves the row to the normal form. If the row is
// forgotten, Put first adopts it, at the price of Adopt. Put looks for older
// spellings in the scope's book. If an older writer adds a spelling after the
// book was read, Put does not see the spelling until the book is read again.
//
// Price: 2 requests, 0.5 RCU, 2 WCU. If the scope's book is in memory, Put
// takes 1 request and 2 WCU: one for the item and one for its entry in the
// index. Otherwise Put reads the book first, as [Store.All] does. A refusal
// costs 1 WCU. If the book has the phrase only under an older spelling, Put
// reads the book again, as [Store.Refresh] does. If the older spelling decides
// the answer, Put writes nothing and costs no WCU.
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
		return 0, s.superseded("Put")
	case got.by.Name != put.Name:
		return 0, &TakenError{Owner: got.by.Name}
	}
	return event.Duplicate, nil
}

// spelledOtherwise returns the answer for a phrase that has a name only under
// an older spelling. It adopts a phrase that was forgotten under one, and Put
// then judges it.
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
