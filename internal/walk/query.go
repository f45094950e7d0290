package walk

import (
	"context"
	"iter"
	"maps"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Query asks for the rows of one partition, of a table or of an index, between two
// bounds of the sort key, and says how a walk goes through them.
type Query struct {
	Pkg   string            // the calling package, for bad input
	Wrap  func(error) error // names the calling method in other errors
	Table string
	Index string // "" for the table itself

	Keys      ddb.Item // the key attributes that all rows have in common
	Partition string   // the one of them that is the partition key
	Sort      Key      // the sort key
	Lo, Hi    string   // its least and its greatest value, both part of the range
	Empty     bool     // no value lies between them: nothing is sent
	Prefix    string   // what all values begin with; cursors leave it out
	Rest      []Key    // what else a position in the index needs, beside Keys and Sort

	Project []string                   // the attributes to read; nil for all
	Filter  func(*dynamodb.QueryInput) // adds a filter; nil for none

	NewestFirst, Consistent bool

	Name              string // of the query in its cursors, with its direction and its filter
	Cursor            string
	Next              *string
	Limit, ReadAtMost int
	First, Most       int // rows of the first page, and of any
}

// Key is a key attribute.
type Key struct {
	Name string
	Type Type
}

// Type is what a key attribute can hold.
type Type int

const (
	Text      Type = iota // as long as a sort key can be
	Partition             // text, as long as a partition key can be
	Number
)

// Each yields what show makes of the rows, up to the Limit. An error comes last.
func Each[T any](ctx context.Context, api API, q Query, show func(row ddb.Item) (T, Shown, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		page, err := q.Pages(ctx, api)
		if err != nil {
			var none T
			yield(none, err)
			return
		}
		Walk[T]{
			Limit: q.Limit, ReadAtMost: q.ReadAtMost, First: q.First, Most: q.Most,
			Page: page, Show: show,
			Cursor: q.Cursor, Next: q.Next, After: q.after,
		}.Each(yield)
	}
}

// API has the method of *dynamodb.Client that a walk calls.
type API interface {
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// Pages checks the walk, and returns the function that reads its next page: of at
// most so many rows, or nil behind the last.
func (q Query) Pages(ctx context.Context, api API) (func(rows int32) (*dynamodb.QueryOutput, error), error) {
	switch {
	case q.Limit < 0:
		return nil, event.BadInput(q.Pkg, "Range.Limit", "must not be negative")
	case q.ReadAtMost < 0:
		return nil, event.BadInput(q.Pkg, "Range.ReadAtMost", "must not be negative")
	}

	in := q.input()
	var err error
	if in.ExclusiveStartKey, err = q.start(); err != nil {
		return nil, err
	}

	end := q.Empty || in.ExclusiveStartKey != nil && q.last(in.ExclusiveStartKey)
	return func(rows int32) (*dynamodb.QueryOutput, error) {
		if end {
			return nil, nil
		}
		in.Limit = aws.Int32(rows)
		out, err := api.Query(ctx, in)
		if err != nil {
			return nil, q.Wrap(err)
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
		end = q.last(out.LastEvaluatedKey)
		return out, nil
	}, nil
}

// last reports whether nothing can be behind a row. A table has one row for each
// sort key.
func (q *Query) last(row ddb.Item) bool {
	far := q.Hi
	if q.NewestFirst {
		far = q.Lo
	}
	return len(row) == 0 || q.Index == "" && item.Text(row, q.Sort.Name) == far
}

// between is the key condition of every query: an open bound is the least or the
// greatest possible key.
const between = "#partition = :partition AND #sort BETWEEN :from AND :to"

func (q *Query) input() *dynamodb.QueryInput {
	in := &dynamodb.QueryInput{
		TableName:                aws.String(q.Table),
		KeyConditionExpression:   aws.String(between),
		ExpressionAttributeNames: map[string]string{"#partition": q.Partition, "#sort": q.Sort.Name},
		ExpressionAttributeValues: ddb.Item{
			":partition": q.Keys[q.Partition], ":from": q.Sort.value(q.Lo), ":to": q.Sort.value(q.Hi),
		},
		ScanIndexForward: aws.Bool(!q.NewestFirst),
		ConsistentRead:   aws.Bool(q.Consistent),
	}
	if q.Index != "" {
		in.IndexName = aws.String(q.Index)
	}

	if q.Project != nil {
		in.ProjectionExpression = aws.String("#" + strings.Join(q.Project, ", #"))
		maps.Copy(in.ExpressionAttributeNames, item.Names(q.Project...))
	}

	if q.Filter != nil {
		q.Filter(in)
	}
	return in
}

// after is the cursor behind a row.
func (q *Query) after(row ddb.Item) string {
	position := []string{strings.TrimPrefix(item.Text(row, q.Sort.Name), q.Prefix)}
	for _, key := range q.Rest {
		position = append(position, item.Text(row, key.Name))
	}
	return check.EncodeCursor(q.Name, position)
}

// start is the cursor's position as DynamoDB takes it, nil without a cursor.
// DynamoDB would refuse a position outside the bounds, with a text that does not
// help a caller.
func (q *Query) start() (ddb.Item, error) {
	if q.Cursor == "" {
		return nil, nil
	}

	const field = "Range.Cursor"
	position, err := check.DecodeCursor(q.Pkg, field, q.Name, q.Cursor, 1+len(q.Rest))
	if err != nil {
		return nil, err
	}

	position[0] = q.Prefix + position[0]
	if !q.within(position[0]) {
		return nil, event.BadInput(q.Pkg, field, "points to a row outside the range")
	}

	start := maps.Clone(q.Keys)
	for i, key := range append([]Key{q.Sort}, q.Rest...) {
		if !key.holds(position[i]) {
			return nil, event.BadInput(q.Pkg, field, "is not a cursor of this query")
		}
		start[key.Name] = key.value(position[i])
	}

	return start, nil
}

// within reports whether a sort key lies in the bounds. It may be that of a row that
// cannot be read.
func (q *Query) within(key string) bool {
	if q.Sort.Type != Number {
		return q.Lo <= key && key <= q.Hi
	}
	lo, _, _ := item.Around(q.Lo)
	hi, _, _ := item.Around(q.Hi)
	floor, ceil, number := item.Around(key)
	return number && lo <= floor && ceil <= hi
}

// number is any number as DynamoDB writes it.
var number = regexp.MustCompile(`^-?[0-9]{1,38}(\.[0-9]{1,38})?$`)

func (k Key) holds(text string) bool {
	switch k.Type {
	case Number:
		return number.MatchString(text)
	case Partition:
		return check.PartitionKey("", "", text) == nil
	}
	return check.SortKey("", "", text) == nil
}

func (k Key) value(text string) types.AttributeValue {
	if k.Type == Number {
		return item.Digits(text)
	}
	return item.S(text)
}
