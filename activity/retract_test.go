package activity_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// retract retracts at home and checks the outcome.
func retract(t testing.TB, acts *activity.Store, ev event.Event, tombstone bool, want event.Outcome) {
	t.Helper()
	out, err := acts.Retract(t.Context(), activity.Retract{Scope: home, Event: ev, Tombstone: tombstone})
	if out != want || err != nil {
		t.Errorf("Retract = %v, %v, want %v", out, err, want)
	}
}

// stored is the row of the event at home, as it is.
func stored(t testing.TB, db *dynamotest.DB, acts *activity.Store, ev event.Event) ddb.Item {
	t.Helper()
	return recordtest.Row(t, db.Client(), acts.Table().Name, ddb.Item{"chatId": item.S(home), "activityId": item.S(ev.String())})
}

// A put that meets a transaction on the row is sent again.
func TestPutsMeetATransaction(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	dish := chore(t, monday, 7, "diskning")
	for name, put := range map[string]func(){
		"Record":  func() { mustRecord(t, acts, dish) },
		"Retract": func() { retract(t, acts, chore(t, monday, 8, "tvätt").Event, true, event.Created) },
	} {
		db.Inject(dynamotest.Fault{Do: dynamotest.Answer(400, `{"__type": "TransactionConflictException"}`), Op: "PutItem", Times: 2})
		if cost := db.Meter(put); cost.Requests != 3 {
			t.Errorf("%s: %v", name, cost)
		}
	}
}

func TestRetract(t *testing.T) {
	t.Parallel()
	db, acts := open(t, &activity.Config{Now: recordtest.Clock(monday.Add(time.Hour))})
	dish, wash := chore(t, monday, 7, "diskning"), chore(t, monday, 8, "diskning")
	mustRecord(t, acts, dish, wash)
	retract(t, acts, dish.Event, false, event.Created)
	retract(t, acts, dish.Event, false, event.Duplicate)
	retract(t, acts, dish.Event, true, event.Duplicate)

	if out, err := acts.Record(t.Context(), dish); out != 0 || !errors.Is(err, activity.ErrRetracted) {
		t.Errorf("Record: %v, %v", out, err)
	}
	if out, err := acts.RecordAll(t.Context(), []activity.Activity{dish}); out != 0 || !errors.Is(err, activity.ErrRetracted) {
		t.Errorf("RecordAll: %v, %v", out, err)
	}
	outcomes, err := acts.RecordMany(t.Context(), []activity.Activity{dish, wash})
	if left, ok := errors.AsType[*event.LeftoverError](err); !ok || len(left.Leftovers) != 1 || !errors.Is(left, activity.ErrRetracted) || outcomes[1] != event.Duplicate {
		t.Errorf("RecordMany: %v, %v", outcomes, err)
	}

	for name, way := range waysTo(acts) {
		got, next := way.part(t, activity.Range{})
		if wantSame(t, name, got, []activity.Activity{wash}); next != "" {
			t.Errorf("%s: next is %q", name, next)
		}
	}
	if n, err := acts.Count(t.Context(), activity.Filter{Scope: home}); n != 1 || err != nil {
		t.Errorf("Count = %d, %v", n, err)
	}
	if got, err := acts.OfEvent(t.Context(), home, dish.Event); got != nil || err != nil {
		t.Errorf("OfEvent = %v, %v", got, err)
	}
	if diff := cmp.Diff(golden.Format(golden.Item(t, "testdata/tombstone.json")), golden.Format(stored(t, db, acts, dish.Event))); diff != "" {
		t.Errorf("tombstone (-want +got):\n%s", diff)
	}
}

