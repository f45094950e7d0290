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

var errUnreadable = errors.New("a stored item cannot be read")

func (s *Store) tooOld(op string) error {
	return s.wrap(op, fmt.Errorf("a later event has decided: %w", event.ErrTooOld))
}
