package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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
	patience   = 2 // tries after whose pauses the row is still computed from as it stood
)

// Next computes what an event changes in a row. It returns new values for some
// of the record's own attributes. A nil value removes its attribute. An attribute
// that Next does not return stays as it is; if it returns a nil Item, the event
// counts and all stay. Next must not change the Item that it is given, which is
// empty if the row does not exist yet. Next may be called several times before one
// of its results is written.
type Next func(row Item, ev event.Event) (Item, error)

// Apply is the argument of [Rows.Apply] and [Rows.ApplyItem]: an event, and the
// change that the event makes to a row.
type Apply struct {
	// Method is the name of the method in error texts. Defaults to the one called.
	Method string

	Partition string // made by [Key]
	Sort      string
	Event     event.Event // to count several things of one event, give each of them its own event.Event.Nth
	Next      Next

	// Add is for an exact [Kind], in place of Next. It has what the event adds to
	// sums in the row, by the attribute of each sum: at most 50 of Kind.Attributes.
	// A number is from -1E15 to 1E15, and not 0. A negative one takes away. A sum that
	// does not exist counts as 0. Add needs no read, and writers of one row do not
	// lose races to each other. The event's row remembers the numbers: see
	// [*AddError].
	Add map[string]int64

	// AtLeast is the least that a sum in Add may become. If it would become less,
	// the event is not counted, and the error is a [*FloorError].
	AtLeast map[string]int64
}

// Apply counts the event once in the row, and writes the changes that Next
// computes. If the row remembers the event, Apply answers [event.Duplicate]: an
// earlier delivery of the event, or an attempt whose reply was lost, has
// counted it. If the event is earlier than the 32 latest events of the row, the
// error is [event.ErrTooOld], because the row cannot tell whether the event was
// counted. After the error [ErrContended], the event may have been counted or
// not.
//
// If the [Kind] is exact, give either Next or Add. Apply writes a row for the event in
// the same transaction: it sends TransactWriteItems, where other Kinds send UpdateItem.
// An event is then [event.Duplicate] only if another call has counted it. It is
// [event.ErrTooOld] only from Kind.Retention after it happened, less Config.MaxSkew,
// and Apply then sends no request. With Add, AtLeast may refuse the event with a
// [*FloorError]. If the event is counted already and added something else, the error is
// an [*AddError]. A row that a Kind without a Retention has written is refused with an
// error, because it does not say which events it has counted.
//
// Each time another writer changes the row first, Apply tries again, up to 15
// times. The pauses between the tries grow up to 1.3 seconds. Together the pauses
// last some 5 seconds, and at most 10.3. Apply stops earlier if the context ends.
//
// Price: 2 requests, 1 RCU, 1 WCU. A duplicate, or an event that is too old, costs
// 1 request and 1 RCU. Each race lost to another writer adds 1 request and 1 WCU, at
// most 15 times. From the second on, it also adds a read of the row. A row above
// 1 KB costs 1 WCU for each KB and 1 RCU for each 4 KB.
//
// Price (ExactAdd): 1 request, 4 WCU. A duplicate, or an event that AtLeast
// refuses, costs the same. Each conflict with another transaction adds as much. A
// record or an event's row above 1 KB costs 2 WCU for each KB.
//
// Price (ExactNext): 2 requests, 1 RCU, 4 WCU. A duplicate costs the same. Each
// conflict or lost race adds 1 request and 4 WCU. From the second on, a lost race
// also adds a read of the row.
func (r *Rows[T]) Apply(ctx context.Context, a Apply) (event.Outcome, error) {
	w, err := r.one(a)
	if err != nil {
		return 0, err
	}
	method := cmp.Or(a.Method, "Apply")
	answers, err := w.apply(ctx, []event.Event{a.Event})
	if err != nil {
		return 0, r.wrap(method, err)
	}
	return answers[0].outcome, r.wrap(method, answers[0].err)
}

// one checks the argument, and returns the write that it asks for.
func (r *Rows[T]) one(a Apply) (*writing[T], error) {
	w := &writing[T]{Rows: r, key: keyOf(a.Partition, a.Sort), next: a.Next, atLeast: a.AtLeast}
	if len(a.Add) > 0 {
		w.add = map[event.Event]map[string]int64{a.Event: a.Add}
	}
	if err := w.check(a.Partition, a.Sort); err != nil {
		return nil, err
	}
	return w, a.Event.Check(r.kind.Package, "Event", r.cfg.Now())
}

// answer is what a row says to one event.
type answer struct {
	outcome event.Outcome
	err     error // ErrTooOld, or an AddError
}

// writing is a call that counts events in one row. It has either next or add.
type writing[T any] struct {
	*Rows[T]
	key     Item
	next    Next
	add     map[event.Event]map[string]int64
	atLeast map[string]int64
}

