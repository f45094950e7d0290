package activity

import (
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/payload"
)

// Match is what activities must be to be listed: all of what is given. The zero
// Match is met by all.
//
// DynamoDB reads the others, too, and leaves them out of its answer: a list costs
// what is read, not what matches. Range.ReadAtMost bounds that. Where a walk of
// its own finds them, by actor or by name, that costs less.
type Match struct {
	Kind  string    // the class of it
	Actor string    // who did it; only where the walk itself is not an actor's
	Data  []Compare // what must hold of its Data, at most 32
}

// Compare is met by an Activity whose Data has a value under Name that compares
// so with Value. One that is absent or of another type does not meet it.
type Compare struct {
	Name  string
	Op    string // =, <, <=, > or >=; "" is =
	Value any    // text by its bytes, a number by its worth; a bool has no order
}

// filter composes the Match of a query.
func (s *Store) filter(q *query, m Match) (payload.Filter, error) {
	var attributes []payload.Attribute
	if m.Kind != "" {
		if err := check.Text(pkg, "Match.Kind", m.Kind); err != nil {
			return payload.Filter{}, err
		}
		attributes = append(attributes, payload.Attribute{Name: attrKind, Value: item.S(m.Kind)})
	}
	if m.Actor != "" {
		if q.partition != s.cfg.ScopeAttr {
			return payload.Filter{}, event.BadInput(pkg, "Match.Actor", "must be empty: all are one actor's")
		}
		if err := check.Within("Match", s.checkActor(m.Actor)); err != nil {
			return payload.Filter{}, err
		}
		attributes = append(attributes, payload.Attribute{Name: s.cfg.ActorAttr, Value: s.actorKey(m.Actor)})
	}
	data := make([]payload.Compare, len(m.Data))
	for i, c := range m.Data {
		data[i] = payload.Compare(c)
	}
	return payload.NewFilter(pkg, "Match.Data", attributes, data)
}
