package activity

import (
	"errors"
	"fmt"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

// ErrNotFound is returned by Delete, DeleteEvent and Retract when the activity
// does not exist.
var ErrNotFound = errors.New("activity: not found")

// ErrRetracted is an answer, not a failure: the activity was taken back by
// Retract, so it is not recorded again. Trying again gives the same answer.
var ErrRetracted = errors.New("activity: retracted")

// ErrOthersStand is returned by Delete of Nth(1), the activity under the event
// itself, while other activities of the event exist: the row of Nth(1) guards
// them. DeleteEvent removes all of them.
var ErrOthersStand = errors.New("activity: the first activity of an event cannot be deleted before the others: DeleteEvent removes all")

// errChanged ends a deletion whose rows had changed each time.
var errChanged = errors.New("the rows changed meanwhile: try again")

// ErrReadAtMost ends a walk that has read as many rows as Range.ReadAtMost
// allows, if more rows may follow. A Page returns a cursor instead of this
// error.
var ErrReadAtMost = errors.New("activity: ReadAtMost rows were read, and more may follow")

// ConflictError is returned by Record and RecordAll when different content is
// recorded under the event: another classification of the same message, say.
// What was recorded first stays. While it exists, trying again gives the same
// answer.
//
// Nothing was written, with one exception. Suppose that RecordAll has recorded
// a set, and that Record has put other rows under the same event. Then
// repeating the RecordAll is a conflict, although the set is recorded: Stored
// has the set and the other rows. See [Store.RecordAll].
type ConflictError struct {
	Stored []Activity // what is stored
}

// Error says how many activities are stored.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("activity: event already recorded with different content (%d stored)", len(e.Stored))
}

func (s *Store) wrap(op string, err error) error { return ddb.Wrap(pkg, op, s.table, err) }
