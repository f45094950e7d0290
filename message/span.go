package message

import (
	"fmt"
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// seqCondition always has both bounds, so that it can be a constant.
const seqCondition = "#scope = :scope AND #seq BETWEEN :from AND :to"

// span is a part of a scope, by sequence.
type span struct {
	store       *Store
	scope       string
	from, to    int64 // both included; from above to is nothing
	newestFirst bool
	consistent  bool
	query       string // which query it is, to cursors
}

// span checks the range and returns the part of it behind its cursor.
func (s *Store) span(op, scope string, r Range) (span, terms, error) {
	w := terms{op: op, Range: r}
	if err := check.PartitionKey(pkg, "scope", scope); err != nil {
		return span{}, w, err
	}
	if err := r.check(); err != nil {
		return span{}, w, err
	}
	var err error
	if w.filter, err = s.filter(r.Match, r.From); err != nil {
		return span{}, w, err
	}
	sp := span{store: s, scope: scope, from: max(1, r.FromSeq), to: r.ToSeq, newestFirst: r.NewestFirst, consistent: r.Consistent}
	sp.query = direction("message.InScope", r.NewestFirst) + w.filter.ID()
	if r.ToSeq == 0 {
		sp.to = math.MaxInt64
	}
	if r.Cursor == "" {
		return sp, w, nil
	}
	position, err := check.DecodeCursor(pkg, "Range.Cursor", sp.query, r.Cursor, 1)
	if err != nil {
		return span{}, w, err
	}
	if sp, err = sp.afterRow(position[0]); err != nil {
		return span{}, w, event.BadInput(pkg, "Range.Cursor", "is not a cursor of this query")
	}
	return sp, w, nil
}

func (sp span) empty() bool { return sp.from > sp.to }

// after returns the part after the message seq. The key is a number, so that is
// a bound like any other, and no position in the table is needed.
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

// afterRow returns the part after a row that need not be one that can be read: the
// sequence of another writer's row may have a fraction.
func (sp span) afterRow(seq string) (span, error) {
	floor, ceil, ok := item.Around(seq)
	if !ok {
		return sp, fmt.Errorf("%q is not a sequence", seq)
	}
	if sp.newestFirst {
		return sp.after(ceil), nil
	}
	return sp.after(floor), nil
}

func (sp span) behind(row ddb.Item) (part, error) { return sp.afterRow(item.Text(row, attrSeq)) }

func (sp span) cursor(row ddb.Item) string {
	return check.EncodeCursor(sp.query, []string{item.Text(row, attrSeq)})
}

func (sp span) request() *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName:                aws.String(sp.store.table),
		KeyConditionExpression:   aws.String(seqCondition),
		ExpressionAttributeNames: map[string]string{"#scope": attrScope, "#seq": attrSeq},
		ExpressionAttributeValues: ddb.Item{
			":scope": item.S(sp.scope), ":from": item.N(sp.from), ":to": item.N(sp.to),
		},
		ScanIndexForward: aws.Bool(!sp.newestFirst),
		ConsistentRead:   aws.Bool(sp.consistent),
	}
}
