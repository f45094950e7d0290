package activity

import (
	"time"

	"github.com/homeops/ddbpatterns/record"
)

// Range bounds a list and orders it. The zero Range selects everything, oldest
// first.
type Range struct {
	From time.Time // the first moment of the range; zero for no bound
	To   time.Time // the first moment after the range; zero for no bound

	// Match selects activities. What it leaves out is still read and paid for.
	Match Match

	// NewestFirst lists the newest activities first. In either direction,
	// activities of the same millisecond have a stable order. It has no meaning,
	// except that InScope sorts those of one event by N.
	NewestFirst bool

	// With Consistent, a list sees every write that was answered before the
	// list was requested. Indexes have no consistent reads, so Consistent is
	// bad input for every list except InScope.
	Consistent bool

	// Limit is the greatest number of activities in the answer. Defaults to no
	// limit.
	Limit int

	// ReadAtMost is the greatest number of rows that are read, including rows
	// that are left out of the answer. It ends the walk without an error, and
	// only Next says whether more may follow. Defaults to no limit.
	ReadAtMost int

	// Cursor is what an earlier walk of the same list, with the same Match and the
	// same NewestFirst, wrote to Next. A cursor of another scope, actor or name is not
	// noticed: the walk goes on from its time.
	Cursor string

	// If Next is set, the walk writes to it the Cursor of a later walk that goes on:
	// after the last activity that was yielded or, if ReadAtMost or an error ended the
	// walk, after the last row that was read. If the walk found that no row follows, Next
	// is "". If the first request fails, it is Cursor. A cursor does not promise another
	// activity: to know, walk from it with a Limit of 1.
	//
	// Each loop over the walk begins at Cursor, and writes Next when it ends or is
	// left. A walk that is refused as bad input does not write it.
	//
	// You may give the cursor to clients and take it back. It never determines which
	// scope or actor is read, so even a forged one stays inside. It is not encrypted:
	// it discloses the id and the time of the row that it points to and, for ByActor,
	// the row's scope.
	Next *string
}

// Match selects the activities of a list: an activity must meet every field
// that is set. Every activity meets the zero Match.
//
// DynamoDB also reads what does not match. So the price depends on how many rows are
// read; Range.ReadAtMost bounds it. A walk by actor or by name usually costs less.
type Match struct {
	Kind  string           // the class
	Actor string           // who did it; only for lists and counts that are not by actor
	Data  []record.Compare // conditions on the activity's Data, at most 32
}
