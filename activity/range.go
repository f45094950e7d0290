package activity

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/item"
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

// check refuses an invalid range.
func (r Range) check() error {
	if r.Limit < 0 {
		return event.BadInput(pkg, "Range.Limit", "must not be negative")
	}
	if r.ReadAtMost < 0 {
		return event.BadInput(pkg, "Range.ReadAtMost", "must not be negative")
	}
	if !r.From.IsZero() && !r.To.IsZero() && item.Before(r.To, r.From) {
		return event.BadInput(pkg, "Range.To", "lies before From")
	}
	return nil
}

// period is a Range's times in whole milliseconds, both part of it.
type period struct{ from, to int64 }

func periodOf(from, to time.Time) period {
	p := period{0, maxMillis}
	if !from.IsZero() {
		p.from = max(p.from, item.CeilMillis(from))
	}
	if !to.IsZero() {
		p.to = min(p.to, item.CeilMillis(to)-1)
	}
	return p
}

func (p period) empty() bool { return p.from > p.to }

func (p period) holds(t time.Time) bool { return p.from <= t.UnixMilli() && t.UnixMilli() <= p.to }

// ids returns the least and the greatest possible id in the period.
func (p period) ids() (lo, hi string) { return idAt(p.from, 0x00), idAt(p.to, 0xff) }

func idAt(ms int64, fill byte) string {
	var id event.Event
	for i := range id {
		id[i] = fill
	}
	binary.BigEndian.PutUint16(id[0:], uint16(ms>>32))
	binary.BigEndian.PutUint32(id[2:], uint32(ms))
	return id.String()
}

// numbers returns the bounds of the timestamps in the period.
func (p period) numbers() (lo, hi string) {
	return strconv.FormatInt(p.from, 10), strconv.FormatInt(p.to, 10)
}

// digits returns the bounds of the times in keys by name. An older system wrote
// seconds. Their ten digits sort just before the milliseconds of the same
// second: if the period starts with a whole second, the lower bound is that
// second's.
func (p period) digits() (lo, hi string) {
	lo, hi = fmt.Sprintf("%013d", p.from), fmt.Sprintf("%013d", p.to)
	if p.from > 0 && p.from%1000 == 0 {
		lo = lo[:10]
	}
	return lo, hi
}
