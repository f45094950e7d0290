package pattern_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/tzclock"
)

// fill observes 40 events, each 25 hours after the one before, so that the row
// has every day, every hour and all the recent events it can have.
func fill(t *testing.T, store *pattern.Store, o pattern.Observe) {
	t.Helper()
	for i := range 40 {
		o.Event = recordtest.Event(t, clock.Add(time.Duration(i-40)*25*time.Hour), "test")
		mustObserve(t, store, o, event.Created)
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t, pricetest.Watch)
	store, err := pattern.New(db.Client(), db.Name("homeops"), tzclock.Stockholm, &pattern.Config{Now: recordtest.Clock(clock)})
	if err != nil {
		t.Fatal(err)
	}
	recordtest.Create(t, db.Client(), store.Table())
	full := washing(event.Event{})
	fill(t, store, full)
	full.Event = recordtest.At(t, "2026-03-29T17:15:00Z")
	burst := make([]event.Event, 32)
	for i := range burst {
		burst[i] = recordtest.Event(t, clock.Add(time.Duration(i)*time.Second), "burst")
	}
	pricetest.Run(t, db, []pricetest.Case{
		{Func: "Store.Observe", Call: func(ctx context.Context) error { _, err := store.Observe(ctx, full); return err }},
		{Func: "Store.ObserveAll", Call: func(ctx context.Context) error {
			_, err := store.ObserveAll(ctx, pattern.ObserveAll{Scope: full.Scope, Actor: full.Actor, Name: full.Name, Events: burst})
			return err
		}},
		{Func: "Store.Get", Call: func(ctx context.Context) error {
			_, _, err := store.Get(ctx, full.Scope, full.Actor, full.Name)
			return err
		}},
		{Func: "Store.All", Call: func(ctx context.Context) error { _, err := store.All(ctx, full.Scope, full.Actor); return err }},
		{Func: "Store.Erase", Call: func(ctx context.Context) error { _, err := store.Erase(ctx, full.Scope, full.Actor); return err }},
	}, store)
}

func TestPricesBeyond(t *testing.T) {
	t.Parallel()
	db, consistent := open(t, tzclock.Stockholm)
	o := washing(recordtest.At(t, "2026-03-29T17:15:00Z"))
	observe := func(want event.Outcome) func() { return func() { mustObserve(t, consistent, o, want) } }
	db.Meter(observe(event.Created)).Want(t, dynamotest.Price{Requests: 2, RCU: 1, WCU: 1}) // a new row
	db.Meter(observe(event.Duplicate)).Want(t, dynamotest.Price{Requests: 1, RCU: 1})
	db.Meter(func() { mustGet(t, consistent, o.Scope, o.Actor, o.Name) }).Want(t, dynamotest.Price{Requests: 1, RCU: 1})
	db.Meter(func() {
		if _, err := consistent.All(t.Context(), o.Scope, o.Actor); err != nil {
			t.Error(err)
		}
	}).Want(t, dynamotest.Price{Requests: 1, RCU: 1})
}

// A race lost adds a request and the refusal's WCU, and no read. DynamoDB and
// its local version do not report what a refusal costs.
func TestPriceOfARace(t *testing.T) {
	t.Parallel()
	db, store := open(t, tzclock.Stockholm)
	intrude := func() { mustObserve(t, store, washing(recordtest.At(t, "2026-03-28T17:15:00Z")), event.Created) }
	db.Inject(dynamotest.Fault{Do: dynamotest.Before(intrude), Op: "UpdateItem"})
	o := washing(recordtest.At(t, "2026-03-29T17:15:00Z"))
	cost := db.Meter(func() { mustObserve(t, store, o, event.Created) })
	want := dynamotest.Price{Requests: 2 + 3, RCU: 1 + 1, WCU: 1 + 2}
	if !db.InProcess() {
		want.WCU--
	}
	cost.Want(t, want)
	if got := mustGet(t, store, o.Scope, o.Actor, o.Name); got.Total != 2 {
		t.Errorf("total %d, want 2", got.Total)
	}
}

func TestRowSize(t *testing.T) {
	t.Parallel()
	db, store := open(t, tzclock.UTC)
	o := pattern.Observe{Scope: strings.Repeat("s", 50), Actor: strings.Repeat("a", 50), Name: strings.Repeat("n", 50)}
	fill(t, store, o)
	row := recordtest.Row(t, db.Client(), store.Table().Name, ddb.Item{"pk": item.S("PATTERN#" + o.Scope + "#" + o.Actor), "sk": item.S(o.Name)})
	days, _ := item.Map(row, "dayOfWeekCounts")
	hours, _ := item.Map(row, "hourOfDayCounts")
	if len(days) != 7 || len(hours) != 24 {
		t.Fatalf("the row has %d days and %d hours", len(days), len(hours))
	}
	size := item.Size(row)
	if beside := size - 150; beside < 800 || beside > 820 || size > 1024 {
		t.Errorf("a full row has %d bytes, %d beside its ids and name", size, beside)
	}
}
