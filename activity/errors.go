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
// What was first recorded stands. Trying again gives the same answer while it
// stands.
//
// Nothing was written, with one exception: where a RecordAll stands beside other
// rows of its event, its repetition finds those too and is told so, although its
// own rows stand: see [Store.RecordAll]. Stored then holds them.
type ConflictError struct {
	Stored []Activity // what stands
}

// Error says how many activities stand.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("activity: event already recorded with different content (%d stored)", len(e.Stored))
}

// Leftover is an activity of which RecordMany cannot say that it is recorded.
type Leftover struct {
	Index int // in the slice that RecordMany was given
	Err   error
}

// LeftoverError is returned by RecordMany. It names every activity without an
// outcome, with the reason; all others are recorded. One whose replies were
// all lost may be recorded too: to record it again is safe and tells.
type LeftoverError struct {
	Left []Leftover // by Index
}

// Error says how many are left over and gives the reason of each.
func (e *LeftoverError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "activity: %d left over", len(e.Left))
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
