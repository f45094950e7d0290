package ema_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// A row that is erased, made anew by an older system and given the same event
// again has the version and the ring that it had, over other samples: a write
// computed from the erased row must not win.
func TestErasedAndMadeAnewByAnOlderSystem(t *testing.T) {
	t.Parallel()
	db, store := open(t)
	again := effort(ago(t, 2), 10)
	mustObserve(t, store, again, event.Created)
	db.Inject(dynamotest.Fault{Op: "UpdateItem", Do: dynamotest.Before(func() {
		older := ddb.Item{"pk": item.S("EFFORT#42"), "sk": item.S("diskning"), "ema": item.N(30), "samples": item.N(7)}
		recordtest.Put(t, db.Client(), store.Table().Name, older)
		mustObserve(t, store, again, event.Created)
	})})
	mustObserve(t, store, effort(ago(t, 1), 40), event.Created)
	want := ema.Average{Subject: "42", Metric: "diskning", Value: 30, Samples: 9} // 30, 20, 30
	if got := mustGet(t, store, "42", "diskning"); got != want {
		t.Errorf("average %+v, want %+v", got, want)
	}
}
