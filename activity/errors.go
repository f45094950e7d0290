package activity

import (
	"errors"
	"fmt"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

// ErrNotFound is returned by Delete when no such activity stood there.
var ErrNotFound = errors.New("activity: not found")

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
