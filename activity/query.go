package activity

import (
	"context"
	"fmt"
	"iter"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/filter"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/walk"
)

// query is a walk, and which of the rows found are part of the answer.
type query struct {
	walk.Query
	called string // the activities' Name; "" for any
	during item.Period
}

// inScope asks for the activities of a scope, by id.
func (s *Store) inScope(scope string, r Range) (query, error) {
	if err := check.PartitionKey(pkg, "Scope", scope); err != nil {
		return query{}, err
	}
	q, err := s.query("InScope", "", r)
	q.Keys, q.Partition, q.Sort = ddb.Item{attrScope: item.S(scope)}, attrScope, walk.Key{Name: attrID}
	q.Lo, q.Hi = idsOf(q.during)
	return q, err
}

// byActor asks for what an actor did in all scopes, by time.
func (s *Store) byActor(actor string, r Range) (query, error) {
	if err := s.checkActor(actor); err != nil {
		return query{}, err
	}
	q, err := s.query("ByActor", indexActor, r)
	q.Keys, q.Partition = ddb.Item{attrActor: s.actorKey(actor)}, attrActor
	q.Sort = walk.Key{Name: attrTimestamp, Type: walk.Number}
	q.Rest = []walk.Key{{Name: attrScope, Type: walk.Partition}, {Name: attrID}}
	q.Lo, q.Hi = q.during.Numbers()
	return q, err
}

// byName asks for the activities of one name in a scope, by time.
func (s *Store) byName(scope, name string, r Range) (query, error) {
	if err := check.PartitionKey(pkg, "Scope", scope); err != nil {
		return query{}, err
	}
	q, err := s.named("ByName", indexName, name, r)
	q.Keys, q.Partition = ddb.Item{attrScope: item.S(scope)}, attrScope
	return q, err
}

// byActorAndName asks for what an actor did under one name in a scope, by time.
func (s *Store) byActorAndName(scope, actor, name string, r Range) (query, error) {
	if err := check.PartitionKey(pkg, "Scope", scope); err != nil {
		return query{}, err
	}
	if err := s.checkActor(actor); err != nil {
		return query{}, err
	}

	both := check.Join(scope, actor)
	if err := check.PartitionKey(pkg, "Scope and Actor", both); err != nil {
		return query{}, err
	}

	q, err := s.named("ByActorAndName", indexActorName, name, r)
	q.Keys, q.Partition = ddb.Item{attrScopeActor: item.S(both), attrScope: item.S(scope)}, attrScopeActor
	return q, err
}

// named is a query of an index that sorts by name and time.
func (s *Store) named(walked, index, name string, r Range) (query, error) {
	name = canonical(name)
	if err := check.ID(pkg, "Name", name); err != nil {
		return query{}, err
	}
	if err := check.SortKey(pkg, "Name", nameTime(name, maxMillis)); err != nil {
		return query{}, err
	}
	q, err := s.query(walked, index, r)
	q.called, q.Sort, q.Rest, q.Prefix = name, walk.Key{Name: attrNameTime}, []walk.Key{{Name: attrID}}, namePrefix(name)
	lo, hi := digitsOf(q.during)
	q.Lo, q.Hi = q.Prefix+lo, q.Prefix+hi
	return q, err
}

// firstPage is one read unit of 4 KB, if rows have up to 1 KB.
const firstPage = 4

// query is what the queries have in common.
func (s *Store) query(name, index string, r Range) (query, error) {
	if r.Consistent && index != "" {
		return query{}, event.BadInput(pkg, "Range.Consistent", "is not possible with an index; InScope with Consistent, and OfEvent, read consistently")
	}
	if item.Inverted(r.From, r.To) {
		return query{}, event.BadInput(pkg, "Range.To", "lies before From")
	}

	matching, err := s.filter(r.Match, index == "" || index == indexName)
	if err != nil {
		return query{}, err
	}

	direction := ""
	if r.NewestFirst {
		direction = " newest first"
	}

	q := query{during: item.PeriodOf(r.From, r.To)}
	q.Query = walk.Query{
		Pkg: pkg, Wrap: func(err error) error { return s.wrap(name, err) }, Table: s.table, Index: index,
		Empty: q.during.Empty(), Filter: matching.Apply,
		NewestFirst: r.NewestFirst, Consistent: r.Consistent,
		Name: name + direction + matching.ID(), Cursor: r.Cursor, Next: r.Next,
		Limit: r.Limit, ReadAtMost: r.ReadAtMost, First: max(r.Limit, firstPage), Most: walk.FullPage,
	}

	return q, nil
}

// filter composes the Match of a query. Match.Actor is only for a query of all actors.
func (s *Store) filter(m Match, allActors bool) (filter.Filter, error) {
	var attributes []filter.Attribute
	if m.Kind != "" {
		if err := check.Text(pkg, "Match.Kind", m.Kind); err != nil {
			return filter.Filter{}, err
		}
		attributes = append(attributes, filter.Attribute{Name: attrKind, Value: item.S(m.Kind)})
	}

	if m.Actor != "" {
		if !allActors {
			return filter.Filter{}, event.BadInput(pkg, "Match.Actor", "must be empty: the query already reads only one actor's activities")
		}
		if err := check.Within("Match", s.checkActor(m.Actor)); err != nil {
			return filter.Filter{}, err
		}
		attributes = append(attributes, filter.Attribute{Name: attrActor, Value: s.actorKey(m.Actor)})
	}
	return filter.New(pkg, "Match.Data", attributes, m.Data)
}

// each yields the activities up to the Limit; an error comes last.
func (s *Store) each(ctx context.Context, q query, err error) iter.Seq2[Activity, error] {
	if err != nil {
		return func(yield func(Activity, error) bool) { yield(Activity{}, err) }
	}
	return walk.Each(ctx, s.api, q.Query, func(row ddb.Item) (Activity, walk.Shown, error) { return s.show(&q, row) })
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
		return Activity{}, walk.Beyond, q.Wrap(err)
	case err != nil:
		s.cfg.OnUnreadable(q.Wrap(fmt.Errorf("row %q of scope %q: %w", item.Text(row, attrID), item.Text(row, attrScope), err)))
	}

	return Activity{}, walk.Skipped, nil
}

// answeredBy reports whether the activity is part of the answer. A row of an
// older system may lie between the bounds without being part of it: its keys
// are not encoded, so that "dish#2" sorts among the times of "dish", and its
// times may be in seconds.
func (q *query) answeredBy(a Activity) bool {
	return (q.called == "" || a.Name == q.called) && q.during.Holds(a.At)
}
