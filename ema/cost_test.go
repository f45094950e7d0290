package ema_test

import (
	"context"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// fill observes so many values that the row has all the recent events it can.
func fill(t *testing.T, store *ema.Store, o ema.Observe) {
	t.Helper()
	for i := range 33 {
		o.Event, o.Value = ago(t, 40-i), float64(i)/3
		mustObserve(t, store, o, event.Created)
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	db, first := open(t)
	store, err := ema.New(db.Client(), first.Table().Name, &ema.Config{Now: recordtest.Clock(clock)})
	if err != nil {
		t.Fatal(err)
	}
	full := effort(ago(t, 0), 4)
	fill(t, store, full)
	pricetest.Run(t, db, []pricetest.Case{
		{Func: "Store.Observe", Call: func(ctx context.Context) error { _, err := store.Observe(ctx, full); return err }},
		{Func: "Store.Get", Call: func(ctx context.Context) error { _, _, err := store.Get(ctx, full.Subject, full.Metric); return err }},
		{Func: "Store.All", Call: func(ctx context.Context) error { _, err := store.All(ctx, full.Subject); return err }},
		{Func: "Store.Erase", Call: func(ctx context.Context) error { _, err := store.Erase(ctx, full.Subject); return err }},
	}, store)
}

func TestPricesBeyond(t *testing.T) {
	t.Parallel()
	db, consistent := open(t)
	o := effort(ago(t, 0), 4)
	observe := func(want event.Outcome) func() { return func() { mustObserve(t, consistent, o, want) } }
	db.Meter(observe(event.Created)).Want(t, dynamotest.Price{Requests: 2, RCU: 1, WCU: 1}) // a new row
	db.Meter(observe(event.Duplicate)).Want(t, dynamotest.Price{Requests: 1, RCU: 1})
	db.Meter(func() { mustGet(t, consistent, o.Subject, o.Metric) }).Want(t, dynamotest.Price{Requests: 1, RCU: 1})
	db.Meter(func() {
		if _, err := consistent.All(t.Context(), o.Subject); err != nil {
			t.Error(err)
		}
	}).Want(t, dynamotest.Price{Requests: 1, RCU: 1})
}

func TestRowSize(t *testing.T) {
	t.Parallel()
	db, store := open(t)
	o := ema.Observe{Subject: strings.Repeat("s", 100), Metric: strings.Repeat("m", 100)}
	fill(t, store, o)
	row := recordtest.Row(t, db.Client(), store.Table().Name, ddb.Item{"pk": item.S("EFFORT#" + o.Subject), "sk": item.S(o.Metric)})
	if beside := item.Size(row) - 200; beside < 600 || beside > 620 {
		t.Errorf("a full row has %d bytes beside its subject and metric", beside)
	}
}
