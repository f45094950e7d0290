package record

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/homeops/ddbpatterns/event"
)

// ApplyAll is the argument of [Rows.ApplyAll]: events of one row, and the
// change that each event makes to the row.
type ApplyAll struct {
	Method    string // as in [Apply]. Defaults to "ApplyAll"
	Partition string // made by [Key]
	Sort      string
	Events    []event.Event // in any order
	Next      Next

	// Add is for an exact [Kind], in place of Next: it returns what an event adds
	// to sums in the row, as in [Apply]. It is called once for each event.
	Add func(event.Event) map[string]int64
}

// ApplyAll applies many events to one row, such as a burst or a backlog. It sorts
// the events in ascending order, applies each event as [Rows.Apply] does, and
// writes up to 32 events at once. The outcome at index i is the outcome of
// Events[i].
//
// Bad input other than an event, or from Next, refuses the whole call with an
// [*event.InputError]. Otherwise, if some events have no outcome, the error is an
// [*event.LeftoverError]. It names each such event by its index and gives the reason:
// bad input, [event.ErrTooOld], an [*AddError], [ErrContended], or another error that
// ended the call. All other events are counted. If a write took effect and its reply
// was lost, its events may be leftovers although they are counted. So call ApplyAll
// again with the leftovers: each event counts once.
//
// A row remembers its 32 latest events. No write counts an event that the row
// would forget in the same write: if the reply is lost, the remembered events show
// that the write took effect. So if the row has n events that are later than the
// earliest event of a write, the write counts up to 32 - n events.
//
// Price: 2 requests, 1 RCU, 1 WCU. That is the price of up to 32 events that are
// later than those of the row. Each 32 more cost 1 request and 1 WCU. If no event is
// new, the call costs 1 request and 1 RCU. Lost races and rows above 1 KB cost what
// they cost in Apply.
//
// If the [Kind] is exact, one transaction counts up to 99 events, and the order of
// arrival does not matter. If some of them are counted already, ApplyAll leaves
// these out and sends the rest again. Add returns what each event adds; AtLeast is
// only for Apply, where it is clear which event it refuses.
//
// Price (ExactAdd): 1 request, 200 WCU. That is the price of 99 events: 2 WCU for
// each and 2 for the record. If some of the events are duplicates, the transaction
// costs the same, and the rest is sent again.
//
// Price (ExactNext): 2 requests, 1 RCU, 200 WCU. Each 99 more cost 1 request and
// 200 WCU.
func (r *Rows[T]) ApplyAll(ctx context.Context, a ApplyAll) ([]event.Outcome, error) {
	w := &writing[T]{Rows: r, key: keyOf(a.Partition, a.Sort), next: a.Next}
	if a.Add != nil {
		w.add = make(map[event.Event]map[string]int64, len(a.Events))
		for _, ev := range a.Events {
			w.add[ev] = a.Add(ev)
		}
	}

	if err := w.check(a.Partition, a.Sort); err != nil {
		return nil, err
	}
	if len(a.Events) == 0 {
		return nil, nil
	}

	method := cmp.Or(a.Method, "ApplyAll")
	outcomes := make([]event.Outcome, len(a.Events))
	var left []event.Leftover
	var order []int // of what is not bad input
	now := r.cfg.Now()

	for i, ev := range a.Events {
		if err := ev.Check(r.kind.Package, fmt.Sprintf("Events[%d]", i), now); err != nil {
			left = append(left, event.Leftover{Index: i, Err: err})
			continue
		}
		order = append(order, i)
	}

	slices.SortStableFunc(order, func(i, j int) int { return a.Events[i].Compare(a.Events[j]) })
	ascending := make([]event.Event, len(order))
	for n, i := range order {
		ascending[n] = a.Events[i]
	}

	answers, err := w.apply(ctx, ascending)
	for n, i := range order {
		reason := err
		if n < len(answers) {
			outcomes[i], reason = answers[n].outcome, answers[n].err
		}
		if reason != nil {
			left = append(left, event.Leftover{Index: i, Err: r.wrap(method, reason)})
		}
	}

	if left != nil {
		slices.SortFunc(left, func(a, b event.Leftover) int { return a.Index - b.Index })
		return outcomes, &event.LeftoverError{Leftovers: left}
	}
	return outcomes, nil
}
