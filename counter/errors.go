package counter

import (
	"errors"
	"fmt"

	"github.com/homeops/ddbpatterns/event"
)

var (
	// ErrFull means that the row has recorded Config.MaxRecorded events, and the
	// event is not one of them. Take, TakeAll, Add, a Refund that would leave a
	// tombstone, and the Outcome of a TakeItem return it. If the cap has no room
	// either, a take is refused instead. Calling again helps only after
	// Config.MaxRecorded is raised.
	ErrFull = errors.New("counter: the row already records Config.MaxRecorded events")

	// ErrNotFound is returned by Adjust, by Refund without Tombstone, and by the
	// Outcome of their items, when the event is not recorded, or not yet: there is
	// nothing to settle or to give back.
	ErrNotFound = errors.New("counter: the event is not recorded")

	// ErrBelowZero is returned by Refund, Adjust, and the Outcome of their items when
	// the count is less than the weight to give back, because another system has
	// lowered the count.
	ErrBelowZero = errors.New("counter: the count is less than what is to be given back")
)

// WeightError is returned when the row and the caller have different weights
// for the event. The call has changed nothing. These are compared with the row:
//
//   - Take, TakeAll and Add: Weight, unless the event was settled or refunded.
//   - Refund: Weight, always.
//   - Adjust: From while the event is held, To after it was settled, and nothing
//     after it was refunded.
type WeightError struct {
	Recorded int64 // the weight in the row: what the event holds, or held before its refund, or the tombstone's
	Given    int64 // the caller's weight
}

// Error names both weights.
func (e *WeightError) Error() string {
	return fmt.Sprintf("counter: the event is recorded with weight %d, not %d", e.Recorded, e.Given)
}

// uncounted is the error of a write that took effect and whose count cannot be
// read. It is an [event.ErrUnknownOutcome] with a more exact text.
type uncounted struct{ err error }

func (e *uncounted) Error() string {
	return "the write has taken effect, but the count after it cannot be read: " + e.err.Error()
}

func (e *uncounted) Unwrap() []error { return []error{event.ErrUnknownOutcome, e.err} }
