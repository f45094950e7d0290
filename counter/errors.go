package counter

import (
	"errors"
	"fmt"

	"github.com/homeops/ddbpatterns/event"
)

var (
	// ErrFull is returned by Take and Add, and by a Refund that leaves a
	// tombstone, when the row has recorded Config.MaxRecorded events: the day's
	// count cannot be kept exact any longer. Trying again gives the same answer.
	ErrFull = errors.New("counter: row already records Config.MaxRecorded events")

	// ErrNotFound is returned by Refund and Adjust when the event is not
	// recorded: there is nothing to give back or to settle, or not yet.
	ErrNotFound = errors.New("counter: the event is not recorded")

	// ErrBelowZero is returned by Refund and Adjust when the count is less than
	// what they would give back, because somebody else has lowered it.
	ErrBelowZero = errors.New("counter: what is given back would take the count below zero")
)

// WeightError is returned by Take and Add when the event is held with another
// weight, by Refund when it is or was, and by Adjust when it is held with another
// than From or was settled to another than To. Nothing has changed.
type WeightError struct {
	Recorded int64 // stands in the row: what is held now, or was given back
	Given    int64 // by the caller
}

// Error names both weights.
func (e *WeightError) Error() string {
	return fmt.Sprintf("counter: the event is recorded with weight %d, not %d", e.Recorded, e.Given)
}

// uncounted is the error of a write that took effect, and whose count cannot be
// told. It is an [event.ErrUnknownOutcome], whose text would say less than is known.
type uncounted struct{ err error }

func (e *uncounted) Error() string {
	return "the write has taken effect, but the count after it cannot be read: " + e.err.Error()
}

func (e *uncounted) Unwrap() []error { return []error{event.ErrUnknownOutcome, e.err} }
