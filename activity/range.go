package activity

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Range bounds a query and orders it. The zero Range is all there is, oldest
// first.
type Range struct {
	From time.Time // the earliest that is part of it; zero is the beginning
	To   time.Time // the earliest after From that is not part of it; zero is the end

	// Match leaves out what is something else. What it leaves out is read and
	// paid for.
	Match Match

	// NewestFirst walks backwards. Activities of one millisecond have a stable
	// order, of no meaning, in either direction.
	NewestFirst bool

	// Consistent sees every write that was answered before. Only the table can
	// be read so, not its indexes: it is bad input but for InScope.
	Consistent bool

	// Limit is how many activities at most. Defaults to all there are, and on a
	// Page to 50.
	Limit int

	// ReadAtMost is how many rows are read at most, those that are left out among
	// them. A Page that it ends is short, or empty, and has a cursor; a walk ends
	// with [ErrReadAtMost] if more may follow. Defaults to as many as it takes.
	ReadAtMost int

	// Cursor is where an earlier Page of the same query ended, with the same
	// Match.
	Cursor string
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

// ids returns the least and the greatest id there can be in the period.
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

// digits returns the bounds of the times in keys by name. An older system
// wrote seconds, whose ten digits sort before the same second's milliseconds
// and after all before them: where the period starts with a second, the lower
// bound is the second's.
func (p period) digits() (lo, hi string) {
	lo, hi = fmt.Sprintf("%013d", p.from), fmt.Sprintf("%013d", p.to)
	if p.from > 0 && p.from%1000 == 0 {
		lo = lo[:10]
	}
	return lo, hi
}
