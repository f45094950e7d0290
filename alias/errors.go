package alias

import (
	"errors"
	"fmt"

	"github.com/homeops/ddbpatterns/event"
)

// ErrNotFound is returned by [Store.Confirm] and [Store.Forget] for a phrase
// that does not stand for a name. Forget has noted its event all the same. If a
// later event forgot the phrase, the error is [event.ErrSuperseded] instead. A
// repeated Forget is a Duplicate.
var ErrNotFound = errors.New("alias: the phrase does not stand for a name")

// TakenError means that the phrase stands for another name: [Store.Put] does
// not change that name, and [Store.Confirm] does not count the confirmation.
// [Store.Correct] changes the name if its event is later than [Alias].NamedBy; a
// Correct by that event returns this error.
type TakenError struct {
	Owner string // the name that the phrase stands for
}

// Error does not show the owner: a name may be personal data.
func (e *TakenError) Error() string { return "alias: the phrase stands for another name" }

// superseded is the answer to an event if this event or a later one has decided
// what the phrase stands for.
func (s *Store) superseded(op string) error {
	return s.wrap(op, fmt.Errorf("this event or a later one has already named or forgotten the phrase: %w", event.ErrSuperseded))
}

// tooOld is the answer to a confirmation that the row may have counted and no
// longer remembers.
func (s *Store) tooOld(op string) error {
	return s.wrap(op, fmt.Errorf("later confirmations are counted, and the row cannot know whether this one was counted before: %w", event.ErrTooOld))
}
