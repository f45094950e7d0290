package activity

import (
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/filter"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/record"
)

// Match selects the activities of a list: an activity must meet every field
// that is set. Every activity meets the zero Match.
//
// DynamoDB also reads the activities that do not match, and leaves them out of
// its answer. So the price of a list depends on how many rows are read, not on
// how many match; Range.ReadAtMost bounds how many are read. If a walk by actor
// or by name can answer the question, that walk usually costs less.
type Match struct {
	Kind  string           // the class
	Actor string           // who did it; only for lists and counts that are not by actor
	Data  []record.Compare // conditions on the activity's Data, at most 32
}

// filter composes the Match of a query.
func (s *Store) filter(q *query, m Match) (filter.Filter, error) {
	var attributes []filter.Attribute
	if m.Kind != "" {
		if err := check.Text(pkg, "Match.Kind", m.Kind); err != nil {
			return filter.Filter{}, err
		}
		attributes = append(attributes, filter.Attribute{Name: attrKind, Value: item.S(m.Kind)})
	}
	if m.Actor != "" {
		if q.partition != attrScope {
			return filter.Filter{}, event.BadInput(pkg, "Match.Actor", "must be empty: the query already reads only one actor's activities")
		}
		if err := check.Within("Match", s.checkActor(m.Actor)); err != nil {
			return filter.Filter{}, err
		}
		attributes = append(attributes, filter.Attribute{Name: attrActor, Value: s.actorKey(m.Actor)})
	}
	data := make([]filter.Compare, len(m.Data))
	for i, c := range m.Data {
		data[i] = filter.Compare(c)
	}
	return filter.New(pkg, "Match.Data", attributes, data)
}
