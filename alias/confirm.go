package alias

import (
	"context"
	"errors"
	"slices"

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

// maxConfirmers is how many events a row remembers as counted: the greatest.
// Each takes 16 bytes of every read of the book.
const maxConfirmers = 8

// counts is when a confirmation may count. A row of an older system or of format
// 1 has counted up to confirmedBy, and what came before that cannot be told.
const counts = "#canonicalActivity = :name AND " +
	"(attribute_not_exists(#namedBy) OR #namedBy <= :event) AND " +
	"(attribute_not_exists(#confirmedBy) OR #confirmedBy < :event) AND "

// A confirmation is one of two updates. A full set of events cannot take one in
// and let one go by an expression, so it is replaced, if it is as it was read.
var (
	confirm = expression{
		update: "SET #type = :type, #updatedAt = :now ADD #confirmations :one, #confirmers :own",
		condition: counts + "(attribute_not_exists(#confirmers) OR " +
			"NOT contains(#confirmers, :id) AND size(#confirmers) < :most)",
		names: confirmNames,
	}
	confirmFull = expression{
		update:    "SET #type = :type, #updatedAt = :now, #confirmers = :trimmed ADD #confirmations :one",
		condition: counts + "#confirmers = :stood",
		names:     confirmNames,
	}
	confirmNames = item.Names(attrType, attrName, attrNamedBy, attrConfirmedBy, attrConfirmers, attrConfirmations, attrUpdatedAt)
)

// confirmTries bounds how often a confirmation of a row with a full set loses to
// another.
const confirmTries = 10

// Confirm counts a confirmation, once for each event. The row remembers the 8
// greatest events that were counted for its name: each of them is Duplicate when
// it comes again, and one that is less than all 8 is [event.ErrTooOld] and not
// counted, for the row cannot tell whether it was. So confirmations may arrive out
// of order by as many as 8. One earlier than the event that gave the phrase its
// name is ErrTooOld as well: it confirmed what stood before. A phrase that stands
// for another name is a [*TakenError], one that stands for nothing is
// [ErrNotFound]. One that stands only under an older spelling is adopted first, as
// by [Store.Adopt].
//
// A row that older versions confirmed knows the last event alone: that one is
// Duplicate, what is earlier ErrTooOld.
//
// Price: 1 request, 2 WCU. One for the item and one for the index; a refusal
// costs 1 WCU. A phrase that has no row is looked for in the scope's book, which
// is read if it is not in memory, as by [Store.All].
//
// Price (full): 2 requests, 3 WCU. Of a phrase that was confirmed 8 times. Others
// that are confirming it at this moment add 1 request and 1 WCU each.
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
	change, values := confirm, s.confirming(p, c)
	for try := range confirmTries {
		got, err := s.update(ctx, "Confirm", p, change, values)
		if err != nil {
			return 0, err
		}
		if !got.refused {
			return event.Created, nil
		}
		if out, err := s.refusedConfirm(ctx, p, c, got.by); out != 0 || err != nil {
			return out, err
		}
		change, values = confirm, s.confirming(p, c)
		if len(got.by.confirmers) >= maxConfirmers {
			change, values = confirmFull, s.confirmingFull(p, c, got.by)
		}
		if try > 0 { // another was faster
			if err := pause(ctx, try); err != nil {
				return 0, s.wrap("Confirm", err)
			}
		}
	}
	return 0, s.wrap("Confirm", errors.New("the row kept changing"))
}

// refusedConfirm says why the row was not confirmed. Neither an outcome nor an
// error says that the update that now fits is due.
func (s *Store) refusedConfirm(ctx context.Context, p place, c Confirm, r row) (event.Outcome, error) {
	if r.Phrase == "" { // there is no row
		if stands, err := s.settle(ctx, "Confirm", p, true); err != nil || stands {
			return 0, err
		}
	}
	return c.refusedBy(s, r)
}

// confirming returns the values of confirm.
func (s *Store) confirming(p place, c Confirm) ddb.Item {
	values := s.counting(p, c)
	values[":own"] = setOf([]event.Event{c.Event})
	values[":id"] = item.B(c.Event[:])
	values[":most"] = item.N(maxConfirmers)
	return values
}

// confirmingFull returns the values of confirmFull.
func (s *Store) confirmingFull(p place, c Confirm, r row) ddb.Item {
	values := s.counting(p, c)
	values[":stood"] = setOf(r.confirmers)
	values[":trimmed"] = setOf(greatest(append(slices.Clone(r.confirmers), c.Event)))
	return values
}

func (s *Store) counting(p place, c Confirm) ddb.Item {
	return ddb.Item{
		":type":  item.S(p.prefix),
		":name":  item.S(c.Name),
		":event": item.S(c.Event.String()),
		":now":   item.Time(s.cfg.Now()),
		":one":   item.N(1),
	}
}

// refusedBy reads from the row that stands why it was not counted.
func (c Confirm) refusedBy(s *Store, r row) (event.Outcome, error) {
	switch {
	case r.confirmedBy == c.Event, slices.Contains(r.confirmers, c.Event):
		return event.Duplicate, nil
	case r.confirmedBy.Compare(c.Event) > 0, r.NamedBy.Compare(c.Event) > 0:
		return 0, s.tooOld("Confirm")
	case !r.named():
		return 0, ErrNotFound
	case r.Name != c.Name:
		return 0, &TakenError{Owner: r.Name}
	case len(r.confirmers) >= maxConfirmers && r.confirmers[len(r.confirmers)-maxConfirmers].Compare(c.Event) > 0:
		return 0, s.tooOld("Confirm")
	}
	return 0, nil
}

// greatest returns the greatest of the events, each once, in order.
func greatest(events []event.Event) []event.Event {
	slices.SortFunc(events, event.Event.Compare)
	events = slices.Compact(events)
	return events[max(0, len(events)-maxConfirmers):]
}
