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

// Confirm confirms that a phrase stands for a name.
type Confirm struct {
	Scope  string
	Phrase string
	Name   string // the name that the event confirms; if the phrase now stands for another name, the event is not counted
	Event  event.Event
}

// maxConfirmers is how many events a row remembers as counted: the greatest
// ones. Each takes 16 bytes of every read of the book.
const maxConfirmers = 8

// counts is the condition for counting a confirmation. A row of format 1 knows
// only confirmedBy: which earlier events it has counted is unknown.
const counts = "#canonicalActivity = :name AND " +
	"(attribute_not_exists(#namedBy) OR #namedBy <= :event) AND " +
	"(attribute_not_exists(#confirmedBy) OR #confirmedBy < :event) AND "

// A confirmation is one of two updates. No expression can add one event to a
// full set and remove another, so the set is replaced, if it is as it was read.
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

// confirmTries bounds how often a confirmation of a row with a full set is tried
// again because another came first.
const confirmTries = 10

// Confirm counts a confirmation, once for each event. The row remembers the 8
// latest events that were counted for its name. If one of these 8 events comes
// again, Confirm returns Duplicate. For any other event earlier than
// [Alias].NamedBy or than the event that forgot the phrase, the error is
// [event.ErrSuperseded], because such an event confirmed what the phrase stood for
// before. Otherwise, if the phrase stands for another name, the error is a
// [*TakenError], and if it stands for nothing, the error is [ErrNotFound].
//
// If the name is right, an event earlier than all 8 is not counted either, because
// the row cannot know whether it was counted before: Confirm returns
// [event.ErrTooOld]. So a confirmation that arrives late still counts if at most 7
// confirmations with later events have arrived already. If the phrase is stored
// only under an older spelling, Confirm first adopts that row, as [Store.Adopt]
// does.
//
// A row that was confirmed by older versions of this package knows only the
// last event that confirmed it. For that event Confirm returns Duplicate, and
// for earlier events ErrTooOld, unless they are superseded.
//
// Price: 1 request, 2 WCU. One WCU is for the item and one is for its entry in
// the index. A refusal costs 1 WCU. If the phrase has no row, Confirm looks
// into the scope's book. If the book is not in memory, Confirm reads it, as
// [Store.All] does. If Confirm adopts a row first, the price of [Store.Adopt],
// 1 request and 1 WCU are added.
//
// Price (full): 2 requests, 3 WCU. This is for a phrase that was already
// confirmed 8 times. Each concurrent confirmation of the phrase adds 1 request
// and 1 WCU.
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
		if try > 0 { // another writer was faster
			if err := pause(ctx, try); err != nil {
				return 0, s.wrap("Confirm", err)
			}
		}
	}
	return 0, s.wrap("Confirm", errors.New("the row kept changing"))
}

// refusedConfirm returns why the row was not confirmed. Without an outcome and
// an error, the other update fits the row now.
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

// refusedBy returns why the existing row did not count the confirmation.
func (c Confirm) refusedBy(s *Store, r row) (event.Outcome, error) {
	switch {
	case r.confirmedBy == c.Event, slices.Contains(r.confirmers, c.Event):
		return event.Duplicate, nil
	case r.NamedBy.Compare(c.Event) > 0:
		return 0, s.superseded("Confirm")
	case !r.named():
		return 0, ErrNotFound
	case r.Name != c.Name:
		return 0, &TakenError{Owner: r.Name}
	case r.confirmedBy.Compare(c.Event) > 0:
		return 0, s.tooOld("Confirm")
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
