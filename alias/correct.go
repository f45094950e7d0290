package alias

import (
	"context"
	"errors"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Correct makes a phrase stand for a name, whatever it stood for before.
type Correct struct {
	Scope  string
	Phrase string // in any spelling; Normalize is applied
	Name   string // the name the phrase is to stand for, stored unchanged
	Event  event.Event
	Actor  string // who corrected the phrase; may be ""
}

// A correction is one of two updates. The row decides which one: confirmations
// of another name do not count for this one.
var (
	rename = expression{
		update: naming + ", #learnedFrom = :actor" + countAnew,
		condition: "(attribute_not_exists(#namedBy) OR #namedBy < :event) AND " +
			"(attribute_not_exists(#canonicalActivity) OR #canonicalActivity <> :name)",
		names: namingNames,
	}
	insist = expression{
		update: "SET #type = :type, #source = :learned, #learnedFrom = :actor, #namedBy = :event, #updatedAt = :now",
		condition: "(attribute_not_exists(#namedBy) OR #namedBy < :event) AND " +
			"#canonicalActivity = :name",
		names: item.Names(attrType, attrName, attrSource, attrLearnedFrom, attrNamedBy, attrUpdatedAt),
	}
)

// correctTries bounds how often a correction is tried while earlier corrections
// change the row back and forth.
const correctTries = 5

// Correct makes the phrase stand for the name. The phrase may be new, or it may
// have been taught, seeded, corrected or forgotten before. Among corrections
// the latest event wins, in any order of arrival. The phrase's confirmations
// start again from 0. If the phrase has this name already, the confirmations
// stay: Correct then notes the event and the actor, and marks the phrase as
// Learned.
//
// If the phrase is stored only under an older spelling, Correct first adopts
// that row, as [Store.Adopt] does. Correct looks for older spellings in the
// scope's book.
//
// If a later event has named or forgotten the phrase, or if this event has
// forgotten it, the error is [event.ErrSuperseded]. If this event has already given
// the phrase this name, Correct returns Duplicate. If this event has given the
// phrase another name, the error is a [*TakenError] and that name stays.
//
// Price: 2 requests, 0.5 RCU, 3 WCU. If the scope's book is in memory, Correct
// takes 1 request. Otherwise it reads the book first, as [Store.All] does. One
// WCU is for the item and two are for its entry in the index, which moves. A new
// or forgotten phrase costs 2 WCU. If the phrase has the name already, Correct
// takes 1 more request and costs 3 WCU. A refusal costs 1 WCU. If Correct adopts
// a row first, the price of [Store.Adopt] is added.
func (s *Store) Correct(ctx context.Context, c Correct) (event.Outcome, error) {
	p, err := s.place(c.Scope, c.Phrase)
	if err != nil {
		return 0, err
	}
	if err := check.SortKey(pkg, "Name", c.Name); err != nil {
		return 0, err
	}
	if err := s.check(c.Event, c.Actor); err != nil {
		return 0, err
	}
	if _, err := s.settle(ctx, "Correct", p, false); err != nil {
		return 0, err
	}
	renaming := s.naming(p, c.Name, c.Event)
	renaming[":actor"] = item.S(c.Actor)
	change, values := rename, renaming
	for range correctTries {
		got, err := s.update(ctx, "Correct", p, change, values)
		if err != nil {
			return 0, err
		}
		if !got.refused {
			return event.Created, nil
		}
		if out, err := c.refusedBy(s, got.by); out != 0 || err != nil {
			return out, err
		}
		change, values = rename, renaming
		if got.by.Name == c.Name {
			change, values = insist, s.insisting(p, c)
		}
	}
	return 0, s.wrap("Correct", errors.New("the row kept changing"))
}

// insisting returns exactly the values that insist names.
func (s *Store) insisting(p place, c Correct) ddb.Item {
	return ddb.Item{
		":type":    item.S(p.prefix),
		":name":    item.S(c.Name),
		":learned": item.S(string(Learned)),
		":actor":   item.S(c.Actor),
		":event":   item.S(c.Event.String()),
		":now":     item.Time(s.cfg.Now()),
	}
}

// refusedBy returns the answer of the existing row. Without an outcome and an
// error, the other update fits the row now.
func (c Correct) refusedBy(s *Store, r row) (event.Outcome, error) {
	switch r.NamedBy.Compare(c.Event) {
	case +1:
		return 0, s.superseded("Correct")
	case -1:
		return 0, nil
	}
	switch {
	case r.Name == c.Name:
		return event.Duplicate, nil
	case !r.named():
		return 0, s.superseded("Correct")
	}
	return 0, &TakenError{Owner: r.Name}
}