func TestRetractOfNothing(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	dish := chore(t, monday, 7, "diskning")
	out, err := acts.Retract(t.Context(), activity.Retract{Scope: home, Event: dish.Event})
	if out != 0 || !errors.Is(err, activity.ErrNotFound) || stored(t, db, acts, dish.Event) != nil {
		t.Errorf("Retract = %v, %v", out, err)
	}
	cost := db.Meter(func() { retract(t, acts, dish.Event, true, event.Created) })
	cost.Want(t, dynamotest.Price{Requests: 1, WCU: 1})
	if out, err := acts.Record(t.Context(), dish); out != 0 || !errors.Is(err, activity.ErrRetracted) {
		t.Errorf("Record: %v, %v", out, err)
	}
	if db.InProcess() { // elsewhere a refusal reports no capacity
		cost = db.Meter(func() { retract(t, acts, dish.Event, true, event.Duplicate) })
		cost.Want(t, dynamotest.Price{Requests: 1, WCU: 1})
	}
	for want, r := range map[string]activity.Retract{
		"Scope must not be empty":    {Event: dish.Event},
		"Event must not be the zero": {Scope: home},
		"Event has N = 0":            {Scope: home, Event: recordtest.Bound(dish.Event), Tombstone: true},
		"Event lies more than":       {Scope: home, Event: newEvent(t, time.Now().Add(2*time.Hour), home, 7), Tombstone: true},
	} {
		_, err := acts.Retract(t.Context(), r)
		wantInputError(t, err, want)
	}
}

func TestRetractOfASet(t *testing.T) {
	t.Parallel()
	four := setOf(t, 7, 4)
	other := four[0]
	other.Name = "städning"
	for name, tc := range map[string]struct {
		retracted int // its index
		then      []activity.Activity
		out       event.Outcome
		err       error
	}{
		"the guard, then the set":          {0, four[:3], 0, activity.ErrRetracted},
		"the guard, then another set":      {0, []activity.Activity{other, four[3]}, 0, activity.ErrRetracted},
		"another, then the set":            {1, four[:3], 0, activity.ErrRetracted},
		"another, then the guard":          {1, four[:1], 0, new(activity.ConflictError)},
		"another, then another with it":    {2, []activity.Activity{other, four[2]}, 0, activity.ErrRetracted},
		"the last, then the rest":          {2, four[:2], event.Duplicate, nil},
		"the last, then the rest and more": {2, []activity.Activity{four[0], four[1], four[3]}, 0, new(activity.ConflictError)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, acts := open(t, nil)
			if _, err := acts.RecordAll(t.Context(), four[:3]); err != nil {
				t.Fatal(err)
			}
			retract(t, acts, four[tc.retracted].Event, false, event.Created)
			left := everything(t, acts)
			if len(left) != 2 {
				t.Errorf("%d are left", len(left))
			}
			out, err := acts.RecordAll(t.Context(), tc.then)
			if _, conflict := errors.AsType[*activity.ConflictError](tc.err); conflict {
				got, ok := errors.AsType[*activity.ConflictError](err)
				if !ok {
					t.Fatalf("%v, %v, want a ConflictError", out, err)
				}
				wantSame(t, "ConflictError.Stored", got.Stored, left)
			} else if out != tc.out || !errors.Is(err, tc.err) {
				t.Errorf("%v, %v, want %v, %v", out, err, tc.out, tc.err)
			}
			wantSame(t, "what stands", everything(t, acts), left)
		})
	}
}

// A tombstone under another N, written before anything is recorded, keeps away
// only that N: the set is Created once, and then Duplicate.
func TestRetractAheadOfASet(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	three := setOf(t, 7, 3)
	retract(t, acts, three[2].Event, true, event.Created)
	for _, want := range []event.Outcome{event.Created, event.Duplicate} {
		if out, err := acts.RecordAll(t.Context(), three[:2]); out != want || err != nil {
			t.Errorf("%v, %v, want %v", out, err, want)
		}
	}
	if _, err := acts.RecordAll(t.Context(), three); !errors.Is(err, activity.ErrRetracted) {
		t.Errorf("with it: %v", err)
	}
}
