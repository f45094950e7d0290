package activity

import (
	"errors"
	"fmt"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

// ErrNotFound is returned by Delete and Retract when the activity does not
// exist, and by DeleteEvent when the event has no rows.
var ErrNotFound = errors.New("activity: not found")

// ErrRetracted is an answer, not a failure: the activity was taken back by
// Retract, so it is not recorded again. Trying again gives the same answer.
var ErrRetracted = errors.New("activity: the activity was retracted and is not recorded again")

// ErrOthersStand is returned by Delete if it is called for the activity under
// Nth(1) while other activities of the same event exist, because the row of
// Nth(1) guards the others. DeleteEvent removes all activities of the event.
var ErrOthersStand = errors.New("activity: the first activity of an event cannot be deleted before the others; DeleteEvent deletes all of them")

// errChanged ends a deletion whose rows had changed each time.
var errChanged = errors.New("the rows changed meanwhile: try again")

// ErrReadAtMost ends a walk that has read as many rows as Range.ReadAtMost
// allows, if more rows may follow. A Page returns a cursor instead of this
// error.
var ErrReadAtMost = errors.New("activity: as many rows as ReadAtMost allows were read, and more may follow")

// ConflictError is returned by Record, RecordAll and RecordItems.Outcome when
// different content is already recorded under the event: another classification
// of the same message, say. What was recorded first stays. While that content
// is stored, trying again gives the same answer.
//
// Nothing was written, with one exception. Suppose that RecordAll has recorded
// a set, and that Record has put other rows under the same event. Then a
// repeated RecordAll of the set returns a ConflictError, although the set is
// recorded: Stored has the set and the other rows. See [Store.RecordAll].
type ConflictError struct {
	Stored []Activity // the activities that are stored
}

// Error says how many activities are stored.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("activity: the event is already recorded with different content (stored activities: %d)", len(e.Stored))
}

func (s *Store) wrap(op string, err error) error { return ddb.Wrap(pkg, op, s.table, err) }
