package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// attempts bounds the tries of one write. Pauses between them begin at
// firstPause and double up to 0.64 seconds, on average: together they last 5.1
// seconds on average, and 10.3 at most.
const (
	attempts   = 16
	firstPause = 5 * time.Millisecond
)

// Next computes what an event changes in a row. It returns new values for some
// of the record's own attributes. A nil value removes its attribute. An
// attribute that Next does not return stays as it is. Next must not change the
// Item that it is given, which is empty if the row does not exist yet. Next may
// be called several times before one of its results is written.
type Next func(row Item, ev event.Event) (Item, error)

// Apply is the argument of [Rows.Apply]: an event, and the change that the
// event makes to a row.
type Apply struct {
	// Method is the name of the method in error texts. Defaults to "Apply".
	Method string

	Partition string // made by [Key]
	Sort      string
	Event     event.Event // to count several things of one event, give each of them its own event.Event.Nth
	Next      Next
}

// ApplyAll is the argument of [Rows.ApplyAll]: events of one row, and the
// change that each event makes to the row.
type ApplyAll struct {
	Method    string // as in [Apply]. Defaults to "ApplyAll"
	Partition string // made by [Key]
	Sort      string
	Events    []event.Event // in any order
	Next      Next
}

// Apply counts the event once in the row, and writes the changes that Next
// computes. If the row remembers the event, Apply answers [event.Duplicate]: an
// earlier delivery of the event, or an attempt whose reply was lost, has
// counted it. If the event is earlier than the 32 latest events of the row, the
// error is [event.ErrTooOld], because the row cannot tell whether the event was
// counted. After the error [ErrContended], the event may have been counted or
// not.
//
// Each time another writer changes the row first, Apply tries again, up to 15
// times. The pauses between the tries grow up to 1.3 seconds. Together the pauses
// last some 5 seconds, and at most 10.3. Apply stops earlier if the context ends.
//
// Price: 2 requests, 1 RCU, 1 WCU. A duplicate, or an event that is too old,
// costs 1 request and 1 RCU. Each race lost to another writer adds 1 request
// and 1 WCU, at most 15 times. A row above 1 KB costs 1 WCU for each KB and 1
// RCU for each 4 KB.
func (r *Rows[T]) Apply(ctx context.Context, a Apply) (event.Outcome, error) {
	if err := r.checkApply(a.Partition, a.Sort, a.Next); err != nil {
		return 0, err
	}
	if err := a.Event.Check(r.kind.Package, "Event", r.cfg.Now()); err != nil {
		return 0, err
	}
	method := cmp.Or(a.Method, "Apply")
	answers, err := r.apply(ctx, keyOf(a.Partition, a.Sort), []event.Event{a.Event}, a.Next)
	if err != nil {
		return 0, r.wrap(method, err)
	}
	return answers[0].outcome, r.wrap(method, answers[0].err)
}

