package activity

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Filter says which activities are counted: those of a Scope, of an Actor in
// all scopes, of a Name in a Scope, or of an Actor and a Name in a Scope.
type Filter struct {
	Scope, Actor, Name string

	Match      Match     // what else they must be; as in Range
	From, To   time.Time // as in Range
	Consistent bool      // as in Range: for a Scope alone
}

// What Count and Tally need of the rows, and their keys, for OnUnreadable.
const (
	countProjection = "#scope, #id, #time, #name, #nameTime, #ttl, #retractedAt"
	tallyProjection = countProjection + ", #actor, #kind"
)

// projected returns the names of a projection's attributes.
func (s *Store) projected(projection string) map[string]string {
	all := map[string]string{
		"#scope": s.cfg.ScopeAttr, "#id": attrID, "#time": attrTimestamp, "#name": attrName, "#nameTime": attrNameTime,
		"#ttl": attrTTL, "#retractedAt": attrRetractedAt, "#actor": s.cfg.ActorAttr, "#kind": attrKind,
	}
	names := map[string]string{}
	for alias := range strings.SplitSeq(projection, ", ") {
		names[alias] = all[alias]
	}
	return names
}

// Count returns how many activities there are. It follows all pages and counts
// what the walk of the same name yields, no row more: [Store.InScope],
// [Store.ByActor], [Store.ByName], [Store.ByActorAndName] say what of an older
// system's rows they miss.
//
// A row that no walk could read for what Count does not look at is counted.
//
// Price: 1 request, 0.5 RCU. 0.5 RCU for each 4 KB begun of the rows counted
// and 1 request for each MB. Consistent doubles the units. Activities outside
// the question cost nothing, but for rows that its walk would skip: what a Match
// leaves out, tombstones, expired rows, and those of an older system; of names that only look alike up
// to a page of 1 MB is read before they are skipped.
func (s *Store) Count(ctx context.Context, f Filter) (int, error) {
	q, err := s.filtered(f)
	if err != nil {
		return 0, err
	}
	q.method = "Count"
	n := 0
	for _, err := range s.walk(ctx, q, lastPage, aws.String(countProjection)) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

func (s *Store) filtered(f Filter) (query, error) {
	if err := f.check(); err != nil {
		return query{}, err
	}
	q, err := s.ask(f, Range{Match: f.Match, From: f.From, To: f.To, Consistent: f.Consistent})
	return q, check.Within("Filter", err)
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

// check refuses what no index answers.
func (f Filter) check() error {
	switch {
	case f.Scope == "" && f.Actor == "" && f.Name == "":
		return event.BadInput(pkg, "Filter", "must have a Scope or an Actor")
	case f.Scope == "" && f.Name != "":
		return event.BadInput(pkg, "Filter.Scope", "must be given with a Name")
	case f.Scope != "" && f.Actor != "" && f.Name == "":
		return event.BadInput(pkg, "Filter.Name", "must be given with Scope and Actor: no index has an actor's activities of all names in a scope. Use Match.Actor in place of Actor")
	case f.Consistent && (f.Actor != "" || f.Name != ""):
		return event.BadInput(pkg, "Filter.Consistent", "cannot be had of an index: it goes with a Scope alone")
	case !f.From.IsZero() && !f.To.IsZero() && item.Before(f.To, f.From):
		return event.BadInput(pkg, "Filter.To", "lies before From")
	}
	return nil
}
