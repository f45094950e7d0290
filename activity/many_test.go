package activity_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

func TestRecordMany(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	all := setOf(t, 7, 3)
	mustRecord(t, acts, all[1])
	cost := db.Meter(func() {
		outcomes, err := acts.RecordMany(t.Context(), all)
		if want := []event.Outcome{event.Created, event.Duplicate, event.Created}; err != nil || !slices.Equal(outcomes, want) {
			t.Errorf("%v, %v, want %v", outcomes, err, want)
		}
	})
	if cost.Requests != len(all) {
		t.Errorf("%d requests for %d activities", cost.Requests, len(all))
	}
	wantSame(t, "what stands", everything(t, acts), all)
	if outcomes, err := acts.RecordMany(t.Context(), []activity.Activity{}); outcomes != nil || err != nil {
		t.Errorf("nothing: %v, %v", outcomes, err)
	}
}

func TestRecordManyLeftovers(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	stands := chore(t, monday, 2, "tvätt")
	mustRecord(t, acts, stands)
	nameless := chore(t, monday, 3, "")
	all := []activity.Activity{chore(t, monday, 1, "diskning"), chore(t, monday, 2, "diskning"), nameless, chore(t, monday, 4, "diskning")}
	outcomes, err := acts.RecordMany(t.Context(), all)
	if diff := cmp.Diff([]event.Outcome{event.Created, 0, 0, event.Created}, outcomes); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	var left *event.LeftoverError
	if !errors.As(err, &left) || len(left.Leftovers) != 2 || left.Leftovers[0].Index != 1 || left.Leftovers[1].Index != 2 {
		t.Fatalf("err = %v, want a LeftoverError of 1 and 2", err)
	}
	var conflict *activity.ConflictError
	if !errors.As(left.Leftovers[0].Err, &conflict) || !errors.As(err, &conflict) {
		t.Errorf("[1]: %v, want a ConflictError", left.Leftovers[0].Err)
	}
	wantInputError(t, left.Leftovers[1].Err, "Name must not be empty")
	got, err := acts.Count(t.Context(), activity.Filter{Scope: home})
	if got != 3 || err != nil {
		t.Errorf("%d stand, %v", got, err)
	}
}

func TestRecordManyIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, nil)
		acts, err := activity.New(db.Client(), "homeops-activities", &activity.Config{Now: recordtest.Clock(monday)})
		if err != nil {
			t.Fatal(err)
		}
		db.Create(acts.Table())
		db.Inject(dynamotest.Fault{Do: dynamotest.Delay(time.Second), Op: "PutItem", Times: -1})
		var all []activity.Activity
		for seq := range int64(25) {
			all = append(all, chore(t, monday, seq+1, "diskning"))
		}
		started := time.Now()
		if _, err := acts.RecordMany(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(started); took != 4*time.Second {
			t.Errorf("25 puts of a second took %v, want 4 rounds of at most 8", took)
		}
	})
}

// Activities of one event are recorded in the slice's order: the first one stays.
func TestRecordManyOneEventTwice(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	for seq := range int64(20) {
		first := chore(t, monday, seq+1, "diskning")
		second, nameless := first, first
		second.Name, nameless.Name = "tvätt", ""
		outcomes, err := acts.RecordMany(t.Context(), []activity.Activity{nameless, first, second, first})
		if !slices.Equal(outcomes, []event.Outcome{0, event.Created, 0, event.Duplicate}) {
			t.Errorf("%v, %v", outcomes, err)
		}
	}
}

// If it is unknown whether the first activity of an event was recorded, no
// later one takes its place.
func TestRecordManyLeavesWhatFollowsTrouble(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	first := chore(t, monday, 1, "diskning")
	row := map[string]types.AttributeValue{"chatId": item.S(first.Scope), "activityId": item.S(first.Event.String())}
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "PutItem", Key: row, Times: 3}) // all attempts of the first
	second := first
	second.Name = "tvätt"
	all := []activity.Activity{first, second, chore(t, monday, 2, "diskning")}
	outcomes, err := acts.RecordMany(t.Context(), all)
	if diff := cmp.Diff([]event.Outcome{0, 0, event.Created}, outcomes); diff != "" || err == nil {
		t.Errorf("%v, outcomes (-want +got):\n%s", err, diff)
	}
	outcomes, _ = acts.RecordMany(t.Context(), all)
	if diff := cmp.Diff([]event.Outcome{event.Created, 0, event.Duplicate}, outcomes); diff != "" {
		t.Errorf("again, outcomes (-want +got):\n%s", diff)
	}
}

// Bad input is reported even after the context has ended, and the reasons of the
// others name the method.
func TestRecordManyAfterTheContext(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := acts.RecordMany(ctx, []activity.Activity{chore(t, monday, 1, "diskning"), chore(t, monday, 2, "")})
	var left *event.LeftoverError
	if !errors.As(err, &left) || len(left.Leftovers) != 2 {
		t.Fatalf("err = %v, want both left over", err)
	}
	if want := "activity: RecordMany on table " + acts.Table().Name + ": context canceled (the first of 2 left over)"; err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	wantInputError(t, left.Leftovers[1].Err, "Name must not be empty")
}
