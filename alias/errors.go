package alias

import (
	"errors"
	"fmt"

	"github.com/homeops/ddbpatterns/event"
)

// ErrNotFound is returned by [Store.Confirm] and [Store.Forget] for a phrase
// that does not stand for a name. Forget has noted its event all the same. If a
// later event forgot the phrase, the error is [event.ErrTooOld] instead.
var ErrNotFound = errors.New("alias: the phrase does not stand for a name")

// TakenError means that the phrase stands for another name: [Store.Put] does
// not change that name, and [Store.Confirm] does not count the confirmation.
// [Store.Correct] changes the name if its event is later than [Alias].NamedBy.
type TakenError struct {
	Owner string // the name that the phrase stands for
}

// Error does not show the owner: a name may be personal data.
func (e *TakenError) Error() string { return "alias: the phrase stands for another name" }

var errUnreadable = errors.New("a stored item cannot be read")

func (s *Store) tooOld(op string) error {
	return s.wrap(op, fmt.Errorf("a later event has already changed the row of the phrase: %w", event.ErrTooOld))
}
