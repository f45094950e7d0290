package histories_test

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/schema"
)

// emaStory is about one average whose ring of events is nearly full, or about
// one of an older system.
type emaStory struct {
	averages
	stores []*ema.Store
	cfg    ema.Config
	attr   string // of the average
	erases bool   // the row is erased now and then
}

func newEma(w *world) story {
	e := &emaStory{averages: averages{w: w, pk: "EFFORT#42"}, attr: "ema"}
	if w.rnd.IntN(3) == 0 {
		e.pk, e.attr = "PREF#42", "value"
		e.cfg = ema.Config{Prefix: "PREF", Names: map[string]string{"ema": "value"}}
	}
	for _, c := range w.callers {
		cfg := e.cfg
		cfg.Now, cfg.ConsistentReads, cfg.Alpha = c.now, true, alpha
		store, err := ema.New(c.client, "homeops", &cfg)
		if err != nil {
			panic(err)
		}
		e.stores = append(e.stores, store)
	}
	e.observe = func(ctx context.Context, c *caller, ev event.Event, n int) (event.Outcome, error) {
		return e.stores[c.id].Observe(ctx, ema.Observe{Subject: "42", Metric: "metric", Event: ev, Value: valueOf(n)})
	}
	e.get = func(ctx context.Context, c *caller) any {
		a, ok, err := e.stores[c.id].Get(ctx, "42", "metric")
		if err != nil {
			return nil
		}
		return average{stands: ok, value: a.Value, samples: a.Samples}
	}
	return e
}

func (e *emaStory) tables() []schema.Table { return []schema.Table{e.stores[0].Table()} }

func (e *emaStory) begin() []*call {
	calls := e.start(e.older)
	e.erases = len(e.w.parts) == 0 && e.w.rnd.IntN(2) == 0 // only without an older system, as in pattern
	return calls
}

func (e *emaStory) intrude() {
	if e.erases {
		e.erase()
	} else {
		e.older()
	}
}

// erase erases the subject's averages from outside, without a network.
func (e *emaStory) erase() {
	store, err := ema.New(e.w.raw, "homeops", &e.cfg)
	if err != nil {
		panic(err)
	}
	n, err := store.Erase(context.Background(), "42")
	if err != nil {
		panic(err)
	}
	if n > 0 {
		e.w.happened(e.pk, erased{}, nil)
	}
}

// older sets an average in a row without a version.
func (e *emaStory) older() {
	value := e.w.rnd.Int64N(100)
	_, err := e.w.raw.UpdateItem(context.Background(), &dynamodb.UpdateItemInput{
		TableName: aws.String("homeops"), Key: map[string]types.AttributeValue{"pk": s(e.pk), "sk": s("metric")},
		ConditionExpression:       aws.String("attribute_not_exists(version)"),
		UpdateExpression:          aws.String("SET #average = :value ADD samples :one"),
		ExpressionAttributeNames:  map[string]string{"#average": e.attr},
		ExpressionAttributeValues: row{":value": n(value), ":one": n(1)},
	})
	if err == nil {
		e.w.happened(e.pk, olderCount{float64(value)}, nil)
	}
}
