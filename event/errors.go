package event

import (
	"errors"
	"fmt"
)

var (
	// ErrTooOld means that the event comes too late to be judged. The row of
	// the event may have expired, or has counted many later events. So the
	// store no longer knows whether it has counted the event, and might count
	// it twice. From FastConversation of package message, it means that rows
	// that the answer needs may have expired. Trying again gives the same
	// error. The store may never have counted the event: if each event matters,
	// somebody must look.
	ErrTooOld = errors.New("event: too old to judge")

	// ErrSuperseded means that this event or a later one has already decided what
	// this call would decide, such as the status of a charge or the name of a
	// phrase. It is an answer: the row needs nothing more from this event. A step
	// of yours that follows from the event may still be to do, as after a
	// Duplicate. Trying again gives the same error.
	ErrSuperseded = errors.New("event: superseded by a later event")

	// ErrUnknownOutcome means that a write may or may not have taken effect,
	// for example because its reply was lost. AddUnkeyed of package counter
	// must not be repeated then: it may count twice. MarkSeen and DoTx of package
	// ledger may be repeated: MarkSeen answers Duplicate if the key was marked, and
	// DoTx replays the stored result. From any other method of package counter, the
	// error means that the write took effect and the count after it cannot be read.
	ErrUnknownOutcome = errors.New("event: unknown outcome: the write may or may not have taken effect")
)

// InputError is the error for bad input in every package of this library. A call
// returns it before it sends any request, with two exceptions. Package ledger: if the
// work, its result or its actions were refused as bad input, Do, DoTx and every replay
// return that InputError after requests. Package record: a Next that sets an attribute
// which the package keeps is refused after the read. Trying again cannot help, except
// for an event or a time that is too far ahead: it becomes valid with time, see
// [MaxAhead]. With one errors.As a worker separates bad input from failures that it can
// try again:
//
//	var bad *event.InputError
//	if errors.As(err, &bad) { … } // to the dead letters
//
// If the call writes many things, look for a [*LeftoverError] first: it may hold
// bad input for one thing and other errors for other things.
type InputError struct {
	Package string // the package that refused the input
	Field   string // the parameter or struct field at fault, such as Scope or Range.Limit
	Reason  string // what is wrong with the field, without personal data
}

// Error names the package, the field and the reason.
func (e *InputError) Error() string {
	return fmt.Sprintf("%s: %s %s", e.Package, e.Field, e.Reason)
}

// BadInput returns an [*InputError]. The reason continues a sentence that
// begins with the field's name, such as "must not be empty".
func BadInput(pkg, field, reason string) error {
	return &InputError{Package: pkg, Field: field, Reason: reason}
}

// LeftoverError is the error of a call that writes many things and goes on if
// one of them fails, such as RecordMany of package activity and Seed of package
// alias. It names each thing that the call could not write, with the reason.
// Nothing else failed. If only the reply was lost, a leftover may have
// been written after all. Call again with the leftovers, or with everything,
// because each write is safe to repeat.
//
// Judge each [Leftover].Err by itself: errors.Is and errors.As of the
// LeftoverError search the errors of all leftovers. One leftover may be bad
// input, and the others may succeed when they are tried again.
type LeftoverError struct {
	// Leftovers are sorted by Index or, if the call was given a map, by Key.
	Leftovers []Leftover
}

// Leftover is one thing that a call could not write, and the reason.
type Leftover struct {
	// Index is the thing's place in the slice that the call was given.
	Index int
	// Key is the thing's key in the map that the call was given. If the call was
	// given a slice, Key is "".
	Key string
	Err error
}

// Error returns the first reason and the number of leftovers. It leaves out
// their keys, because keys may be personal data.
func (e *LeftoverError) Error() string {
	switch len(e.Leftovers) {
	case 0:
		return "event: nothing is left over"
	case 1:
		return fmt.Sprintf("%v (1 left over)", e.Leftovers[0].Err)
	}
	return fmt.Sprintf("%v (the first of %d left over)", e.Leftovers[0].Err, len(e.Leftovers))
}

// Unwrap returns the reasons, for errors.Is and errors.As.
func (e *LeftoverError) Unwrap() []error {
	reasons := make([]error, len(e.Leftovers))
	for i, leftover := range e.Leftovers {
		reasons[i] = leftover.Err
	}
	return reasons
}
