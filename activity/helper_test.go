package activity_test

import (
	"iter"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/schema"
)

const (
	home    = "-100123"
	martin  = "42"
	rebecca = "77"
)

// monday is a start for a test's events: some past Monday, in whole seconds.
var monday = time.Date(2026, 3, 23, 8, 0, 0, 0, time.UTC)

// open returns a store on a table of its own.
func open(t testing.TB, cfg *activity.Config) (*dynamotest.DB, *activity.Store) {
	t.Helper()
	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond), pricetest.Watch)
	acts, err := activity.New(db.Client(), db.Name("homeops-activities"), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Create(t.Context(), db.Client(), acts.Table()); err != nil {
		t.Fatal(err)
	}
	return db, acts
}

// newEvent is the event of message seq in the scope.
func newEvent(t testing.TB, at time.Time, scope string, seq int64) event.Event {
	t.Helper()
	return recordtest.Event(t, at, "telegram", scope, strconv.FormatInt(seq, 10))
}

// chore is an activity of martin's at home, reported in message seq.
func chore(t testing.TB, at time.Time, seq int64, name string) activity.Activity {
	t.Helper()
	return activity.Activity{
		Scope: home, Actor: martin, ActorName: "Martin", Event: newEvent(t, at, home, seq),
		Name: name, Kind: "chore", Seq: seq, Effort: 0.6, Confidence: 0.93,
	}
}

func mustRecord(t testing.TB, acts *activity.Store, all ...activity.Activity) {
	t.Helper()
	outcomes, err := acts.RecordMany(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	for i, out := range outcomes {
		if out != event.Created {
			t.Fatalf("RecordMany: [%d] is %v", i, out)
		}
	}
}

// oldRow is a row as the TypeScript system wrote it, with the time in any unit.
func oldRow(t testing.TB, id, scope, actor, name string, timestamp int64) map[string]types.AttributeValue {
	t.Helper()
	stamp := strconv.FormatInt(timestamp, 10)
	return map[string]types.AttributeValue{
		"chatId":            item.S(scope),
		"activityId":        item.S(id),
		"userId":            item.Digits(actor),
		"userName":          item.S("Martin"),
		"messageId":         item.Digits("7"),
		"timestamp":         item.Digits(stamp),
		"type":              item.S("chore"),
		"activity":          item.S(name),
		"effort":            item.Digits("0.5"),
		"confidence":        item.Digits("0.9"),
		"activityTimestamp": item.S(name + "#" + stamp),
	}
}

func collect(t testing.TB, seq iter.Seq2[activity.Activity, error]) []activity.Activity {
	t.Helper()
	var all []activity.Activity
	for a, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	return all
}

// everything returns what is stored in the scope home, read consistently.
func everything(t testing.TB, acts *activity.Store) []activity.Activity {
	t.Helper()
	return collect(t, acts.InScope(t.Context(), home, activity.Range{Consistent: true}))
}

// wantSame compares without the read-only fields, and numbers of data by value.
func wantSame(t testing.TB, what string, got, want []activity.Activity) {
	t.Helper()
	diff := cmp.Diff(want, got, cmpopts.IgnoreFields(activity.Activity{}, "At", "CreatedAt"), cmpopts.EquateEmpty())
	if diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// silent returns a store whose requests fail the test.
func silent(t testing.TB) *activity.Store {
	t.Helper()
	acts, err := activity.New(recordtest.Silent(t), "acts", nil)
	if err != nil {
		t.Fatal(err)
	}
	return acts
}
