package record

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Set is the argument of [Rows.Set]: an event, and the values that the event
// gives to a row.
type Set struct {
	// Method is the name of the method in error texts. Defaults to "Set".
	Method string

	Partition string // made by [Key]
	Sort      string
	Event     event.Event

	// Rank is the order of events of the same millisecond, from 0 to 999: the
	// greatest Rank wins. Many senders give times in whole seconds, so an order
	// may be pending, settled and reversed at the same time: give these statuses
	// the ranks 0, 1 and 2. Events that follow from one event (event.Event.Nth)
	// have one time, so they need ranks, too.
	Rank int

	// Values are at least one of [Kind].Attributes. All others of
	// Kind.Attributes are removed from the row, and so is one with a nil value.
	Values Item
}

const maxRank = 999

// A later event wins. Events sort as their marks do.
const (
	setLatest = "SET #type = :type, #event = :event, #updatedAt = :updatedAt"
	ifLater   = "attribute_not_exists(#event) OR #event < :event"
)

// Set replaces the record's own attributes in the row with the values, unless a later
// event has set the row already. So the event that happened last wins, in whatever
// order the events arrive, and the row holds what this event gave and nothing of the
// others. Set needs no read, because the values do not depend on the row. It has no
// form as an item of a transaction.
//
// Events are compared by time, to the millisecond, and by Rank. If both are
// equal, their identities decide, in an order that is stable and arbitrary: the
// row is the same in the end for every order of arrival, and nobody knows
// whether it is right. If the two events gave different values, the one that
// arrives second gets a [*TieError]. If that one stands, it gets [event.Created]
// together with the error. If the values are the same, there is no error: an event that
// does not stand gets [event.Duplicate]. An event that comes again with other values
// under the same Rank gets the error, too, and its first values stand.
//
// Ranks cannot express that a status comes back: of settled, reversed and settled
// again in one second, reversed stays.
//
// If this event was the last to set the row, Set answers [event.Duplicate]: an
// earlier delivery of the event, or an attempt whose reply was lost, has set the
// row. So an event that stands gets its TieError only once: if the reply was lost,
// or the caller died before it noted the tie, the repetition says nothing of the tie.
// If it comes again with a greater Rank, it sets the row anew. If a later event
// has set the row, the error is [event.ErrSuperseded], and the row needs nothing
// more. A step that follows from the event, such as a message to a queue, is still
// to be done after a Duplicate and after ErrSuperseded, because the caller may
// have died before it. Bad input is an [*event.InputError], also if the [Kind] has
// no Attributes.
//
// Price: 1 request, 1 WCU. A duplicate, a tie or a superseded event costs the
// same. A row above 1 KB costs 1 WCU for each KB.
func (r *Rows[T]) Set(ctx context.Context, s Set) (event.Outcome, error) {
	now := r.cfg.Now()
	if err := r.checkSet(s, now); err != nil {
		return 0, err
	}

	own := make(Item, len(r.kind.Attributes))
	for _, attribute := range r.kind.Attributes {
		own[attribute] = s.Values[attribute]
	}

	mark := markOf(s.Event, s.Rank)
	names := item.NamesIn(setLatest, ifLater)
	values := Item{":type": item.S(r.kind.Type), ":event": item.S(mark), ":updatedAt": item.Time(now)}
	in := r.request(keyOf(s.Partition, s.Sort), withOwn(setLatest, own, names, values), ifLater, names, values)
	in.ReturnValues = types.ReturnValueAllOld

	// The other row is the one that this event replaced, or that refused it.
	other, refused, err := ddb.Update(ctx, r.api.UpdateItem, in)
	method := cmp.Or(s.Method, "Set")
	if err != nil {
		return 0, r.wrap(method, err)
	}

	out, err := answerSet(mark, own, other, refused)
	return out, r.wrap(method, err)
}

// answerSet is the answer to an event. The other row is the one that the event
// replaced or that refused it. A moment is a time and a rank.
func answerSet(mark string, own, other Item, refused bool) (event.Outcome, error) {
	moment, ev := parts(mark)
	otherMoment, otherEvent := parts(item.Text(other, attrEvent))
	out := event.Created
	if refused {
		out = event.Duplicate
	}

	switch {
	case moment == otherMoment && sameValues(own, other): // perhaps a tie, but nothing is lost
		return out, nil
	case ev == otherEvent && moment != otherMoment: // the same event, with another rank
		return out, nil
	case moment == otherMoment && refused:
		return 0, &TieError{}
	case moment == otherMoment:
		return out, &TieError{Stands: true}
	case refused:
		return 0, fmt.Errorf("a later event has set the row: %w", event.ErrSuperseded)
	}
	return out, nil
}

func (r *Rows[T]) checkSet(s Set, now time.Time) error {
	pkg := r.kind.Package
	switch {
	case r.kind.Count != "":
		return event.BadInput(pkg, "Kind.Count", "must be empty for Set, which does not count events")
	case len(r.kind.Attributes) == 0:
		return event.BadInput(pkg, "Kind.Attributes", "must not be empty for Set: it removes those that an event does not give")
	case s.Rank < 0 || s.Rank > maxRank:
		return event.BadInput(pkg, "Rank", fmt.Sprintf("must be 0 to %d, is %d", maxRank, s.Rank))
	case len(s.Values) == 0:
		return event.BadInput(pkg, "Values", "must not be empty: to remove an attribute, give it a nil value")
	}

	for attribute, value := range s.Values {
		if value != nil && check.NotNil(pkg, "Values", value) != nil {
			return event.BadInput(pkg, "Values", fmt.Sprintf("must not give a nil pointer for %s: give nil to remove it", attribute))
		}
		if !slices.Contains(r.kind.Attributes, attribute) {
			return event.BadInput(pkg, "Values", fmt.Sprintf("must not give %s, which is not one of Kind.Attributes", attribute))
		}
	}

	return cmp.Or(r.checkKey(s.Partition, s.Sort), s.Event.Check(pkg, "Event", now))
}
