package event

import (
	"errors"
	"fmt"
)

var (
	// ErrTooOld is an answer, not trouble: the event lies beyond the horizon in
	// which the store can tell whether it was counted, so it is refused rather
	// than perhaps counted twice. Trying again gives the same answer.
	ErrTooOld = errors.New("event: too old to judge")

	// ErrUnknownOutcome is returned by writes that must not be repeated when
	// their reply was lost, or could not be read: the write may or may not have
	// taken effect.
	ErrUnknownOutcome = errors.New("event: unknown outcome: the write may or may not have taken effect")
)

// InputError is bad input, the same type in every package of this library. It
// is raised before any request is sent. Trying again cannot help, but for an
// event too far ahead, which time brings nearer: see [MaxAhead]. A worker
// tells poison from trouble with one errors.As:
//
//	var bad *event.InputError
//	if errors.As(err, &bad) { … } // to the dead letters
//
// Of a call that writes many things look for a [*LeftoverError] first: it may hold
// bad input of one thing beside trouble with the others.
type InputError struct {
	Package string // the package that refused it
	Field   string // the parameter at fault, or the field of a struct: Scope, Range.Limit
	Reason  string // what is wrong with it, without personal data
}

// Error names the package, the field and the reason.
func (e *InputError) Error() string {
	return fmt.Sprintf("%s: %s %s", e.Package, e.Field, e.Reason)
}

// BadInput returns an [*InputError]. The reason reads on from the field's
// name: "must not be empty".
func BadInput(pkg, field, reason string) error {
	return &InputError{Package: pkg, Field: field, Reason: reason}
}

// LeftoverError is returned by calls that write many things and go on past
// failures, such as RecordMany of package activity and Seed of package alias. It
// names everything of which the call cannot say that it stands, with the reason;
// all the rest stands. What is left over may stand too, where a reply was lost.
// Call again with it, or with everything: each write is safe to repeat.
//
// Judge each [Leftover].Err by itself: errors.Is and errors.As find what any of
// them is, and one may be poison while the others will do when tried again.
type LeftoverError struct {
	Leftovers []Leftover // in the order of Index or, of a map, by Key
}

// Leftover is what a call could not write, and why.
type Leftover struct {
	Index int    // in the slice that was given
	Key   string // of the map that was given; "" if it was a slice
	Err   error
}

// Error gives the first reason, and how many things are left over. It tells no
// keys: they may be personal data.
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
