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
	// activities of the same millisecond have a stable order, but this order
	// has no meaning.
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

	// Cursor is what an earlier walk wrote to Next. It must be a walk of the
	// same list, with the same Match and the same NewestFirst. A cursor of another
	// scope, actor or name is not noticed: the walk goes on from its time.
	Cursor string

	// Next, if set, is where the walk writes the Cursor of a later walk that
	// goes on: after the last activity that was yielded or, if ReadAtMost or an
	// error ended the walk, after the last row that was read. It is "" after the
	// last row. (If the first request fails, it is Cursor.) A cursor does not
	// promise another activity. To know, walk from it with a Limit of 1, as
	// Latest of examples/cookbook does. (A Limit of 11 for a page of ten would put
	// Next behind the eleventh.)
	//
	// The walk writes Next when it ends or the loop is left. A walk that nobody
	// loops over, or that is refused as bad input, does not write it. Each loop
	// over the same walk begins at Cursor, and writes Next again.
	//
	// You may give the cursor to clients and take it back. It holds only a
	// position: it never determines which scope or actor is read, so even a
	// forged cursor cannot make a list read outside its scope or actor. It is
	// not encrypted: it discloses the id and the time of that activity or row
	// and, for ByActor, its scope. If that row has a name of an older system
	// which only looks like the Name of the list, it discloses the end of that
	// name.
	Next *string
}

// Match selects the activities of a list: an activity must meet every field
// that is set. Every activity meets the zero Match.
//
// DynamoDB also reads the activities that do not match, and leaves them out of
// its answer. So the price of a list depends on how many rows are read, not on
// how many match; Range.ReadAtMost bounds how many are read. If a walk by actor
// or by name can answer the question, that walk usually costs less.
type Match struct {
	Kind  string           // the class
	Actor string           // who did it; only for lists and counts that are not by actor
	Data  []record.Compare // conditions on the activity's Data, at most 32
}
