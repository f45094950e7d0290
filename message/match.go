package message

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/filter"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/record"
)

// Match is a filter of messages: a message must meet all fields of the Match.
// Every message meets the zero Match.
//
// DynamoDB also reads the messages that do not match, and leaves them out of its
// answer. So you pay for all rows that are read, not only for the rows that
// match. Range.ReadAtMost bounds how many rows are read.
type Match struct {
	Actor string           // who said it
	Data  []record.Compare // conditions on the message's Data, at most 32
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
	data := make([]filter.Compare, len(m.Data))
	for i, c := range m.Data {
		data[i] = filter.Compare(c)
	}
	var besides []expression.ConditionBuilder
	if !since.IsZero() {
		besides = append(besides, before(since))
	}
	return filter.New(pkg, "Match.Data", attributes, data, besides...)
}

// before selects what was said before the time, in rows with milliseconds and
// in rows of an older system with seconds.
func before(t time.Time) expression.ConditionBuilder {
	ms := item.CeilMillis(t)
	said, old := expression.Name(attrTimestamp), expression.Value(int64(item.SecondsBelow))
	return said.LessThan(expression.Value((ms + 999) / 1000)).And(said.LessThan(old)).
		Or(said.LessThan(expression.Value(ms)).And(said.GreaterThanEqual(old)))
}
