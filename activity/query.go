package activity

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/filter"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/walk"
)

// between is the key condition of every query: an open bound is set to the
// least or the greatest possible key.
const between = "#partition = :partition AND #sort BETWEEN :from AND :to"

// query is one walk: a partition of the table or of an index, the bounds of its
// sort key, and which of the rows found are part of the answer.
type query struct {
	name      string   // of the query, in cursors
	method    string   // the calling method, for errors
	index     string   // "" for the table
	partition string   // attribute of the partition key
	sort      string   // attribute of the sort key
	keys      ddb.Item // the key attributes that all rows found have in common
	lo, hi    string   // bounds of the sort key
	prefix    string   // of every key between the bounds

	filter filter.Filter
	called string // the activities' Name; "" for any
	during period
	r      Range
}

func (s *Store) inScope(scope string, r Range) (query, error) {
	q := query{name: "InScope", partition: attrScope, sort: attrID, keys: ddb.Item{attrScope: item.S(scope)}}
	if err := check.PartitionKey(pkg, "Scope", scope); err != nil {
		return q, err
	}
	err := s.over(&q, r)
	q.lo, q.hi = q.during.ids()
	return q, err
}

func (s *Store) byActor(actor string, r Range) (query, error) {
	q := query{name: "ByActor", index: indexActor, partition: attrActor, sort: attrTimestamp, keys: ddb.Item{attrActor: s.actorKey(actor)}}
	if err := s.checkActor(actor); err != nil {
		return q, err
	}
	err := s.over(&q, r)
	q.lo, q.hi = q.during.numbers()
	return q, err
}

func (s *Store) byName(scope, name string, r Range) (query, error) {
	q := query{name: "ByName", index: indexName, partition: attrScope, keys: ddb.Item{attrScope: item.S(scope)}}
	if err := check.PartitionKey(pkg, "Scope", scope); err != nil {
		return q, err
	}
	return q, s.named(&q, name, r)
}

func (s *Store) byActorAndName(scope, actor, name string, r Range) (query, error) {
	both := scopeActor(scope, actor)
	q := query{name: "ByActorAndName", index: indexActorName, partition: attrScopeActor, keys: ddb.Item{attrScopeActor: item.S(both), attrScope: item.S(scope)}}
	if err := check.PartitionKey(pkg, "Scope", scope); err != nil {
		return q, err
	}
	if err := s.checkActor(actor); err != nil {
		return q, err
	}
	if err := check.PartitionKey(pkg, "Scope and Actor", both); err != nil {
		return q, err
	}
	return q, s.named(&q, name, r)
}

// named completes a query of an index that sorts by name and time.
func (s *Store) named(q *query, name string, r Range) error {
	name = canonical(name)
	if err := check.ID(pkg, "Name", name); err != nil {
		return err
	}
	if err := check.SortKey(pkg, "Name", nameTime(name, maxMillis)); err != nil {
		return err
	}
	err := s.over(q, r)
	lo, hi := q.during.digits()
	q.sort, q.called, q.prefix = attrNameTime, name, namePrefix(name)
	q.lo, q.hi = q.prefix+lo, q.prefix+hi
	return err
}

func (s *Store) over(q *query, r Range) error {
	q.r, q.during = r, periodOf(r.From, r.To)
	if r.Consistent && q.index != "" {
		return event.BadInput(pkg, "Range.Consistent", "is not possible with an index; InScope with Consistent, and OfEvent, read consistently")
	}
	if err := r.check(); err != nil {
		return err
	}
	var err error
	q.filter, err = s.filter(q, r.Match)
	return err
}

// answeredBy reports whether the activity is part of the answer. A row of an
// older system may lie between the bounds without being part of it: its keys
// are not encoded, so that "dish#2" sorts among the times of "dish", and its
// times may be in seconds.
func (q *query) answeredBy(a Activity) bool {
	return (q.called == "" || a.Name == q.called) && q.during.holds(a.At)
}

// firstPage is one read unit of 4 KB, if rows have up to 1 KB.
const firstPage = 4

// each yields the activities up to the Limit.
func (s *Store) each(ctx context.Context, q query, err error) iter.Seq2[Activity, error] {
	if err != nil {
		return func(yield func(Activity, error) bool) { yield(Activity{}, check.Positional(err)) }
	}
	q.method = q.name
	return s.walk(ctx, q, max(q.r.Limit, firstPage), nil)
}

