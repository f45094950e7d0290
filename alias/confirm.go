package alias

import (
	"context"
	"slices"

	"github.com/homeops/ddbpatterns/event"
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
		"SET #type = :type, #updatedAt = :now ADD #confirmations :one, #confirmers :own",
		counts + "(attribute_not_exists(#confirmers) OR NOT contains(#confirmers, :id) AND size(#confirmers) < :most)",
	}
	confirmFull = expression{
		"SET #type = :type, #updatedAt = :now, #confirmers = :trimmed ADD #confirmations :one",
		counts + "#confirmers = :stood",
	}
)

// Confirm counts a confirmation, once for each event. The row remembers the 8 latest
// events that were counted for its name. If one of these 8 events comes again, Confirm
// returns Duplicate. Any other event that is earlier than [Alias].NamedBy, or than the
// event that forgot the phrase, confirmed what the phrase stood for before: the error
// is [event.ErrSuperseded]. Otherwise, if the phrase stands for another name, the error
// is a [*TakenError], and if it stands for nothing, the error is [ErrNotFound].
//
// If the name is right, an event earlier than all 8 is not counted either, because
// the row cannot know whether it was counted before: Confirm returns
// [event.ErrTooOld]. So a confirmation that arrives late still counts if at most 7
// confirmations with later events have arrived already.
//
// A row that was confirmed by older versions of this package knows only the
// last event that confirmed it. For that event Confirm returns Duplicate, and
// for earlier events ErrTooOld, unless they are superseded.
//
// Price: 1 request, 2 WCU. One WCU is for the item and one is for its entry in
// the index. A refusal costs 1 WCU.
//
// Price (full): 2 requests, 3 WCU. This is for a phrase that was already
// confirmed 8 times. Each concurrent confirmation of the phrase adds 1 request
// and 1 WCU.
func (s *Store) Confirm(ctx context.Context, c Confirm) (event.Outcome, error) {
	p, err := s.teaching(c.Scope, c.Phrase, c.Name, c.Event, "")
	if err != nil {
		return 0, err
	}

	return s.write(ctx, "Confirm", p, func(r row) (expression, ddb.Item) {
		return s.counting(c, r)
	}, func(r row) (event.Outcome, error) {
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
	})
}

// counting returns the update that fits the row, and its values.
func (s *Store) counting(c Confirm, r row) (expression, ddb.Item) {
	values := ddb.Item{
		":type":  item.S(s.cfg.Prefix),
		":name":  item.S(c.Name),
		":event": item.S(c.Event.String()),
		":now":   item.Time(s.cfg.Now()),
		":one":   item.N(1),
	}
	if len(r.confirmers) < maxConfirmers {
		values[":own"] = setOf([]event.Event{c.Event})
		values[":id"] = item.B(c.Event[:])
		values[":most"] = item.N(maxConfirmers)
		return confirm, values
	}

	values[":stood"] = setOf(r.confirmers)
	values[":trimmed"] = setOf(greatest(append(slices.Clone(r.confirmers), c.Event)))
	return confirmFull, values
}

// greatest returns the greatest of the events, each once, in order.
func greatest(events []event.Event) []event.Event {
	slices.SortFunc(events, event.Event.Compare)
	events = slices.Compact(events)
	return events[max(0, len(events)-maxConfirmers):]
}
