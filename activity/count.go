package activity

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/homeops/ddbpatterns/event"
)

// Which says which activities are counted: those of a Scope, of an Actor in
// all scopes, of a Name in a Scope, or of an Actor and a Name in a Scope.
type Which struct {
	Scope, Actor, Name string

	From, To   time.Time // as in Range
	Consistent bool      // as in Range: for a Scope alone
}

// judged is what tells whether a row counts.
const judged = "#id, #time, #name, #nameTime"

var judgedNames = map[string]string{"#id": attrID, "#time": attrTimestamp, "#name": attrName, "#nameTime": attrNameTime}

// Count returns how many activities there are. It follows all pages and counts
// what the walk of the same name yields, no row more: [Store.InScope],
// [Store.ByActor], [Store.ByName], [Store.ByActorAndName] say what of an older
// system's rows they miss.
//
// Price: 1 request, 0.5 RCU. 0.5 RCU for each 4 KB begun of the rows counted
// and 1 request for each MB. Consistent doubles the units. Activities outside
// the question cost nothing, but for rows of an older system that its walk
// would skip: of names that only look alike up to a page of 1 MB is read
// before they are skipped.
func (s *Store) Count(ctx context.Context, w Which) (int, error) {
	q, err := s.which(w)
	if err != nil {
		return 0, err
	}
	q.method = "Count"
	n := 0
	for _, err := range s.walk(ctx, q, lastPage, aws.String(judged)) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

func (s *Store) which(w Which) (query, error) {
	r := Range{From: w.From, To: w.To, Consistent: w.Consistent}
	switch {
	case w.Name != "" && w.Actor != "":
		return s.byActorAndName(w.Scope, w.Actor, w.Name, r)
	case w.Name != "":
		return s.byName(w.Scope, w.Name, r)
	case w.Actor == "":
		return s.inScope(w.Scope, r)
	case w.Scope == "":
		return s.byActor(w.Actor, r)
	}
	return query{}, event.BadInput(pkg, "Which.Name", "must be given with Scope and Actor: no index has an actor's activities of all names in a scope")
}
