package message

import (
	"math"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
)

// Range bounds a query and orders it. The zero Range is all there is, by
// rising sequence.
type Range struct {
	// FromSeq and ToSeq bound the sequence, both included. 0 means no bound.
	FromSeq, ToSeq int64

	// Since ends the messages before the first that was said earlier. It needs
	// NewestFirst: the key has no time, so the way to a time leads back from
	// the newest. It relies on times rising with the sequence.
	Since time.Time

	// NewestFirst walks backwards.
	NewestFirst bool

	// Consistent sees all that was saved before, at twice the price.
	Consistent bool

	// Limit is how many messages at most. Defaults to all there are, and on a
	// Page to 50.
	Limit int

	// Cursor is where an earlier Page of the same query ended.
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
	}
	return nil
}

// span checks the range and returns what it spans behind its cursor.
func (s *Store) span(op, scope string, r Range) (span, error) {
	if err := check.PartitionKey(pkg, "scope", scope); err != nil {
		return span{}, err
	}
	if err := r.check(); err != nil {
		return span{}, err
	}
	sp := span{op: op, scope: scope, from: max(1, r.FromSeq), to: r.ToSeq, newestFirst: r.NewestFirst, consistent: r.Consistent}
	if r.ToSeq == 0 {
		sp.to = math.MaxInt64
	}
	if r.Cursor == "" {
		return sp, nil
	}
	seq, err := readCursor(r.Cursor, r.NewestFirst)
	return sp.after(seq), err
}
