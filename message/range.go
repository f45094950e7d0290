package message

import (
	"context"
	"iter"
	"math"
	"strconv"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/cursor"
)

// Range says which messages of a scope.
type Range struct {
	// FromSeq and ToSeq bound the sequence, both included. 0 is no bound.
	FromSeq, ToSeq int64

	// Since ends the messages before the first that was said earlier. It needs
	// NewestFirst: the key has no time, so the way to a time leads back from
	// the newest. It relies on times rising with the sequence.
	Since time.Time

	NewestFirst bool

	// Consistent sees all that was saved before, at twice the price.
	Consistent bool
}

// A small first page makes an early break cheap.
const (
	firstRows = 16
	growth    = 4
)

// span checks the range and returns what it spans.
func (s *Store) span(op, scope string, r Range) (span, error) {
	if err := check.PartitionKey(pkg, "scope", scope); err != nil {
		return span{}, err
	}
	if r.FromSeq < 0 || r.ToSeq < 0 {
		return span{}, event.BadInput(pkg, "Range", "must have positive bounds")
	}
	if !r.Since.IsZero() && !r.NewestFirst {
		return span{}, event.BadInput(pkg, "Since", "needs NewestFirst: the key has no time")
	}
	sp := span{op: op, scope: scope, from: max(1, r.FromSeq), to: r.ToSeq, newestFirst: r.NewestFirst, consistent: r.Consistent}
	if r.ToSeq == 0 {
		sp.to = math.MaxInt64
	}
	return sp, nil
}

// InScope yields the messages of a scope, by sequence. An error comes last,
// with a zero Message. Messages that have expired are left out.
//
// Price: 1 request, 0.5 RCU. The first page is 16 rows, each further four
// times the one before up to 1024: 1 request and 0.5 RCU for each 4 KB; twice
// the units when Consistent. A break does not pay for pages it has not reached.
func (s *Store) InScope(ctx context.Context, scope string, r Range) iter.Seq2[Message, error] {
	sp, err := s.span("InScope", scope, r)
	if err != nil {
		return func(yield func(Message, error) bool) { yield(Message{}, err) }
	}
	return s.messages(ctx, sp, r.Since, firstRows, growth)
}

// PageRequest asks for a part of a [Range].
type PageRequest struct {
	Range
	// Limit is the most messages on the page. Defaults to 100; at most 1000.
	Limit int
	// Cursor is that of the page before; "" for the first.
	Cursor string
}

// Page is a part of a [Range].
type Page struct {
	Messages []Message
	// Cursor is for the next page; "" when there is none. It holds the
	// sequence of this page's last message, readable by anyone, and nothing
	// else.
	Cursor string
}

const (
	standardLimit = 100
	mostLimit     = 1000
)

// InScopePage returns a page of the messages of a scope, full unless it is the
// last, which may be empty. A cursor only says after which sequence to go on:
// it cannot leave the scope or the bounds it is given with.
//
// Price: 1 request, 0.5 RCU. A page above 4 KB costs 0.5 RCU for each, one
// above 1 MB 1 request for each; twice the units when Consistent.
func (s *Store) InScopePage(ctx context.Context, scope string, p PageRequest) (Page, error) {
	if p.Limit == 0 {
		p.Limit = standardLimit
	}
	if err := checkLimit("Limit", p.Limit); err != nil {
		return Page{}, err
	}
	sp, err := s.span("InScopePage", scope, p.Range)
	if err != nil {
		return Page{}, err
	}
	if p.Cursor != "" {
		seq, err := readCursor(p.Cursor, p.NewestFirst)
		if err != nil {
			return Page{}, err
		}
		sp = sp.after(seq)
	}
	messages, err := s.first(ctx, sp, p.Since, p.Limit)
	if err != nil {
		return Page{}, err
	}
	page := Page{Messages: messages}
	if len(messages) == p.Limit {
		page.Cursor = writeCursor(messages[p.Limit-1].Seq, p.NewestFirst)
	}
	return page, nil
}

// Recent returns the n newest messages of a scope, at most 1000, newest first.
// It is eventually consistent: one saved this moment may be missing.
//
// Price: 1 request, 0.5 RCU. More than 4 KB cost 0.5 RCU for each, more than
// 1 MB 1 request for each.
func (s *Store) Recent(ctx context.Context, scope string, n int) ([]Message, error) {
	if err := checkLimit("n", n); err != nil {
		return nil, err
	}
	sp, err := s.span("Recent", scope, Range{NewestFirst: true})
	if err != nil {
		return nil, err
	}
	return s.first(ctx, sp, time.Time{}, n)
}

func checkLimit(field string, n int) error {
	if n < 1 || n > mostLimit {
		return event.BadInput(pkg, field, "must be 1 to "+strconv.Itoa(mostLimit))
	}
	return nil
}

// first returns the first n messages of the span.
func (s *Store) first(ctx context.Context, sp span, since time.Time, n int) ([]Message, error) {
	var messages []Message
	for m, err := range s.messages(ctx, sp, since, n, 1) {
		if err != nil {
			return nil, err
		}
		if messages = append(messages, m); len(messages) == n {
			break
		}
	}
	return messages, nil
}

// direction names the query a cursor belongs to.
func direction(newestFirst bool) string {
	if newestFirst {
		return "message.InScope.NewestFirst"
	}
	return "message.InScope"
}

func writeCursor(seq int64, newestFirst bool) string {
	return cursor.Encode(direction(newestFirst), []string{strconv.FormatInt(seq, 10)})
}

func readCursor(text string, newestFirst bool) (int64, error) {
	position, err := cursor.Decode(pkg, direction(newestFirst), text, 1)
	if err != nil {
		return 0, err
	}
	seq, err := strconv.ParseInt(position[0], 10, 64)
	if err != nil {
		return 0, event.BadInput(pkg, "Cursor", "holds no position of this query")
	}
	return seq, nil
}
