package verdict

import (
	"errors"
	"net/http"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/record"
)

// Kind is what becomes of a delivery.
type Kind int

const (
	// Done means: delete the delivery. The error, if any, is an answer.
	Done Kind = iota
	// Poison means: move the delivery to the dead letters. Trying again cannot help,
	// and somebody must look at it.
	Poison
	// Retry means: leave the delivery in the queue.
	Retry
)

// Verdict is what an error means.
type Verdict struct {
	Kind Kind
	// Wait is how long to wait before a Retry, if the error says so.
	Wait time.Duration
	// Status is that of the HTTP response to a client. A webhook's sender gets 503 for
	// a Retry and 200 for all else, once a Poison is stored: it would deliver again.
	Status int
}

// known are the errors that are not trouble which may pass. The first that an error
// is decides.
var known = []struct {
	is func(error) bool
	Verdict
}{
	{is(ledger.ErrResultNotStored), Verdict{Kind: Poison, Status: http.StatusInternalServerError}},
	{as[*event.InputError], Verdict{Kind: Poison, Status: http.StatusBadRequest}},
	{is(event.ErrTooOld), Verdict{Kind: Poison, Status: http.StatusGone}},
	{is(event.ErrUnknownOutcome), Verdict{Kind: Poison, Status: http.StatusInternalServerError}},
	{is(ledger.ErrTooManyAttempts), Verdict{Kind: Poison, Status: http.StatusInternalServerError}},
	{is(ledger.ErrResultDiffers), Verdict{Kind: Poison, Status: http.StatusInternalServerError}},
	{as[*ledger.ResultError], Verdict{Kind: Poison, Status: http.StatusInternalServerError}},
	{is(ledger.ErrFingerprintMismatch), Verdict{Kind: Poison, Status: http.StatusUnprocessableEntity}},
	{as[*counter.WeightError], Verdict{Kind: Poison, Status: http.StatusUnprocessableEntity}},
	{is(counter.ErrBelowZero), Verdict{Kind: Poison, Status: http.StatusInternalServerError}},
	{is(activity.ErrOthersStand), Verdict{Kind: Poison, Status: http.StatusConflict}},
	{is(activity.ErrReadAtMost), Verdict{Kind: Poison, Status: http.StatusInternalServerError}},
	{is(message.ErrReadAtMost), Verdict{Kind: Poison, Status: http.StatusInternalServerError}},
	{as[*alias.TakenError], Verdict{Kind: Poison, Status: http.StatusConflict}},
	{as[*record.AddError], Verdict{Kind: Poison, Status: http.StatusConflict}},
	{as[*record.TieError], Verdict{Kind: Poison, Status: http.StatusConflict}}, // if it stands, a repetition would be a Duplicate

	{is(counter.ErrNotFound), Verdict{Kind: Retry, Status: http.StatusNotFound}}, // its Take may still come
	{is(activity.ErrNotFound), Verdict{Kind: Retry, Status: http.StatusNotFound}},
	{is(ledger.ErrChanged), Verdict{Kind: Retry, Status: http.StatusConflict}},
	{as[*ledger.InProgressError], Verdict{Kind: Retry, Status: http.StatusConflict}},

	{is(event.ErrSuperseded), Verdict{Status: http.StatusOK}},
	{is(activity.ErrRetracted), Verdict{Status: http.StatusOK}},
	{as[*activity.ConflictError], Verdict{Status: http.StatusConflict}}, // what was recorded first stays
	{as[*record.FloorError], Verdict{Status: http.StatusConflict}},
	{is(counter.ErrFull), Verdict{Status: http.StatusTooManyRequests}},
	{as[*ledger.DoneError], Verdict{Status: http.StatusOK}},
	{is(ledger.ErrNoResult), Verdict{Status: http.StatusOK}},
	{is(ledger.ErrNotFound), Verdict{Status: http.StatusNotFound}},
	{is(alias.ErrNotFound), Verdict{Status: http.StatusNotFound}},
}

func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }

func as[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// Of returns what the error means. nil is Done, with status 200. An error of which Of
// knows nothing, such as DynamoDB's, is a Retry, with status 503. The error of a call
// that writes many things is judged thing by thing, and the worst decides: Retry
// before Poison before Done.
//
// A *ledger.PermanentError has the verdict of its cause; if that is unknown or a
// Retry, it is Poison, with status 422: the work refused the event for good. If the
// ledger refused the work's result or its actions, the status is 500.
//
// Put the errors of your own, and those that mean something else to you, before Of:
// for a deletion, activity.ErrNotFound is Done. If you join errors, judge each of them:
// of a joined error, Of sees only one.
func Of(err error) Verdict {
	if err == nil {
		return Verdict{Status: http.StatusOK}
	}
	if many, ok := errors.AsType[*event.LeftoverError](err); ok {
		worst := Of(nil)
		for i, leftover := range many.Leftovers {
			if one := Of(leftover.Err); i == 0 || one.Kind > worst.Kind {
				worst = one
			}
		}
		return worst
	}
	v := Verdict{Kind: Retry, Status: http.StatusServiceUnavailable}
	for _, row := range known {
		if row.is(err) {
			v = row.Verdict
			break
		}
	}
	if as[*ledger.PermanentError](err) && v.Kind == Retry {
		return Verdict{Kind: Poison, Status: http.StatusUnprocessableEntity}
	}
	if bad, ok := errors.AsType[*event.InputError](err); ok && bad.Package == "ledger" && as[*ledger.PermanentError](err) {
		v.Status = http.StatusInternalServerError // the client did not make the actions
	}
	if busy, ok := errors.AsType[*ledger.InProgressError](err); ok && v.Kind == Retry {
		v.Wait = busy.Wait
	}
	return v
}
