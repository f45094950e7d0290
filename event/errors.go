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
type InputError struct {
	Package string // the package that refused it
	Field   string // the argument or field at fault
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