// walk yields the activities up to the Limit; an error comes last. Its first
// page has size rows at most.
func (s *Store) walk(ctx context.Context, q query, size int, projection *string) iter.Seq2[Activity, error] {
	return func(yield func(Activity, error) bool) {
		in, err := s.input(&q, projection)
		if err != nil {
			yield(Activity{}, err)
			return
		}
		walk.Walk[Activity]{
			Limit: q.r.Limit, ReadAtMost: q.r.ReadAtMost, First: size, Most: walk.FullPage,
			Page: func(rows int32) (*dynamodb.QueryOutput, int, error) {
				if q.during.empty() {
					return nil, 0, nil
				}
				in.Limit = aws.Int32(rows)
				out, err := s.api.Query(ctx, in)
				if err != nil {
					return nil, 0, s.wrap(q.method, err)
				}
				return out, q.turn(in, out), nil
			},
			Show:   func(row ddb.Item) (Activity, walk.Shown, error) { return s.show(&q, row) },
			Cursor: q.r.Cursor, Next: q.r.Next,
			After: func(row ddb.Item) string { return s.cursorAfter(&q, row) },
		}.Each(yield)
	}
}

// show reads a row, and reports whether it is part of the answer. A row that
// cannot be read is an error, unless OnUnreadable is set.
func (s *Store) show(q *query, row ddb.Item) (Activity, walk.Shown, error) {
	if retracted(row) || s.expired(row) {
		return Activity{}, walk.Skipped, nil
	}
	a, err := s.decode(row)
	switch {
	case err == nil && q.answeredBy(a):
		return a, walk.Part, nil
	case err != nil && s.cfg.OnUnreadable == nil:
		return Activity{}, walk.Beyond, s.wrap(q.method, err)
	case err != nil:
		s.cfg.OnUnreadable(s.wrap(q.method, fmt.Errorf("row %q of scope %q: %w", item.Text(row, attrID), item.Text(row, attrScope), err)))
	}
	return Activity{}, walk.Skipped, nil
}

func (s *Store) input(q *query, projection *string) (*dynamodb.QueryInput, error) {
	start, err := s.startAfter(q)
	if err != nil {
		return nil, err
	}
	in := &dynamodb.QueryInput{
		TableName:                &s.table,
		KeyConditionExpression:   aws.String(between),
		ExpressionAttributeNames: map[string]string{"#partition": q.partition, "#sort": q.sort},
		ExpressionAttributeValues: ddb.Item{
			":partition": q.keys[q.partition], ":from": q.sortKey(q.lo), ":to": q.sortKey(q.hi),
		},
		ScanIndexForward:     aws.Bool(!q.r.NewestFirst),
		ConsistentRead:       aws.Bool(q.r.Consistent),
		ExclusiveStartKey:    start,
		ProjectionExpression: projection,
	}
	if q.index != "" {
		in.IndexName = &q.index
	}
	if projection != nil {
		maps.Copy(in.ExpressionAttributeNames, s.projected(*projection))
	}
	q.filter.Apply(in)
	return in, nil
}

func (q *query) sortKey(key string) types.AttributeValue {
	if q.sort == attrTimestamp {
		return item.Digits(key)
	}
	return item.S(key)
}

// within reports whether a sort key lies in the bounds.
func (q *query) within(key string) bool {
	if q.sort == attrTimestamp {
		floor, ceil, number := item.Around(key) // the row may be unreadable
		return number && q.during.from <= floor && ceil <= q.during.to
	}
	return q.lo <= key && key <= q.hi
}

// turn sets the input to the next page. If this one ended among rows of a name
// that only looks alike, the next begins behind all rows of that name, so that
// their number costs nothing, and is small again: turn returns its rows.
func (q *query) turn(in *dynamodb.QueryInput, out *dynamodb.QueryOutput) (restart int) {
	in.ExclusiveStartKey = out.LastEvaluatedKey
	if q.prefix == "" || len(out.LastEvaluatedKey) == 0 {
		return 0
	}
	alike := lookalikes(q.prefix, item.Text(out.LastEvaluatedKey, attrNameTime))
	if alike == "" {
		return 0
	}
	in.ExclusiveStartKey = nil
	if q.r.NewestFirst {
		in.ExpressionAttributeValues[":to"] = item.S(alike)
	} else {
		in.ExpressionAttributeValues[":from"] = item.S(strings.TrimSuffix(alike, "#") + "$") // the byte after '#'
	}
	return firstPage
}
