package counter

import (
	"errors"
	"fmt"

	"github.com/homeops/ddbpatterns/event"
)

var (
	// ErrFull is returned by Take and Add, and by a Refund that leaves a
	// tombstone, when the row has recorded Config.MaxRecorded events and the
	// event is not one of them. If the cap has no room either, Take answers
	// with a refusal instead. Calling again does not help unless
	// Config.MaxRecorded is raised.
	ErrFull = errors.New("counter: the row already records Config.MaxRecorded events")

	// ErrNotFound is returned by Adjust, and by Refund without Tombstone, when
	// the event is not recorded, or not recorded yet: so there is nothing to
	// give back or to settle.
	ErrNotFound = errors.New("counter: the event is not recorded")

	// ErrBelowZero is returned by Refund and Adjust when the count is less than
	// the weight to give back, because another system has lowered the count.
	ErrBelowZero = errors.New("counter: the count is less than what is to be given back")
)

// WeightError is returned when the row and the caller have different weights
// for the event. The call has changed nothing. Take and Add compare their
// Weight with the weight that the event holds, unless it was settled or
// refunded. Refund compares its Weight with the weight that the event holds or
// held before its refund, or with the Weight of the Refund that left a
// tombstone. Adjust compares From with the weight that the event holds or, if
// the event was already settled, To with the weight that it was settled to; if
// the event was refunded, it compares nothing.
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