func (w *writing[T]) check(partition, sort string) error {
	pkg := w.kind.Package
	switch {
	case w.kind.Count == "":
		return event.BadInput(pkg, "Kind.Count", "must be set for Apply: rows without a count are for Set")
	case w.kind.exact() && w.next != nil && w.add != nil:
		return event.BadInput(pkg, "Add", "must not be set beside Next")
	case !w.kind.exact() && w.add != nil:
		return event.BadInput(pkg, "Add", "must not be set if the Kind has no Retention: use Next")
	case w.next == nil && w.add == nil:
		return event.BadInput(pkg, "Next", "must be set or, if the Kind has a Retention, Add with at least one sum")
	}

	if w.add == nil && len(w.atLeast) > 0 {
		return event.BadInput(pkg, "AtLeast", "must not be set without Add")
	}
	if err := w.checkKey(partition, sort); err != nil || !w.kind.exact() {
		return err
	}

	return w.checkSums(partition, sort)
}

// apply applies the events, which are in ascending order, and answers each.
// After an error the last of them have no answer.
func (w *writing[T]) apply(ctx context.Context, events []event.Event) ([]answer, error) {
	switch {
	case len(events) == 0:
		return nil, nil
	case w.kind.exact():
		return w.exactly(ctx, events)
	}
	return w.ringed(ctx, events)
}

// ringed is apply for rows that remember their latest events.
func (w *writing[T]) ringed(ctx context.Context, events []event.Event) ([]answer, error) {
	row, err := w.read(ctx, w.key, true)
	if err != nil {
		return nil, err
	}

	all := make([]answer, 0, len(events))
	for len(all) < len(events) {
		step, err := w.writeStep(ctx, row, events[len(all):])
		if err != nil {
			return all, err
		}
		all, row = append(all, step.answers...), step.becomes
	}

	return all, nil
}

// writeStep applies as many of the events as one write can. The row is as it was
// read, or as the previous write left it.
func (w *writing[T]) writeStep(ctx context.Context, row Item, events []event.Event) (step, error) {
	var lost error      // what the last attempt met
	var before []answer // to the events less than those of the last attempt
	for try := 0; ; try++ {
		s, err := w.step(row, events[len(before):])
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
			if _, refused := ddb.Refused(lost); refused && try >= patience {
				// The row may have changed in the pause.
				if row, err = w.read(ctx, w.key, true); err != nil {
					return step{}, err
				}
				lost, try = nil, try-1
				continue
			}
		}

		if _, lost = w.api.UpdateItem(ctx, w.counting(row, s)); lost == nil {
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
func (w *writing[T]) step(row Item, events []event.Event) (step, error) {
	ring, version, count, err := w.standing(row)
	if err != nil {
		return step{}, err
	}

	s := step{becomes: row, own: Item{}}
	var least event.Event // of those counted
	for _, ev := range events {
		grown, outcome, err := ring.Add(ev)
		switch {
		case err == nil && outcome == event.Duplicate:
			s.answers = append(s.answers, answer{outcome: outcome})
			continue
		case errors.Is(err, event.ErrTooOld):
			s.answers = append(s.answers, answer{err: fmt.Errorf("the event is earlier than the %d latest events of the row: %w", ringSize, err)})
			continue
		case err != nil:
			return step{}, err
		case s.taken == 0:
			least, s.lead = ev, len(s.answers)
		case ring.drops(least):
			return s, nil
		}

		ring, count = grown, count+1
		if err := w.compute(&s, ev, version, count, len(events) == 1); err != nil {
			return step{}, err
		}
		s.becomes[attrRecent] = item.B(ring)
		s.answers = append(s.answers, answer{outcome: outcome})
	}

	return s, nil
}

// compute adds one more event to the step: what Next changes, and what the package
// keeps in the row. If the event is the only one, nobody asks what else is in the row.
func (w *writing[T]) compute(s *step, ev event.Event, version, count int64, only bool) error {
	changed, err := w.next(s.becomes, ev)
	if err != nil {
		return err
	}
	if err := w.checkOwn(changed); err != nil {
		return event.BadInput(w.kind.Package, "Next", err.Error())
	}

	s.taken++
	if only {
		s.own, s.becomes = changed, make(Item, 8)
	} else {
		maps.Copy(s.own, changed)
		s.becomes = merged(s.becomes, changed)
		maps.Copy(s.becomes, w.key)
	}

	s.becomes[attrType] = item.S(w.kind.Type)
	s.becomes[attrVersion] = item.N(version + 1)
	s.becomes[attrUpdatedAt] = item.Time(w.cfg.Now())
	s.becomes[w.kind.Count] = item.N(count)
	return nil
}

// standing reads the attributes that the package keeps in the row.
func (r *Rows[T]) standing(row Item) (ring counted, version, count int64, err error) {
	f := Read(row)
	version, count = f.Int(attrVersion), f.Int(r.kind.Count)
	ring, err = item.Bytes(row, attrRecent)
	return ring, version, count, cmp.Or(err, f.Err())
}

// merged returns a copy of the row with the changes in it: a nil value removes.
func merged(row, changes Item) Item {
	next := make(Item, len(row)+len(changes)+8)
	maps.Copy(next, row)
	maps.Copy(next, changes)
	maps.DeleteFunc(next, func(_ string, value types.AttributeValue) bool { return value == nil })
	return next
}

// checkOwn refuses attributes that the package keeps.
func (r *Rows[T]) checkOwn(changes Item) error {
	for attribute := range changes {
		if r.kind.keeps(attribute) {
			return fmt.Errorf("must not set attribute %s, which package record keeps", attribute)
		}
	}
	return nil
}
