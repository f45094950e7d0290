package alias

import (
	"context"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Confirm says that a phrase does stand for a name.
type Confirm struct {
	Scope  string
	Phrase string
	Name   string // what was confirmed; a phrase that was corrected since is not counted for
	Event  event.Event
}

var confirm = expression{
	update: "SET #type = :type, #confirmedBy = :event, #updatedAt = :now ADD #confirmations :one",
	condition: "#canonicalActivity = :name AND " +
		"(attribute_not_exists(#namedBy) OR #namedBy <= :event) AND " +
		"(attribute_not_exists(#confirmedBy) OR #confirmedBy < :event)",
	names: item.Names(attrType, attrName, attrNamedBy, attrConfirmedBy, attrConfirmations, attrUpdatedAt),
}

// Confirm counts a confirmation, once for each event. The row remembers one
// event, the last that was counted: that one again is Duplicate, and an earlier
// one is [event.ErrTooOld] and not counted, for the row cannot tell whether it
// was. So of confirmations that arrive out of order some are lost. One earlier
// than the event that gave the phrase its name is ErrTooOld as well: it
// confirmed what stood before. A phrase that stands for another name is a
// [*TakenError]. One that stands for nothing, or only in an older system's
// spelling, is [ErrNotFound].
//
// Price: 1 request, 2 WCU. One for the item and one for the index; a refusal
// costs 1 WCU.
func (s *Store) Confirm(ctx context.Context, c Confirm) (event.Outcome, error) {
	p, err := s.place(c.Scope, c.Phrase)
	if err != nil {
		return 0, err
	}
	if err := check.SortKey(pkg, "Name", c.Name); err != nil {
		return 0, err
	}
	if err := s.check(c.Event, ""); err != nil {
		return 0, err
	}
	got, err := s.update(ctx, "Confirm", p, confirm, ddb.Item{
		":type":  item.S(p.prefix),
		":name":  item.S(c.Name),
		":event": item.S(c.Event.String()),
		":now":   item.Time(s.cfg.Now()),
		":one":   item.N(1),
	})
	if err != nil {
		return 0, err
	}
	if !got.refused {
		return event.Created, nil
	}
	return c.refusedBy(s, got.by)
}

// refusedBy reads from the row that stands why it was not counted.
func (c Confirm) refusedBy(s *Store, r row) (event.Outcome, error) {
	switch {
	case r.confirmedBy == c.Event:
		return event.Duplicate, nil
	case r.confirmedBy.Compare(c.Event) > 0, r.namedBy.Compare(c.Event) > 0:
		return 0, s.tooOld("Confirm")
	case !r.named():
		return 0, ErrNotFound
	}
	return 0, &TakenError{Owner: r.Name}
}
