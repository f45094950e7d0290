package message

import (
	"context"
	"iter"
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

const (
	firstRows = 16      // a small first page makes an early break cheap
	growth    = 4       // each further page of a walk is so many times the one before
	mostRows  = 1024    // the most a growing page asks for
	fullPage  = 1 << 14 // the most any page asks for: no more rows fit into the 1 MB that DynamoDB reads at once
)

// seqCondition always has both bounds, so that it can be a constant.
const seqCondition = "#scope = :scope AND #seq BETWEEN :from AND :to"

// span is a part of a scope that a method has still to read.
type span struct {
	op          string
	scope       string
	from, to    int64 // both included; from above to is nothing
	newestFirst bool
	consistent  bool
}

func (sp span) empty() bool { return sp.from > sp.to }

// after leaves what comes after the message seq. The key being a number, that
// is a bound like any other, and no position in the table need be carried.
func (sp span) after(seq int64) span {
	switch {
	case sp.newestFirst:
		sp.to = min(sp.to, max(seq, 1)-1)
	case seq == math.MaxInt64:
		sp.to = sp.from - 1
	default:
		sp.from = max(sp.from, seq+1)
	}
	return sp
}

// query returns the request for at most so many rows of the span.
func (s *Store) query(sp span, rows int, projection string) *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{
		TableName:                aws.String(s.table),
		KeyConditionExpression:   aws.String(seqCondition),
		ExpressionAttributeNames: map[string]string{"#scope": s.cfg.ScopeAttr, "#seq": s.cfg.SeqAttr},
		ExpressionAttributeValues: ddb.Item{
			":scope": item.S(sp.scope), ":from": item.N(sp.from), ":to": item.N(sp.to),
		},
		ScanIndexForward: aws.Bool(!sp.newestFirst),
		ConsistentRead:   aws.Bool(sp.consistent),
		Limit:            aws.Int32(int32(rows)),
	}
	if projection != "" {
		in.ProjectionExpression = aws.String(projection)
		in.ExpressionAttributeNames["#actor"] = s.cfg.ActorAttr
		in.ExpressionAttributeNames["#timestamp"] = attrTimestamp
	}
	return in
}

// pages yields the rows of the span, expired ones among them. next tells how many
// rows to ask for behind a page of so many. An error comes last.
func (s *Store) pages(ctx context.Context, left span, first int, next func(rows int) int, projection string) iter.Seq2[[]ddb.Item, error] {
	return func(yield func([]ddb.Item, error) bool) {
		for rows := first; !left.empty(); rows = next(rows) {
			out, err := s.api.Query(ctx, s.query(left, rows, projection))
			if err != nil {
				yield(nil, s.wrap(left.op, err))
				return
			}
			if !yield(out.Items, nil) || len(out.LastEvaluatedKey) == 0 {
				return
			}
			last, err := item.Int(out.LastEvaluatedKey, s.cfg.SeqAttr)
			if err != nil {
				yield(nil, s.wrap(left.op, err))
				return
			}
			left = left.after(last)
		}
	}
}

// growing makes each page so many times the one before.
func growing(times int) func(rows int) int {
	return func(rows int) int { return max(rows, min(times*rows, mostRows)) }
}

// messages yields the messages of the span up to the range's Limit, without
// what has expired, and ends at the first message said before its Since. One
// without a time is never since any.
//
// With a Limit a further page asks for what is lacking, and for as many rows
// again as were skipped so far: many expired ones take few requests, and no more
// than the Limit and twice what was skipped is read.
func (s *Store) messages(ctx context.Context, left span, r Range) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		lacks, skipped := math.MaxInt, 0
		first, next := firstRows, growing(growth)
		if r.Limit > 0 {
			lacks = r.Limit
			first, next = min(r.Limit, fullPage), func(int) int { return min(min(lacks, fullPage)+skipped, fullPage) }
		}
		for page, err := range s.pages(ctx, left, first, next, "") {
			if err != nil {
				yield(Message{}, err)
				return
			}
			for _, row := range page {
				m, err := s.decode(row)
				switch {
				case err != nil:
					yield(Message{}, s.wrap(left.op, err))
					return
				case !m.At.IsZero() && m.At.Before(r.Since):
					return
				case m.At.IsZero() && !r.Since.IsZero(), s.expired(row):
					skipped++
					continue
				}
				if lacks--; !yield(m, nil) || lacks == 0 {
					return
				}
			}
		}
	}
}
