package verdict

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/limit"
	"github.com/homeops/ddbpatterns/record"
)

// Kind is what becomes of a delivery.
type Kind int

const (
	// Done means: delete the delivery. The error, if any, is an answer.
	Done Kind = iota
	// Poison means: move the delivery to the dead letters. Trying again now cannot
	// help, and somebody must look at it.
	Poison
	// Retry means: leave the delivery in the queue.
	Retry
)

// String is the constant's name.
func (k Kind) String() string {
	if k < Done || k > Retry {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return [...]string{"Done", "Poison", "Retry"}[k]
}

// Verdict is what an error means.
type Verdict struct {
	Kind Kind
	// Wait is how long to wait before a Retry, if the error says so.
	Wait time.Duration
	// Status is that of the HTTP response to a client that waits for the answer. To a
	// webhook's sender, which would send again after a 400, answer 503 for a Retry and
	// 200 for all else. Store a Poison before you answer 200. Do not write err.Error()
	// to the body: it names tables.
	Status int
}

// A row says what an error means. The first row that an error is decides.
type row struct {
	is func(error) bool
	Verdict
}

// kept are the errors that survive storing as the cause of a
// [*ledger.PermanentError]: it is judged by them alone.
var kept = []row{
	{is(ledger.ErrResultNotStored), Verdict{Kind: Poison, Status: http.StatusInternalServerError}},
	{as[*event.InputError], Verdict{Kind: Poison, Status: http.StatusBadRequest}},
	{is(event.ErrTooOld), Verdict{Kind: Poison, Status: http.StatusGone}},
	{is(event.ErrUnknownOutcome), Verdict{Kind: Poison, Status: http.StatusInternalServerError}},
	{is(ledger.ErrTooManyAttempts), Verdict{Kind: Poison, Status: http.StatusInternalServerError}},
	{is(ledger.ErrResultDiffers), Verdict{Kind: Poison, Status: http.StatusInternalServerError}},
	{is(ledger.ErrFingerprintMismatch), Verdict{Kind: Poison, Status: http.StatusUnprocessableEntity}},
	{is(event.ErrSuperseded), Verdict{Status: http.StatusOK}},
	{is(ledger.ErrNoResult), Verdict{Status: http.StatusOK}},
}

// known are all errors that are not trouble which may pass.
var known = append(slices.Clone(kept), []row{
	{as[*ledger.ResultError], Verdict{Kind: Poison, Status: http.StatusInternalServerError}},
	{as[*counter.WeightError], Verdict{Kind: Poison, Status: http.StatusUnprocessableEntity}},
	{is(limit.ErrSettled), Verdict{Kind: Poison, Status: http.StatusUnprocessableEntity}},
	{as[*record.AddError], Verdict{Kind: Poison, Status: http.StatusUnprocessableEntity}},
	{is(counter.ErrBelowZero), Verdict{Kind: Poison, Status: http.StatusInternalServerError}},
	{as[*alias.TakenError], Verdict{Kind: Poison, Status: http.StatusConflict}},
	{as[*record.TieError], Verdict{Kind: Poison, Status: http.StatusConflict}},   // if it stands, a repetition would be a Duplicate
	{as[*record.FloorError], Verdict{Kind: Poison, Status: http.StatusConflict}}, // what pays for it may still come

	{is(counter.ErrNotFound), Verdict{Kind: Retry, Status: http.StatusNotFound}}, // its Take may still come
	{is(activity.ErrNotFound), Verdict{Kind: Retry, Status: http.StatusNotFound}},
	{is(ledger.ErrChanged), Verdict{Kind: Retry, Status: http.StatusConflict}},
	{as[*ledger.InProgressError], Verdict{Kind: Retry, Status: http.StatusConflict}},

	{is(activity.ErrRetracted), Verdict{Status: http.StatusOK}},
	{as[*activity.ConflictError], Verdict{Status: http.StatusConflict}}, // what was recorded first stays
	{is(limit.ErrForgotten), Verdict{Status: http.StatusOK}},            // it comes back with time
	{is(counter.ErrFull), Verdict{Status: http.StatusTooManyRequests}},
	{as[*ledger.DoneError], Verdict{Status: http.StatusOK}},
	{is(ledger.ErrNotFound), Verdict{Status: http.StatusNotFound}},
	{is(alias.ErrNotFound), Verdict{Status: http.StatusNotFound}},
}...)

func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }

func as[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// Of returns what the error means. nil is Done, with status 200. An error of which Of
// knows nothing, such as DynamoDB's, is a Retry, with status 503. An
// *event.LeftoverError is judged thing by thing, and the worst decides: Retry before
// Poison before Done. Its Wait is the longest of that Kind.
//
// A *ledger.PermanentError is Poison, with status 422: the work refused the event for
// good. If its cause is an *event.InputError, or a sentinel of package event or ledger
// that survives storing, it has the verdict of that cause, except ledger.ErrLeaseLost.
// No other cause counts, because the ledger stores only the text of most: so each delivery
// of a key has the same verdict. If the ledger refused the work's result or its actions,
// the status is 500.
//
// Judge your own errors, and those that mean something else to you, before Of: for a
// deletion, activity.ErrNotFound is Done; where a refusal is the result, so is a
// *record.FloorError. If you join errors, judge each of them: Of sees only one.
func Of(err error) Verdict {
	if err == nil {
		return Verdict{Status: http.StatusOK}
	}

	if as[*ledger.PermanentError](err) {
		v := first(kept, err, Verdict{Kind: Poison, Status: http.StatusUnprocessableEntity})
		if bad, ok := errors.AsType[*event.InputError](err); ok && bad.Package == "ledger" {
			v.Status = http.StatusInternalServerError // the client did not make the actions
		}
		return v
	}

	if many, ok := errors.AsType[*event.LeftoverError](err); ok {
		return worst(many.Leftovers)
	}

	v := first(known, err, Verdict{Kind: Retry, Status: http.StatusServiceUnavailable})
	if busy, ok := errors.AsType[*ledger.InProgressError](err); ok && v.Kind == Retry {
		v.Wait = busy.Wait
	}

	return v
}

// first returns the verdict of the first row that the error is.
func first(rows []row, err error, otherwise Verdict) Verdict {
	for _, row := range rows {
		if row.is(err) {
			return row.Verdict
		}
	}
	return otherwise
}

// worst returns the verdict of many things.
func worst(leftovers []event.Leftover) Verdict {
	v := Of(nil)
	for i, leftover := range leftovers {
		switch one := Of(leftover.Err); {
		case i == 0 || one.Kind > v.Kind:
			v = one
		case one.Kind == v.Kind:
			v.Wait = max(v.Wait, one.Wait)
		}
	}
	return v
}
