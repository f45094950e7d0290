package message

import (
	"context"
	"iter"
	"math"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/actor"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/filter"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/walk"
)

const (
	firstRows = 16   // a small first page makes an early break cheap
	mostRows  = 1024 // the most that a page asks for without a Limit
)

// query is a walk, and which of the rows found are part of the answer.
type query struct {
	walk.Query
	since  time.Time   // the first row said before it is the end; zero for none
	during item.Period // when they were said
}

// inScope asks for the messages of a scope, by sequence.
func (s *Store) inScope(method, scope string, r Range) (query, error) {
	if err := check.PartitionKey(pkg, "scope", scope); err != nil {
		return query{}, err
	}
	if err := r.checkScope(); err != nil {
		return query{}, err
	}

	q, err := s.query(method, "message.InScope", r, r.From)

	from, to := max(1, r.FromSeq), r.ToSeq
	if to == 0 {
		to = math.MaxInt64
	}

	q.Keys, q.Partition, q.Sort = ddb.Item{attrScope: item.S(scope)}, attrScope, walk.Key{Name: attrSeq, Type: walk.Number}
	q.Lo, q.Hi, q.Empty = strconv.FormatInt(from, 10), strconv.FormatInt(to, 10), from > to
	// The sort key has no time. From ends a walk of the newest first, see show.
	q.since, q.during = r.From, item.Period{From: math.MinInt64, To: math.MaxInt64}
	return q, err
}

// byActor asks for what an actor said, by time.
func (s *Store) byActor(id string, r Range) (query, error) {
	if err := s.checkIndexed(id); err != nil {
		return query{}, err
	}
	if err := r.checkActor(); err != nil {
		return query{}, err
	}

	// No since: the index sorts by time, so Lo and Hi are where the walk begins and ends.
	q, err := s.query("ByActor", "message.ByActor", r, time.Time{})
	q.during = item.PeriodOf(r.From, r.To)
	q.Index, q.Keys, q.Partition = indexActor, ddb.Item{attrActor: s.actorKey(id)}, attrActor
	q.Sort = walk.Key{Name: attrTimestamp, Type: walk.Number}
	q.Rest = []walk.Key{{Name: attrScope, Type: walk.Partition}, {Name: attrSeq, Type: walk.Number}}
	q.Lo, q.Hi = q.during.Numbers()
	q.Empty = q.during.Empty()
	return q, err
}

// checkIndexed refuses an actor that the index cannot hold.
func (s *Store) checkIndexed(id string) error {
	if !s.cfg.ActorIndex {
		return event.BadInput(pkg, "Config.ActorIndex", "must be set: only the index finds an actor's messages")
	}
	return check.Positional(actor.CheckID(pkg, s.cfg.ActorType, id))
}

// query begins a query: it sets what all queries have in common. The name is that of
// the query in its cursors. The method is the one that errors name.
func (s *Store) query(method, name string, r Range, since time.Time) (query, error) {
	matching, err := s.filter(r.Match, since)
	if err != nil {
		return query{}, err
	}

	if r.NewestFirst {
		name += ".NewestFirst"
	}

	q := walk.Query{
		Pkg: pkg, Wrap: func(err error) error { return s.wrap(method, err) }, Table: s.table,
		Filter:      matching.Apply,
		NewestFirst: r.NewestFirst, Consistent: r.Consistent,
		Name: name + matching.ID(), Cursor: r.Cursor, Next: r.Next,
		Limit: r.Limit, ReadAtMost: r.ReadAtMost, First: firstRows, Most: mostRows,
	}
	if r.Limit > 0 {
		// The first page asks for Limit rows. The walk bounds the others by what is missing.
		q.First, q.Most = r.Limit, walk.FullPage
	}

	return query{Query: q}, nil
}

// messages yields the messages of the query up to the Limit, without expired
// ones. An error comes last.
func (s *Store) messages(ctx context.Context, q query, err error) iter.Seq2[Message, error] {
	if err != nil {
		return func(yield func(Message, error) bool) { yield(Message{}, err) }
	}
	return walk.Each(ctx, s.api, q.Query, func(row ddb.Item) (Message, walk.Shown, error) { return s.show(&q, row) })
}

// show reads a row, and reports whether it is part of the answer.
func (s *Store) show(q *query, row ddb.Item) (Message, walk.Shown, error) {
	m, err := s.decode(row)
	switch {
	case err != nil:
		return Message{}, walk.Beyond, q.Wrap(err)
	case !m.At.IsZero() && item.Before(m.At, q.since):
		return Message{}, walk.Beyond, nil
	case m.At.IsZero() && !q.since.IsZero(), s.expired(row), !q.during.Holds(m.At):
		return Message{}, walk.Skipped, nil
	}
	return m, walk.Part, nil
}

// filter composes the Match. If since is given, the filter also lets in earlier
// messages: they end a walk, which would otherwise read on.
func (s *Store) filter(m Match, since time.Time) (filter.Filter, error) {
	var attributes []filter.Attribute
	if m.Actor != "" {
		if err := check.Within("Match", s.checkActor(m.Actor)); err != nil {
			return filter.Filter{}, err
		}
		attributes = append(attributes, filter.Attribute{Name: attrActor, Value: s.actorKey(m.Actor)})
	}
	var besides []expression.ConditionBuilder
	if !since.IsZero() {
		besides = append(besides, before(since))
	}
	return filter.New(pkg, "Match.Data", attributes, m.Data, besides...)
}

// before selects what was said before the time, in rows with milliseconds and
// in rows of an older system with seconds.
func before(t time.Time) expression.ConditionBuilder {
	ms := item.CeilMillis(t)
	said, old := expression.Name(attrTimestamp), expression.Value(int64(item.SecondsBelow))
	return said.LessThan(expression.Value((ms + 999) / 1000)).And(said.LessThan(old)).
		Or(said.LessThan(expression.Value(ms)).And(said.GreaterThanEqual(old)))
}
