package message

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/payload"
)

// Match is what messages must be to be listed: all of what is given. The zero
// Match is met by all.
//
// DynamoDB reads the others, too, and leaves them out of its answer: a list costs
// what is read, not what matches. Range.ReadAtMost bounds that.
type Match struct {
	Actor string    // who said it
	Data  []Compare // what must hold of its Data, at most 32
}

// Compare is met by a Message whose Data has a value under Name that compares so
// with Value. One that is absent or of another type does not meet it.
type Compare struct {
	Name  string
	Op    string // =, <, <=, > or >=; "" is =
	Value any    // text by its bytes, a number by its worth; a bool has no order
}

// filter composes the Match. Where since is given, what was said before is let
// in as well: it ends a walk, which would else read on without seeing it.
func (s *Store) filter(m Match, since time.Time) (payload.Filter, error) {
	var attributes []payload.Attribute
	if m.Actor != "" {
		if err := check.Within("Match", s.checkActor(m.Actor)); err != nil {
			return payload.Filter{}, err
		}
		attributes = append(attributes, payload.Attribute{Name: s.cfg.ActorAttr, Value: s.actorKey(m.Actor)})
	}
	data := make([]payload.Compare, len(m.Data))
	for i, c := range m.Data {
		data[i] = payload.Compare(c)
	}
	var besides []expression.ConditionBuilder
	if !since.IsZero() {
		besides = append(besides, before(since))
	}
	return payload.NewFilter(pkg, "Match.Data", attributes, data, besides...)
}

// before is what was said before the time, by rows in milliseconds and by those
// of an older system in seconds.
func before(t time.Time) expression.ConditionBuilder {
	ms := item.CeilMillis(t)
	said, old := expression.Name(attrTimestamp), expression.Value(item.SecondsBelow)
	return said.LessThan(expression.Value((ms + 999) / 1000)).And(said.LessThan(old)).
		Or(said.LessThan(expression.Value(ms)).And(said.GreaterThanEqual(old)))
}
