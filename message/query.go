package message

import (
	"context"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/filter"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/walk"
)

const (
	firstRows = 16   // a small first page makes an early break cheap
	mostRows  = 1024 // the most that a page asks for without a Limit
)

// part is what a method still has to read, of a scope or of an actor.
type part interface {
	empty() bool
	// request is the query for it, without its Limit and its filter.
	request() *dynamodb.QueryInput
	// behind is the part after a row, by its key.
	behind(row ddb.Item) (part, error)
	// cursor is the position after a row, by its key.
	cursor(row ddb.Item) string
}

// terms are how a part is read.
type terms struct {
	op     string
	Range  // its Limit, ReadAtMost, Cursor, Next and, for a scope, From
	filter filter.Filter
	holds  func(time.Time) bool // whether one said then is part of the answer
}

// page reads one page of the part, including expired rows, and returns what is
// left of the part behind it.
func (s *Store) page(ctx context.Context, op string, left part, rows int32, prepare func(*dynamodb.QueryInput)) (*dynamodb.QueryOutput, part, error) {
	in := left.request()
	in.Limit = aws.Int32(rows)
	prepare(in)
	out, err := s.api.Query(ctx, in)
	if err == nil && len(out.LastEvaluatedKey) > 0 {
		left, err = left.behind(out.LastEvaluatedKey)
	}
	return out, left, s.wrap(op, err)
}

// messages yields the messages of the part up to the Limit, without expired
// ones. An error comes last.
func (s *Store) messages(ctx context.Context, of part, w terms, err error) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		if err != nil {
			yield(Message{}, err)
			return
		}
		first, most := firstRows, mostRows
		if w.Limit > 0 {
			first, most = w.Limit, walk.FullPage
		}
		left := of
		walk.Walk[Message]{
			Limit: w.Limit, ReadAtMost: w.ReadAtMost, First: first, Most: most,
			Page: func(rows int32) (out *dynamodb.QueryOutput, _ int, err error) {
				if !left.empty() {
					out, left, err = s.page(ctx, w.op, left, rows, w.filter.Apply)
				}
				return out, 0, err
			},
			Show:   func(row ddb.Item) (Message, walk.Shown, error) { return s.show(w, row) },
			Cursor: w.Cursor, Next: w.Next, After: of.cursor,
		}.Each(yield)
	}
}

// show reads a row, and reports whether it is part of the answer.
func (s *Store) show(w terms, row ddb.Item) (Message, walk.Shown, error) {
	m, err := s.decode(row)
	switch {
	case err != nil:
		return Message{}, walk.Beyond, s.wrap(w.op, err)
	case !m.At.IsZero() && item.Before(m.At, w.From):
		return Message{}, walk.Beyond, nil
	case m.At.IsZero() && !w.From.IsZero(), s.expired(row), w.holds != nil && !w.holds(m.At):
		return Message{}, walk.Skipped, nil
	}
	return m, walk.Part, nil
}

// direction names the query a cursor belongs to.
func direction(query string, newestFirst bool) string {
	if newestFirst {
		return query + ".NewestFirst"
	}
	return query
}
