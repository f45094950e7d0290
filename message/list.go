package message

import (
	"context"
	"iter"
	"strconv"

	"github.com/homeops/ddbpatterns/event"
)

// InScope yields the messages of a scope, by sequence. An error comes last,
// with a zero Message. Messages that have expired are left out.
//
// Price: 1 request, 0.5 RCU. The first page is 16 rows, each further four
// times the one before up to 1024: 1 request and 0.5 RCU for each 4 KB; twice
// the units when Consistent. With a Limit it is priced as a page of that many.
// Expired rows that are not deleted yet are read and paid for. A break does not
// pay for pages it has not reached. What a Match leaves out is paid for like
// what it finds; Range.ReadAtMost bounds the rows of both.
func (s *Store) InScope(ctx context.Context, scope string, r Range) iter.Seq2[Message, error] {
	sp, w, err := s.span("InScope", scope, r)
	return s.each(ctx, sp, w, err)
}

// InScopePage returns a part of what [Store.InScope] yields, full unless it is
// the last, which may be empty, or ReadAtMost ended it. A cursor only says after which sequence to go
// on: it cannot leave the scope or the bounds it is given with.
//
// Price: 1 request, 0.5 RCU. A page above 4 KB costs 0.5 RCU for each, one
// above 1 MB 1 request for each; twice the units when Consistent. Expired rows
// that are not deleted yet are read and paid for, in requests that double: at most
// the Limit and twice the expired rows are read. Rows that a Match leaves out
// count as expired ones do.
func (s *Store) InScopePage(ctx context.Context, scope string, r Range) (Page, error) {
	sp, w, err := s.span("InScopePage", scope, r)
	return s.page(ctx, sp, w, err)
}

// mostRecent is the most messages that Recent returns.
const mostRecent = 1000

// Recent returns the n newest messages of a scope, at most 1000, newest first.
// It is eventually consistent: one saved this moment may be missing.
//
// Price: 1 request, 0.5 RCU. More than 4 KB cost 0.5 RCU for each, more than
// 1 MB 1 request for each. Expired rows cost as for [Store.InScopePage].
func (s *Store) Recent(ctx context.Context, scope string, n int) ([]Message, error) {
	if n < 1 || n > mostRecent {
		return nil, event.BadInput(pkg, "n", "must be 1 to "+strconv.Itoa(mostRecent))
	}
	sp, w, err := s.span("Recent", scope, Range{NewestFirst: true, Limit: n})
	page, err := s.page(ctx, sp, w, err)
	return page.Messages, err
}
