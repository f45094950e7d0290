package activity_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
)

func TestErrorsNameMethodAndTable(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	acts, err := activity.New(db.Client(), db.Name("not-created"), nil)
	if err != nil {
		t.Fatal(err)
	}
	dish := chore(t, monday, 7, "diskning")
	errs := map[string]error{}
	_, errs["Retract"] = acts.Retract(t.Context(), activity.Retract{Scope: home, Event: dish.Event})
	_, errs["Record"] = acts.Record(t.Context(), dish)
	_, errs["RecordAll"] = acts.RecordAll(t.Context(), setOf(t, 7, 2))
	_, errs["RecordAll of one"] = acts.RecordAll(t.Context(), setOf(t, 7, 1))
	_, err = acts.RecordMany(t.Context(), setOf(t, 7, 1))
	if left, ok := errors.AsType[*event.LeftoverError](err); ok {
		errs["RecordMany"] = left.Leftovers[0].Err
	}
	_, errs["OfEvent"] = acts.OfEvent(t.Context(), home, dish.Event)
	_, errs["Count"] = acts.Count(t.Context(), activity.Filter{Scope: home})
	for name, way := range waysTo(acts) {
		errs[name] = refused(t, way(t.Context(), activity.Range{}))
	}
	if len(errs) != 11 {
		t.Errorf("%d errors", len(errs))
	}
	for what, err := range errs {
		method, _, _ := strings.Cut(what, " ")
		var missing *types.ResourceNotFoundException
		if !errors.As(err, &missing) || !strings.HasPrefix(err.Error(), "activity: "+method+" on table "+acts.Table().Name+": ") {
			t.Errorf("%s: %v", what, err)
		}
		if err != nil && (strings.Contains(err.Error(), home) || strings.Contains(err.Error(), "diskning")) {
			t.Errorf("%s: the error holds a key: %v", what, err)
		}
	}
}