// ApplyAll applies many events to one row, such as a burst or a backlog. It sorts
// the events in ascending order, applies each event as [Rows.Apply] does, and
// writes up to 32 events at once. The outcome at index i is the outcome of
// Events[i].
//
// Bad input other than an event refuses the whole call with an
// [*event.InputError]. Otherwise, if some events have no outcome, the error is an
// [*event.LeftoverError]. It names each such event by its index and gives the
// reason: bad input, [event.ErrTooOld], [ErrContended], or another error that
// ended the call. All other events are counted. If a write took effect and its
// reply was lost, its events may be leftovers although they are counted. So call
// ApplyAll again with the leftovers: each event counts once.
//
// A row remembers its 32 latest events. ApplyAll counts no event in a write
// that the row would forget in the same write: if the reply is lost, the
// remembered events show that the write took effect. So one write counts up to
// 32 events, minus the number of events in the row that are later than the
// earliest event of the write: if 10 are later, up to 22.
//
// Price: 2 requests, 1 RCU, 1 WCU. That is the price of up to 32 events. Each 32
// more cost 1 request and 1 WCU. If no event is new, the call costs 1 request and
// 1 RCU. If the row has counted n later events, one write counts 32 - n events, at
// least 1. Lost races and rows above 1 KB cost what they cost in Apply.
func (r *Rows[T]) ApplyAll(ctx context.Context, a ApplyAll) ([]event.Outcome, error) {
	if err := r.checkApply(a.Partition, a.Sort, a.Next); err != nil {
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
	answers, err := r.apply(ctx, keyOf(a.Partition, a.Sort), ascending, a.Next)
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

func (r *Rows[T]) checkApply(partition, sort string, next Next) error {
	if r.kind.Count == "" {
		return event.BadInput(r.kind.Package, "Kind.Count", "must be set for Apply: rows without a count are for Set")
	}
	if next == nil {
		return event.BadInput(r.kind.Package, "Next", "must not be nil")
	}
	return r.checkKey(partition, sort)
}

// answer is what a row says to one event.
type answer struct {
	outcome event.Outcome
	err     error // ErrTooOld
}

// apply applies the events, which are in ascending order, and answers each.
// After an error the last of them have no answer.
func (r *Rows[T]) apply(ctx context.Context, key Item, events []event.Event, next Next) ([]answer, error) {
	if len(events) == 0 {
		return nil, nil
	}
	row, err := r.read(ctx, key, true)
	if err != nil {
		return nil, err
	}
	all := make([]answer, 0, len(events))
	for len(all) < len(events) {
		step, err := r.write(ctx, key, row, events[len(all):], next)
		if err != nil {
			return all, err
		}
		all, row = append(all, step.answers...), step.becomes
	}
	return all, nil
}

// write applies as many of the events as one write can. The row is as it was
// read, or as the previous write left it.
func (r *Rows[T]) write(ctx context.Context, key, row Item, events []event.Event, next Next) (step, error) {
	var lost error      // what the last attempt met
	var before []answer // to the events less than those of the last attempt
	for try := 0; ; try++ {
		s, err := r.step(key, row, events[len(before):], next)
		if err != nil {
			return step{}, err
		}
		// They are final: the write may make the row forget these events.
		before = append(before, s.answers[:s.lead]...)
		if len(before) > 0 {
			s.answers = append(slices.Clone(before), s.answers[s.lead:]...)
		}
		if s.taken == 0 {
			return s, nil
		}
		// The row has been looked at before giving up: it may hold the events,
		// by an attempt whose reply was lost.
		if lost != nil {
			if err := giveUp(ctx, try, lost); err != nil {
				return step{}, err
			}
		}
		if lost = r.update(ctx, key, row, s); lost == nil {
			return s, nil
		}
		stands, refused := ddb.Refused(lost)
		switch {
		case refused:
			row = stands
		case !ddb.Conflict(lost): // a conflict wrote nothing and told nothing: the same again
			return step{}, lost
		}
	}
}

// giveUp pauses before the next attempt, or returns why there is not another.
func giveUp(ctx context.Context, try int, lost error) error {
	if try == attempts {
		return fmt.Errorf("%w (%d attempts): %w", ErrContended, attempts, lost)
	}
	if stopped := ddb.Pause(ctx, firstPause, try-1); stopped != nil {
		return fmt.Errorf("%w, while waiting to try again after: %w", stopped, lost)
	}
	return nil
}

// step is one write: the row after it, and its answers to the first of the
// events.
type step struct {
	answers []answer
	lead    int  // answers before the first event that it counts
	taken   int  // events that it counts
	becomes Item // the row after it; of one event no more than what the package keeps
	own     Item // what it changes of the record's own
}

// step looks at one event after the other, in ascending order, until a write that
// counts them would not remember the first of them: the next write counts the rest.
func (r *Rows[T]) step(key, row Item, events []event.Event, next Next) (step, error) {
	ring, version, count, err := r.standing(row)
	if err != nil {
		return step{}, err
	}
	s := step{becomes: row}
	var least event.Event // of those counted
	for _, ev := range events {
		grown, outcome, err := ring.Add(ev)
		switch {
		case err == nil && outcome == event.Duplicate:
			s.answers = append(s.answers, answer{outcome: outcome})
			continue
		case errors.Is(err, event.ErrTooOld):
			s.answers = append(s.answers, answer{err: fmt.Errorf("the event is earlier than the %d latest events of the row: %w", RingSize, err)})
			continue
		case err != nil:
			return step{}, err
		case s.taken == 0:
			least, s.lead = ev, len(s.answers)
		case ring.drops(least):
			return s, nil
		}
		changed, err := next(s.becomes, ev)
		if err != nil {
			return step{}, err
		}
		ring, count = grown, count+1
		if err := r.checkOwn(changed); err != nil {
			return step{}, fmt.Errorf("Next %w", err)
		}
		if len(events) == 1 { // nobody asks what else is in the row
			s.own, s.becomes = changed, make(Item, 8)
		} else {
			if s.own == nil {
				s.own = Item{}
			}
			maps.Copy(s.own, changed)
			s.becomes = merged(s.becomes, changed)
			maps.Copy(s.becomes, key)
		}
		s.becomes[attrType] = item.S(r.kind.Type)
		s.becomes[attrVersion] = item.N(version + 1)
		s.becomes[attrRecent] = item.B(ring)
		s.becomes[attrUpdatedAt] = item.Time(r.cfg.Now())
		s.becomes[r.kind.Count] = item.N(count)
		s.taken, s.answers = s.taken+1, append(s.answers, answer{outcome: outcome})
	}
	return s, nil
}

// standing reads the attributes that the package keeps in the row.
func (r *Rows[T]) standing(row Item) (ring Ring, version, count int64, err error) {
	if ring, err = item.Bytes(row, attrRecent); err != nil {
		return nil, 0, 0, err
	}
	if version, err = item.Int(row, attrVersion); err != nil {
		return nil, 0, 0, err
	}
	count, err = item.Int(row, r.kind.Count)
	return ring, version, count, err
}

// merged returns a copy of the row with the changes in it.
func merged(row, changes Item) Item {
	next := make(Item, len(row)+len(changes)+8)
	maps.Copy(next, row)
	for attribute, value := range changes {
		if value == nil {
			delete(next, attribute)
		} else {
			next[attribute] = value
		}
	}
	return next
}

// checkOwn refuses attributes that the package keeps.
func (r *Rows[T]) checkOwn(changes Item) error {
	for attribute := range changes {
		if reserved(attribute) || attribute == r.kind.Count {
			return fmt.Errorf("must not set attribute %s, which package record keeps", attribute)
		}
	}
	return nil
}
