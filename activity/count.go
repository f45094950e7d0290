package activity

import (
	"context"
	"iter"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/walk"
)

// Filter selects the activities that are counted. Four combinations are
// possible: a Scope alone, an Actor alone (in all scopes), a Scope with a Name,
// and a Scope with an Actor and a Name.
type Filter struct {
	Scope, Actor, Name string

	Match      Match     // as in Range
	From, To   time.Time // as in Range
	Consistent bool      // as in Range; only with a Scope alone
}

// What Count needs from the rows, and the rows' keys, for OnUnreadable.
var countAttributes = []string{attrScope, attrID, attrTimestamp, attrName, attrNameTime, attrTTL, attrRetractedAt}

// Count returns the number of activities that the Filter selects: what the walk with
// the same arguments yields, on all pages ([Store.InScope], [Store.ByActor],
// [Store.ByName] or [Store.ByActorAndName]). It reads only some attributes, so it also
// counts a row in which a walk cannot read another attribute.
//
// Price: 1 request, 0.5 RCU. Each 4 KB begun of the rows counted costs 0.5 RCU,
// and each MB takes 1 request. Consistent doubles the units. Other rows cost
// nothing, except those that the walk would read and skip.
func (s *Store) Count(ctx context.Context, f Filter) (int, error) {
	n := 0
	for _, err := range s.counted(ctx, "Count", f, countAttributes) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// counted walks the activities that the filter selects, and reads these attributes.
func (s *Store) counted(ctx context.Context, method string, f Filter, attributes []string) iter.Seq2[Activity, error] {
	err := f.check()
	if err != nil {
		return s.each(ctx, query{}, err)
	}
	q, err := s.ask(f, Range{Match: f.Match, From: f.From, To: f.To, Consistent: f.Consistent})
	q.Wrap = func(err error) error { return s.wrap(method, err) }
	q.Project, q.First = attributes, walk.FullPage
	return s.each(ctx, q, check.Within("Filter", err))
}

// ask is the query that answers the filter.
func (s *Store) ask(f Filter, r Range) (query, error) {
	switch {
	case f.Name != "" && f.Actor != "":
		return s.byActorAndName(f.Scope, f.Actor, f.Name, r)
	case f.Name != "":
		return s.byName(f.Scope, f.Name, r)
	case f.Actor != "":
		return s.byActor(f.Actor, r)
	}
	return s.inScope(f.Scope, r)
}

// check refuses a filter that no index answers.
func (f Filter) check() error {
	switch {
	case f.Scope == "" && f.Actor == "" && f.Name == "":
		return event.BadInput(pkg, "Filter", "must have a Scope or an Actor")
	case f.Scope == "" && f.Name != "":
		return event.BadInput(pkg, "Filter.Scope", "must be set if Name is set")
	case f.Scope != "" && f.Actor != "" && f.Name == "":
		return event.BadInput(pkg, "Filter.Name", "must be set if Scope and Actor are set: no index has all activities of one actor in one scope. To count without a Name, leave Actor empty and set Match.Actor")
	case f.Consistent && (f.Actor != "" || f.Name != ""):
		return event.BadInput(pkg, "Filter.Consistent", "is possible only without Actor and Name: counts by them read an index")
	case item.Inverted(f.From, f.To):
		return event.BadInput(pkg, "Filter.To", "lies before From")
	}
	return nil
}
