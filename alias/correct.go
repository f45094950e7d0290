package alias

import (
	"context"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Correct makes a phrase stand for a name, whatever it stood for before.
type Correct struct {
	Scope  string
	Phrase string // in any spelling; Normalize is applied
	Name   string // the name the phrase is to stand for, stored unchanged
	Event  event.Event
	Actor  string // who corrected the phrase; may be ""
}

// A correction is one of two updates. The row decides which one: confirmations
// of another name do not count for this one.
var (
	rename = expression{
		naming + "#confirmations = :zero, #namedBy = :event, #learnedFrom = :actor" + countAnew,
		"(attribute_not_exists(#namedBy) OR #namedBy < :event) AND " +
			"(attribute_not_exists(#canonicalActivity) OR #canonicalActivity <> :name)",
	}
	insist = expression{
		naming + "#confirmations = if_not_exists(#confirmations, :zero), #namedBy = :event, #learnedFrom = :actor",
		"(attribute_not_exists(#namedBy) OR #namedBy < :event) AND #canonicalActivity = :name",
	}
)

// Correct makes the phrase stand for the name. The phrase may be new, or it may
// have been taught, seeded, corrected or forgotten before. Among corrections the
// latest event wins, in any order of arrival. The phrase's confirmations start
// again from 0, unless the phrase has this name already. Then they stay, and
// Correct notes the event and the actor, and marks the phrase as Learned.
//
// If a later event has named or forgotten the phrase, or if this event has
// forgotten it, the error is [event.ErrSuperseded]. If this event has already given
// the phrase this name, Correct returns Duplicate. If this event has given the
// phrase another name, the error is a [*TakenError] and that name stays.
//
// Price: 1 request, 3 WCU. One WCU is for the item and two are for its entry in
// the index, which moves. A new or forgotten phrase costs 2 WCU. If the phrase has
// the name already, Correct takes 1 more request and costs 3 WCU. A refusal costs
// 1 WCU.
func (s *Store) Correct(ctx context.Context, c Correct) (event.Outcome, error) {
	p, err := s.teaching(c.Scope, c.Phrase, c.Name, c.Event, c.Actor)
	if err != nil {
		return 0, err
	}

	values := s.naming(p, c.Name, Learned)
	values[":event"], values[":actor"] = item.S(c.Event.String()), item.S(c.Actor)

	return s.write(ctx, "Correct", p, func(r row) (expression, ddb.Item) {
		if r.Name == c.Name {
			return insist, values
		}
		return rename, values
	}, func(r row) (event.Outcome, error) {
		order := r.NamedBy.Compare(c.Event)
		switch {
		case order < 0:
			return 0, nil
		case order > 0, !r.named():
			return 0, s.superseded("Correct")
		case r.Name != c.Name:
			return 0, &TakenError{Owner: r.Name}
		}
		return event.Duplicate, nil
	})
}
