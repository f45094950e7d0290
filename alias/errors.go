package alias

import (
	"errors"
	"fmt"

	"github.com/homeops/ddbpatterns/event"
)

// ErrNotFound is returned by [Store.Confirm] and [Store.Forget] for a phrase
// that stands for nothing. Forget has noted its event all the same.
var ErrNotFound = errors.New("alias: the phrase stands for nothing")

// TakenError says that the phrase stands for another name: [Store.Put] does
// not take it away and [Store.Confirm] does not count for it. [Store.Correct]
// changes it.
type TakenError struct {
	Owner string // the name the phrase stands for
}

// Error does not tell the owner: names may be people's.
func (e *TakenError) Error() string { return "alias: the phrase stands for another name" }

// LeftoverError says which seeds [Store.Seed] could not write.
type LeftoverError struct {
	Leftovers []Leftover // by phrase
}

// Leftover is a seed that was not written, and why.
type Leftover struct {
	Phrase string // as it was given
	Name   string
	Err    error
}

// Error tells how many there are, and why the first is one.
func (e *LeftoverError) Error() string {
	return fmt.Sprintf("alias: Seed left over %d phrases, the first for: %v", len(e.Leftovers), e.Leftovers[0].Err)
}

// Unwrap gives each leftover's reason to errors.Is and errors.As.
func (e *LeftoverError) Unwrap() []error {
	reasons := make([]error, len(e.Leftovers))
	for i, leftover := range e.Leftovers {
		reasons[i] = leftover.Err
	}
	return reasons
}

func tooOld(op string) error {
	return fmt.Errorf("alias: %s: a later event has decided: %w", op, event.ErrTooOld)
}
