package message

import (
	"context"
	"iter"
	"math"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/filter"
	"github.com/homeops/ddbpatterns/internal/item"
)

const (
	firstRows = 16      // a small first page makes an early break cheap
	growth    = 4       // each further page of a walk is so many times the one before
	mostRows  = 1024    // the most a growing page asks for
	fullPage  = 1 << 14 // the most any page asks for: no more rows fit into the 1 MB that DynamoDB reads at once
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

// walk is how a part is read.
type walk struct {
	op         string
	limit      int // messages; 0 is every one
	readAtMost int // rows; 0 is as many as it takes
	filter     filter.Filter

	since time.Time            // ends at the first message said before it
	holds func(time.Time) bool // whether one said then is part of the answer
}

// pages yields the rows of the part, including expired ones. next returns how
// many rows to ask for after a page of so many; 0 ends it. An error comes last.
func (s *Store) pages(ctx context.Context, op string, left part, first int, next func(rows int) int, prepare func(*dynamodb.QueryInput)) iter.Seq2[*dynamodb.QueryOutput, error] {
	return func(yield func(*dynamodb.QueryOutput, error) bool) {
		for rows := first; rows > 0 && !left.empty(); rows = next(rows) {
			in := left.request()
			in.Limit = aws.Int32(int32(rows))
			prepare(in)
			out, err := s.api.Query(ctx, in)
			if err != nil {
				yield(nil, s.wrap(op, err))
				return
			}
			if !yield(out, nil) || len(out.LastEvaluatedKey) == 0 {
				return
			}
			if left, err = left.behind(out.LastEvaluatedKey); err != nil {
				yield(nil, s.wrap(op, err))
				return
			}
		}
	}
}

// growing makes each page so many times the one before.
func growing(times int) func(rows int) int {
	return func(rows int) int { return max(rows, min(times*rows, mostRows)) }
}

// budget is what a walk may still read, and what it still lacks.
type budget struct {
	lacks   int // messages to the Limit
	skipped int // rows that were not part of the answer
	left    int // rows to ReadAtMost
	limited bool
}

func (w walk) budget() *budget {
	b := &budget{lacks: math.MaxInt, left: math.MaxInt, limited: w.limit > 0}
	if b.limited {
		b.lacks = w.limit
	}
	if w.readAtMost > 0 {
		b.left = w.readAtMost
	}
	return b
}

// first is how many rows the first page asks for.
func (b *budget) first() int {
	if b.limited {
		return min(b.lacks, fullPage, b.left)
	}
	return min(firstRows, b.left)
}

// next is how many rows a further page asks for. With a Limit it is the number
// of messages lacking plus the number skipped so far: many expired rows take
// few requests, and at most the Limit and twice the skipped rows are read.
func (b *budget) next(rows int) int {
	if b.limited {
		return min(min(b.lacks, fullPage)+b.skipped, fullPage, b.left)
	}
	return min(growing(growth)(rows), b.left)
}

// read counts a page, including the rows that the filter has left out, which
// are paid for.
func (b *budget) read(out *dynamodb.QueryOutput) {
	rows := max(len(out.Items), int(out.ScannedCount))
	b.left -= rows
	b.skipped += rows - len(out.Items)
}

// found is a message with its row; with [ErrReadAtMost] the key of the last row
// that was read.
type found struct {
	Message
	row ddb.Item
}

// messages yields the messages of the part up to the Limit, without expired
// ones. An error comes last, [ErrReadAtMost] with the place to go on.
func (s *Store) messages(ctx context.Context, left part, w walk) iter.Seq2[found, error] {
	return func(yield func(found, error) bool) {
		b := w.budget()
		for page, err := range s.pages(ctx, w.op, left, b.first(), b.next, w.filter.Apply) {
			if err != nil {
				yield(found{}, err)
				return
			}
			b.read(page)
			for _, row := range page.Items {
				m, err := s.decode(row)
				switch {
				case err != nil:
					yield(found{}, s.wrap(w.op, err))
					return
				case !m.At.IsZero() && item.Before(m.At, w.since):
					return
				case m.At.IsZero() && !w.since.IsZero(), s.expired(row), w.holds != nil && !w.holds(m.At):
					b.skipped++
					continue
				}
				if b.lacks--; !yield(found{m, row}, nil) || b.lacks == 0 {
					return
				}
			}
			if b.left <= 0 && len(page.LastEvaluatedKey) > 0 {
				yield(found{row: page.LastEvaluatedKey}, s.wrap(w.op, ErrReadAtMost))
				return
			}
		}
	}
}

// each yields the messages alone.
func (s *Store) each(ctx context.Context, left part, w walk, err error) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		if err != nil {
			yield(Message{}, err)
			return
		}
		for f, err := range s.messages(ctx, left, w) {
			if !yield(f.Message, err) {
				return
			}
		}
	}
}
