package pattern

import (
	"context"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
)

// Observe is one event of a habit: the actor did, in the scope, what the
// name says.
type Observe struct {
	Scope string
	Actor string
	Name  string
	Event event.Event // what follows from one message counts apart by its Nth
}

// Observe counts the event into the habit once: on the weekday and into the
// hour it has in the store's zone. An event counted before, by a call whose
// reply was lost or on an earlier delivery, is [event.Duplicate]. One that is
// less than the 32 greatest of the habit is [event.ErrTooOld]: the row cannot
// tell whether it was counted. [ErrContended] leaves open whether it was.
//
// While other writers win, Observe tries again up to 15 times, with pauses that
// grow to 1.3 seconds: some 5 seconds in all, 10 at most, unless the context ends.
//
// Price: 2 requests, 1 RCU, 1 WCU. A duplicate and an event too old cost 1
// request and 1 RCU; a race lost to another writer adds 1 request and 1 WCU,
// at most 15 times. Rows above 1 KB: 1 WCU for each KB, and 1 RCU for each 4
// KB.
func (s *Store) Observe(ctx context.Context, o Observe) (event.Outcome, error) {
	if err := checkRow(o.Scope, o.Actor, o.Name); err != nil {
		return 0, err
	}
	return s.rows.Apply(ctx, record.Apply{
		Method: "Observe", Partition: partition(o.Scope, o.Actor), Sort: o.Name, Event: o.Event, Next: s.count,
	})
}

// ObserveAll is events of one habit.
type ObserveAll struct {
	Scope  string
	Actor  string
	Name   string
	Events []event.Event // in any order
}

// ObserveAll counts the events into the habit, each once, as [Store.Observe] does
// one after the other in ascending order, with up to 32 in one write: a burst or a
// backlog of one habit. It returns the outcome of each, by its index in Events.
//
// If some have no outcome the error is an [*event.LeftoverError] that names every
// one of them by its index, with its reason: bad input, [event.ErrTooOld],
// [ErrContended], or why the call ended before its turn. All others are counted.
// One whose replies were all lost may be counted too: call again with what is left
// over.
//
// A write holds no more events than the row remembers afterwards, so that it knows
// them again when its reply is lost: 32, fewer where the row has later ones.
//
// Price: 2 requests, 1 RCU, 1 WCU. For up to 32 events; 1 request and 1 WCU for
// each 32 more: 200 are 7 writes. If none is new, 1 request and 1 RCU. Where the
// row has counted n later events, a write takes 32 - n, at least 1. Races lost and
// rows above 1 KB cost what they do in Observe.
func (s *Store) ObserveAll(ctx context.Context, o ObserveAll) ([]event.Outcome, error) {
	if err := checkRow(o.Scope, o.Actor, o.Name); err != nil {
		return nil, err
	}
	return s.rows.ApplyAll(ctx, record.ApplyAll{
		Method: "ObserveAll", Partition: partition(o.Scope, o.Actor), Sort: o.Name, Events: o.Events, Next: s.count,
	})
}

// count returns what one more event changes.
func (s *Store) count(row record.Item, ev event.Event) (record.Item, error) {
	at := ev.Time()
	return count(row, s.zone.Weekday(at), s.zone.Hour(at), at)
}
