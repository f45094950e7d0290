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
// request, and 0.5 RCU for each 4 KB. Consistent doubles the RCU. Expired rows
// that are not deleted yet are read and paid for, and so are rows that a Match
// leaves out; Range.ReadAtMost bounds how many rows are read in all. If the
// caller breaks out of the loop, the remaining pages cost nothing.
//
// With a Limit, the first page has as many rows as the Limit, or 1 MB. To make
// up for rows that are left out, further requests read more rows, each request
// up to twice as many as the request before it. In all, the requests read at most
// the Limit plus twice the number of rows that they leave out.
func (s *Store) InScope(ctx context.Context, scope string, r Range) iter.Seq2[Message, error] {
	q, err := s.inScope("InScope", scope, r)
	return s.messages(ctx, q, err)
}

// ByActor yields what an actor said in all scopes, by time. Caution: a user who
// may see one scope is perhaps not allowed to see the other scopes. An error
// comes last, with a zero Message. Messages that have expired are left out.
// Without [Config].ActorIndex, the call is bad input.
//
// ByActor reads the index, which lags behind the table, normally by less than a
// second. Rows of an older system whose time is in seconds are sorted as older
// than all other rows, so a query with a From after January 1970 does not find
// them. Rows without a time are not in the index.
//
// Price: 1 request, 0.5 RCU. For more than 4 KB, see [Store.InScope].
func (s *Store) ByActor(ctx context.Context, actor string, r Range) iter.Seq2[Message, error] {
	q, err := s.byActor(actor, r)
	return s.messages(ctx, q, err)
}

// mostRecent is the most messages that Recent returns.
const mostRecent = 1000

// Recent returns the n newest messages of a scope, newest first; n must be 1 to 1000.
// It is eventually consistent: a message that was saved a moment ago may be
// missing.
//
// Price: 1 request, 0.5 RCU. More than 4 KB cost 0.5 RCU for each 4 KB, and
// more than 1 MB cost 1 request for each MB. Expired rows cost as for
// [Store.InScope] with a Limit.
func (s *Store) Recent(ctx context.Context, scope string, n int) ([]Message, error) {
	if n < 1 || n > mostRecent {
		return nil, event.BadInput(pkg, "n", "must be 1 to "+strconv.Itoa(mostRecent))
	}
	q, err := s.inScope("Recent", scope, Range{NewestFirst: true, Limit: n})
	var recent []Message
	for m, err := range s.messages(ctx, q, err) {
		if err != nil {
			return nil, err
		}
		recent = append(recent, m)
	}
	return recent, nil
}
