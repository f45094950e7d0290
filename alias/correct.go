package alias

import (
	"context"
	"errors"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Correct says what a phrase stands for, whatever it stood for before.
type Correct struct {
	Scope  string
	Phrase string // in any spelling; Normalize is applied
	Name   string // what it shall stand for, as it is
	Event  event.Event
	Actor  string // who corrected it; may be ""
}

// A correction is one of two updates. Which one the row decides: what it
// confirmed for another name does not count for this one.
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

// correctTries bounds how often a correction meets a row that earlier
// corrections turn back and forth under it.
const correctTries = 5

// Correct makes the phrase stand for the name: taught, corrected, seeded or
// never heard before. Among corrections the later event wins, in whatever
// order they arrive, and an earlier one is [event.ErrTooOld]; the event that
// named the phrase is Duplicate. Confirmations start again from 0, unless the
// name is the one that stands: then only the event is noted.
//
// A phrase that stands only under an older spelling, which Correct looks for in
// the scope's book, is adopted first, as by [Store.Adopt].
//
// A second correction by one event, to another name, is a [*TakenError]: the
// first stands.
//
// Price: 2 requests, 0.5 RCU, 3 WCU. With the scope's book in memory 1 request;
// else the book is read first, as by [Store.All]. Of the WCU one is for the item
// and two for its entry in the index, which moves; a phrase never heard before
// costs 2 WCU, and a correction to the name that stands adds 1 request and costs
// 3 WCU. A refusal costs 1 WCU.
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

// insisting returns the values that insist names, no more.
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

// refusedBy reads from the row that stands whether the event is over; neither
// an outcome nor an error says that the other update is due.
func (c Correct) refusedBy(s *Store, r row) (event.Outcome, error) {
	switch r.NamedBy.Compare(c.Event) {
	case +1:
		return 0, s.tooOld("Correct")
	case -1:
		return 0, nil
	}
	switch {
	case r.Name == c.Name:
		return event.Duplicate, nil
	case !r.named():
		return 0, s.tooOld("Correct")
	}
	return 0, &TakenError{Owner: r.Name}
}
