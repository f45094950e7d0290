package histories_test

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// patternStory is about one habit whose ring of events is nearly full, or about
// one of an older system.
type patternStory struct {
	averages
	stores []*pattern.Store
	erases bool // the row is erased now and then
}

func newPattern(w *world) story {
	s := &patternStory{averages: averages{w: w, pk: "PATTERN#home#42"}}
	for _, c := range w.callers {
		store, err := pattern.New(c.client, "homeops", tzclock.UTC, &pattern.Config{Now: c.now, ConsistentReads: true})
		if err != nil {
			panic(err)
		}
		s.stores = append(s.stores, store)
	}
	s.observe = func(ctx context.Context, c *caller, ev event.Event, _ int) (event.Outcome, error) {
		return s.stores[c.id].Observe(ctx, pattern.Observe{Scope: "home", Actor: "42", Name: "metric", Event: ev})
	}
	s.get = func(ctx context.Context, c *caller) any {
		h, ok, err := s.stores[c.id].Get(ctx, "home", "42", "metric")
		if err != nil {
			return nil
		}
		out := habit{stands: ok, days: h.ByDay, hours: h.ByHour, total: h.Total}
		if !h.LastSeen.IsZero() {
			out.seen = h.LastSeen.UnixMilli()
		}
		return out
	}
	return s
}

func (p *patternStory) tables() []schema.Table { return []schema.Table{p.stores[0].Table()} }

func (p *patternStory) begin() []*call {
	calls := p.start(p.older)
	// An older system's counts are not in a ring: a row that is erased and
	// written again over them may look the same as before.
	p.erases = len(p.w.parts) == 0 && p.w.rnd.IntN(2) == 0
	return calls
}

// older counts a Monday at nine in a row without a version, in its maps if it
// has them.
func (p *patternStory) older() {
	one := row{":one": n(1)}
	first := row{
		":one":  n(1),
		":days": &types.AttributeValueMemberM{Value: row{"mon": n(1)}}, ":hours": &types.AttributeValueMemberM{Value: row{"9": n(1)}},
	}
	err := p.update("ADD totalCount :one, dayOfWeekCounts.mon :one, hourOfDayCounts.#nine :one", map[string]string{"#nine": "9"}, one)
	if _, refused := errors.AsType[*types.ConditionalCheckFailedException](err); err != nil && !refused {
		err = p.update("ADD totalCount :one SET dayOfWeekCounts = :days, hourOfDayCounts = :hours", nil, first)
	}
	if err == nil {
		p.w.happened(p.pk, olderCount{1}, nil)
	}
}

func (p *patternStory) update(expression string, names map[string]string, values row) error {
	_, err := p.w.raw.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: aws.String("homeops"), Key: row{"pk": s(p.pk), "sk": s("metric")},
		ConditionExpression: aws.String("attribute_not_exists(version)"),
		UpdateExpression:    aws.String(expression), ExpressionAttributeNames: names, ExpressionAttributeValues: values,
	})
	return err
}

// erase erases the actor's habits from outside, without a network.
func (p *patternStory) erase() {
	store, err := pattern.New(p.w.raw, "homeops", tzclock.UTC, nil)
	if err != nil {
		panic(err)
	}
	n, err := store.Erase(context.Background(), "home", "42")
	if err != nil {
		panic(err)
	}
	if n > 0 {
		p.w.happened(p.pk, erased{}, nil)
	}
}

func (p *patternStory) intrude() {
	if p.erases {
		p.erase()
	} else {
		p.older()
	}
}
