package activity_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
)

// shared records what two actors did in two scopes, and retracts some.
func shared(t *testing.T, acts *activity.Store) (all []activity.Activity) {
	t.Helper()
	for i, scope := range []string{home, home, "-200", "-200"} {
		for n := range 30 {
			a := chore(t, monday, int64(100*i+n), "diskning")
			a.Scope, a.Actor = scope, []string{martin, rebecca}[i%2]
			all = append(all, a)
		}
	}
	mustRecord(t, acts, all...)
	return all
}

func TestErase(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	all := shared(t, acts)
	retract(t, acts, all[0].Event, false, event.Created)
	for _, want := range []int{60, 0} {
		if n, err := acts.Erase(t.Context(), home); n != want || err != nil {
			t.Errorf("%d, %v, want %d", n, err, want)
		}
	}
	if n, err := acts.Count(t.Context(), activity.Filter{Scope: "-200"}); n != 60 || err != nil {
		t.Errorf("another scope's: %d, %v", n, err)
	}
	mustRecord(t, acts, all[0]) // an erased event is forgotten
	_, err := acts.Erase(t.Context(), "")
	wantInputError(t, err, "scope must not be empty")
}

func TestEraseActor(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	all := shared(t, acts)
	retract(t, acts, all[0].Event, false, event.Created) // a tombstone names no actor
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "DeleteItem", Times: -1})
	if n, err := acts.EraseActor(t.Context(), martin); n != 0 || err == nil || !strings.HasPrefix(err.Error(), "activity: EraseActor on table ") {
		t.Errorf("all replies lost: %d, %v", n, err)
	}
	db.Heal()
	left := len(collect(t, acts.ByActor(t.Context(), martin, activity.Range{})))
	for _, want := range []int{left, 0} {
		if n, err := acts.EraseActor(t.Context(), martin); n != want || err != nil {
			t.Errorf("%d, %v, want %d", n, err, want)
		}
	}
	for _, scope := range []string{home, "-200"} {
		if n, err := acts.Count(t.Context(), activity.Filter{Scope: scope}); n != 30 || err != nil {
			t.Errorf("%d stand in %s, %v", n, scope, err)
		}
	}
	if _, err := acts.Record(t.Context(), all[0]); !errors.Is(err, activity.ErrRetracted) {
		t.Errorf("what was retracted: %v", err)
	}
	_, err := acts.EraseActor(t.Context(), "anna")
	wantInputError(t, err, "actor must be a whole decimal")
}
