package pattern

import (
	"context"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
)

// Observe is one event of a habit. For example, the actor "customer-42" did
// what the name "order" says, in the scope of one shop.
type Observe struct {
	Scope string
	Actor string
	Name  string
	Event event.Event // to count several things of one message, use event.Event.Nth for each
}

// Observe counts the event once in the habit: on the weekday and in the hour of
// the event's time in the store's zone. If the habit remembers the event,
// Observe answers [event.Duplicate]: an earlier delivery or a call whose reply
// was lost has counted it. If the event is earlier than the 32 latest events of
// the habit, the error is [event.ErrTooOld], because the row cannot tell
// whether the event was counted. After the error [ErrContended] the event may
// have been counted or not.
//
// If another writer changes the row first, Observe tries again, up to 15 times.
// The pauses between the tries grow to 1.3 seconds. Together they last some 5
// seconds, and at most 10.3. Observe stops earlier if the context ends.
//
// Price: 2 requests, 1 RCU, 1 WCU. A duplicate, or an event that is too old, costs 1
// request and 1 RCU. Each race lost to another writer adds 1 request and 1 WCU. From
// the second on, each also adds a read of the row: 1 request and 1 RCU. A row above 1
// KB costs 1 WCU for each KB and 1 RCU for each 4 KB.
func (s *Store) Observe(ctx context.Context, o Observe) (event.Outcome, error) {
	if err := checkRow(o.Scope, o.Actor, o.Name); err != nil {
		return 0, err
	}
	return s.rows.Apply(ctx, record.Apply{
		Method: "Observe", Partition: partition(o.Scope, o.Actor), Sort: o.Name, Event: o.Event, Next: s.count,
	})
}

// ObserveAll is several events of one habit.
type ObserveAll struct {
	Scope  string
	Actor  string
	Name   string
	Events []event.Event // in any order
}

// ObserveAll counts many events into one habit, such as a burst or a backlog. It
// sorts the events in ascending order, counts each event once, as [Store.Observe]
// does, and writes up to 32 events at once. The outcome at index i is that of
// Events[i].
//
// Bad input other than an event refuses the whole call with an
// [*event.InputError]. Otherwise, if some events have no outcome, the error is an
// [*event.LeftoverError]. It names each such event by its index and gives the
// reason: bad input, [event.ErrTooOld], [ErrContended], or another error that
// ended the call. All other events are counted. If a write took effect and all its
// replies were lost, its events may be leftovers although they are counted. So
// call ObserveAll again with the leftovers: each event counts once.
//
// A row remembers its 32 latest events, and one write counts only events that the row
// still remembers after it: if the reply is lost, they show that the write took effect.
// So one write counts up to 32 events, minus the number of events in the row that are
// later than the earliest event of the write: if 10 are later, up to 22.
//
// Price: 2 requests, 1 RCU, 1 WCU. That is the price of up to 32 events. Each 32
// more cost 1 request and 1 WCU: 200 events are 7 writes. If no event is new, the
// call costs 1 request and 1 RCU. If the row has counted n later events, one write
// counts 32 - n events, at least 1. Lost races and rows above 1 KB cost what they
// cost in Observe.
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
