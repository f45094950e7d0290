package activity_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
)

func TestRecord(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	dish := chore(t, monday, 7, "diskning")
	var out event.Outcome
	var err error
	cost := db.Meter(func() { out, err = acts.Record(t.Context(), dish) })
	if out != event.Created || err != nil {
		t.Fatalf("first: %v, %v", out, err)
	}
	cost.Want(t, dynamotest.Price{Requests: 1, WCU: 4})
	out, err = acts.Record(t.Context(), dish)
	if out != event.Duplicate || err != nil {
		t.Errorf("redelivery: %v, %v", out, err)
	}
	wantSame(t, "InScope", collect(t, acts.InScope(t.Context(), home, activity.Range{})), []activity.Activity{dish})
	for _, r := range []activity.Range{{}, {NewestFirst: true}, {From: monday, To: monday.Add(1)}} {
		wantSame(t, "ByActor", collect(t, acts.ByActor(t.Context(), martin, r)), []activity.Activity{dish})
		wantSame(t, "ByName", collect(t, acts.ByName(t.Context(), home, "diskning", r)), []activity.Activity{dish})
		wantSame(t, "ByActorAndName", collect(t, acts.ByActorAndName(t.Context(), home, martin, "diskning", r)), []activity.Activity{dish})
	}
}
