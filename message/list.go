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
// Price: 1 request, 0.5 RCU. The first page has 16 rows, and each further page
// has four times as many rows as the page before, up to 1024. A page costs 1
// request, and 0.5 RCU for each 4 KB. Consistent doubles the RCU. With a Limit,
// the price is that of [Store.InScopePage]. Expired rows that are not deleted
// yet are read and paid for, and so are rows that a Match leaves out;
// Range.ReadAtMost bounds how many rows are read in all. If the caller breaks
// out of the loop, the remaining pages cost nothing.
func (s *Store) InScope(ctx context.Context, scope string, r Range) iter.Seq2[Message, error] {
	sp, w, err := s.span("InScope", scope, r)
	return s.each(ctx, sp, w, err)
}

// InScopePage returns a part of what [Store.InScope] yields. A page is full,
// unless it is the last (which may be empty) or ReadAtMost ended it. A cursor
// contains only the sequence after which the next page begins: it cannot reach
// messages outside the scope and bounds of the query.
//
// Price: 1 request, 0.5 RCU. A page above 4 KB costs 0.5 RCU for each 4 KB, and a
// page above 1 MB costs 1 request for each MB. Consistent doubles the RCU.
// Expired rows that are not deleted yet are read and paid for, and so are rows
// that a Match leaves out. To fill the page, further requests read more rows,
// each request up to twice as many as the request before it. In all, the requests
// read at most the Limit plus twice the number of rows that they leave out.
func (s *Store) InScopePage(ctx context.Context, scope string, r Range) (Page, error) {
	sp, w, err := s.span("InScopePage", scope, r)
	return s.page(ctx, sp, w, err)
}

// mostRecent is the most messages that Recent returns.
const mostRecent = 1000

// Recent returns the n newest messages of a scope, at most 1000, newest first.
// It is eventually consistent: a message that was saved a moment ago may be
// missing.
//
// Price: 1 request, 0.5 RCU. More than 4 KB cost 0.5 RCU for each 4 KB, and
// more than 1 MB cost 1 request for each MB. Expired rows cost as for
// [Store.InScopePage].
func (s *Store) Recent(ctx context.Context, scope string, n int) ([]Message, error) {
	if n < 1 || n > mostRecent {
		return nil, event.BadInput(pkg, "n", "must be 1 to "+strconv.Itoa(mostRecent))
	}
	sp, w, err := s.span("Recent", scope, Range{NewestFirst: true, Limit: n})
	page, err := s.page(ctx, sp, w, err)
	return page.Messages, err
}
