package activity

import (
	"errors"
	"fmt"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

// ErrNotFound is returned by Retract without a Tombstone when the activity does not
// exist.
var ErrNotFound = errors.New("activity: the activity does not exist")

// ErrRetracted is an answer, not a failure: the activity, or one of its set,
// was taken back by Retract, so it is not recorded again. Trying again gives
// the same answer until the event is too old for the Retention, or the
// tombstone is deleted.
var ErrRetracted = errors.New("activity: the activity was retracted and is not recorded again")

// ConflictError means that different content is already recorded under the event:
// another classification of the same message, say. Record, RecordAll and
// RecordItems.Outcome return it, and RecordMany in an [event.LeftoverError]. What was
// recorded first stays, and while it does, trying again gives the same answer. Nothing
// was written, with the one exception that [Store.RecordAll] names: a set beside rows
// that Record has put under the same event.
type ConflictError struct {
	// Stored are the activities that are stored: from Record, the one under the
	// Event; from RecordAll, all of the event; from RecordItems.Outcome, those
	// with the event and number ([event.Event.N]) of one in the set.
	Stored []Activity
}

// Error says how many activities are stored.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("activity: the event is already recorded with different content (stored activities: %d)", len(e.Stored))
}

func (s *Store) wrap(op string, err error) error { return ddb.Wrap(pkg, op, s.table, err) }
