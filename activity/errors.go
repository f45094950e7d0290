package activity

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNotFound is returned by Delete when no such activity stood there.
var ErrNotFound = errors.New("activity: not found")

// ConflictError is returned by Record and RecordAll when the event has
// recorded something else: another classification of the same message, say.
// What was first stands, and nothing was written. Trying again gives the same
// answer.
type ConflictError struct {
	Stored []Activity // what stands
}

// Error says how many activities stand.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("activity: the event has recorded otherwise before: %d stored stand", len(e.Stored))
}

// Leftover is an activity that RecordMany could not record.
type Leftover struct {
	Index int // in the slice that RecordMany was given
	Err   error
}

// LeftoverError is returned by RecordMany. It names every activity that was
// not recorded, with its reason; all others were.
type LeftoverError struct {
	Left []Leftover // by Index
}

// Error says how many are left over and gives the reason of each.
func (e *LeftoverError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "activity: %d not recorded", len(e.Left))
	for _, left := range e.Left {
		fmt.Fprintf(&b, "; [%d]: %v", left.Index, left.Err)
	}
	return b.String()
}

// Unwrap returns the reasons, for errors.Is and errors.As.
func (e *LeftoverError) Unwrap() []error {
	errs := make([]error, len(e.Left))
	for i, left := range e.Left {
		errs[i] = left.Err
	}
	return errs
}
