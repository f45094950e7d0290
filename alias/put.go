package alias

import (
	"context"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Put teaches a phrase that stands for nothing yet.
type Put struct {
	Scope  string
	Phrase string // in any spelling; Normalize is applied
	Name   string // the name the phrase is to stand for, stored unchanged
	Event  event.Event
	Actor  string // who taught the phrase; may be ""
}

// free means that the phrase was never taught, or an earlier event forgot it.
const free = "attribute_not_exists(#canonicalActivity) AND (attribute_not_exists(#namedBy) OR #namedBy < :event)"

// Put updates the item, so that the other attributes of a forgotten phrase's
// item stay.
var (
	teach         = expression{naming + "#confirmations = :zero, #namedBy = :event, #learnedFrom = :actor" + countAnew, free}
	teachUnsigned = expression{naming + "#confirmations = :zero, #namedBy = :event" + countAnew + ", #learnedFrom", free}
)

// Put writes the alias if the phrase is free. If the phrase stands for the same
// name already, Put returns Duplicate and changes nothing, no matter who taught
// the phrase. If the phrase stands for another name, the error is a [*TakenError]
// with that name, which Correct can change. If this event or a later event forgot
// the phrase, the phrase stays forgotten and the error is [event.ErrSuperseded].
//
// Price: 1 request, 2 WCU. One WCU is for the item and one is for its entry in
// the index. A refusal costs 1 WCU.
func (s *Store) Put(ctx context.Context, put Put) (event.Outcome, error) {
	p, err := s.teaching(put.Scope, put.Phrase, put.Name, put.Event, put.Actor)
	if err != nil {
		return 0, err
	}

	change, values := teachUnsigned, s.naming(p, put.Name, Learned)
	values[":event"] = item.S(put.Event.String())
	if put.Actor != "" {
		change, values[":actor"] = teach, item.S(put.Actor)
	}

	return s.write(ctx, "Put", p, func(row) (expression, ddb.Item) { return change, values }, func(r row) (event.Outcome, error) {
		switch {
		case !r.named():
			return 0, s.superseded("Put")
		case r.Name != put.Name:
			return 0, &TakenError{Owner: r.Name}
		}
		return event.Duplicate, nil
	})
}
