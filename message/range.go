package message

import (
	"time"

	"github.com/homeops/ddbpatterns/event"
)

// Range bounds a query of a scope and orders it. The zero Range is all there
// is, by rising sequence.
type Range struct {
	// FromSeq and ToSeq bound the sequence, both included. 0 means no bound.
	FromSeq, ToSeq int64

	// Since ends the messages before the first that was said earlier. It needs
	// NewestFirst: the key has no time, so the way to a time leads back from
	// the newest. It relies on times rising with the sequence.
	Since time.Time

	// Match leaves out what is something else. What it leaves out is read and
	// paid for.
	Match Match

	// NewestFirst walks backwards.
	NewestFirst bool

	// Consistent sees all that was saved before, at twice the price.
	Consistent bool

	// Limit is how many messages at most. Defaults to all there are, and on a
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
	switch {
	case r.FromSeq < 0:
		return event.BadInput(pkg, "Range.FromSeq", "must not be negative")
	case r.ToSeq < 0:
		return event.BadInput(pkg, "Range.ToSeq", "must not be negative")
	case !r.Since.IsZero() && !r.NewestFirst:
		return event.BadInput(pkg, "Range.Since", "needs NewestFirst: the key has no time")
	case r.Limit < 0:
		return event.BadInput(pkg, "Range.Limit", "must not be negative")
	case r.ReadAtMost < 0:
		return event.BadInput(pkg, "Range.ReadAtMost", "must not be negative")
	}
	return nil
}
