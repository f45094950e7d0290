package activity

import (
	"errors"
	"fmt"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

// ErrNotFound is returned by Delete, DeleteEvent and Retract when no such
// activity stood there.
var ErrNotFound = errors.New("activity: not found")

// ErrRetracted is an answer, not trouble: the activity was taken back by
// Retract, so it is not recorded again. Trying again gives the same answer.
var ErrRetracted = errors.New("activity: retracted")

// ErrOthersStand is returned by Delete of the activity under the event itself,
// Nth(1), while others of the event stand: its row guards them. DeleteEvent
// removes them all.
var ErrOthersStand = errors.New("activity: others of the event stand, which its first guards: DeleteEvent removes them all")

// errChanged ends a deletion that met other rows each time it looked.
var errChanged = errors.New("the rows were written anew meanwhile: try again")

// ErrReadAtMost is the last that a walk yields when it has read as many rows as
// Range.ReadAtMost allows and more may follow. A Page has a cursor instead.
var ErrReadAtMost = errors.New("activity: as many rows were read as ReadAtMost allows")

// ConflictError is returned by Record and RecordAll when the event has
// recorded something else: another classification of the same message, say.
// What was first recorded stands. Trying again gives the same answer while it
// stands.
//
// Nothing was written, with one exception: where a RecordAll stands beside other
// rows of its event, its repetition finds those too and is told so, although its
// own rows stand: see [Store.RecordAll]. Stored then holds them.
type ConflictError struct {
	Stored []Activity // what stands
}

// Error says how many activities stand.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("activity: event already recorded with different content (%d stored)", len(e.Stored))
}

func (s *Store) wrap(op string, err error) error { return ddb.Wrap(pkg, op, s.table, err) }
