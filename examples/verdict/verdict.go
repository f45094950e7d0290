// Package verdict sorts the errors of this library by what a queue's worker does with
// the delivery. Copy it, and add the errors of your own.
package verdict

import (
	"errors"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/record"
)

// A Verdict is what becomes of a delivery.
type Verdict int

const (
	Done   Verdict = iota // delete it: the error, if any, is an answer
	Poison                // to the dead letters: trying again cannot help
	Retry                 // leave it in the queue
)

// answers are errors that stay as they are, and need nobody's attention.
var answers = []error{event.ErrSuperseded, event.ErrTooOld, activity.ErrRetracted, counter.ErrFull, ledger.ErrNoResult}

// poison are errors that stay as they are, and that somebody should look at.
var poison = []error{ledger.ErrTooManyAttempts, ledger.ErrFingerprintMismatch}

// Of judges the error of a delivery. A Retry with a wait is made visible again
// after that, any other when the queue says.
func Of(err error) (v Verdict, wait time.Duration) {
	if many, ok := errors.AsType[*event.LeftoverError](err); ok { // one may be poison and another trouble
		for _, leftover := range many.Leftovers {
			one, _ := Of(leftover.Err)
			v = max(v, one)
		}
		return v, 0
	}
	if busy, ok := errors.AsType[*ledger.InProgressError](err); ok {
		return Retry, busy.Wait
	}
	switch _, bad := errors.AsType[*event.InputError](err); {
	case err == nil || among(answers, err):
		return Done, 0
	case bad || among(poison, err):
		return Poison, 0
	}
	if _, differs := errors.AsType[*activity.ConflictError](err); differs { // what was recorded first stands
		return Done, 0
	}
	_, refused := errors.AsType[*ledger.PermanentError](err) // the work said so
	_, misfit := errors.AsType[*ledger.ResultError](err)     // done, with a result of another type
	_, tie := errors.AsType[*record.TieError](err)           // if it stands, a repetition would be a Duplicate
	if refused || misfit || tie {
		return Poison, 0
	}
	return Retry, 0
}

// among reports whether the error is one of these.
func among(these []error, err error) bool {
	for _, one := range these {
		if errors.Is(err, one) {
			return true
		}
	}
	return false
}
