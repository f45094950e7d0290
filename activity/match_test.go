package activity_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

// order is an order of a customer's, with data.
func order(t testing.TB, seq int64, data map[string]any) activity.Activity {
	t.Helper()
	a := chore(t, monday, seq, "order")
	a.Kind, a.Data = "order", data
	return a
}

func TestGoldenData(t *testing.T) {
	t.Parallel()
	recorded := time.Date(2026, 3, 23, 8, 0, 2, 5_000_000, time.UTC)
	db, acts := open(t, &activity.Config{Now: recordtest.Clock(recorded)})
	given := order(t, 7, map[string]any{"cents": 1250, "destination": "Lund", "gift": false, "weight": attributevalue.Number("7e-1")})
	mustRecord(t, acts, given)
	golden.Want(t, db.Client(), acts.Table().Name, "testdata/activity_data.json", "chatId", "activityId")
	want := given
	want.At, want.CreatedAt = monday, recorded
	want.Data = map[string]any{"cents": attributevalue.Number("1250"), "destination": "Lund", "gift": false, "weight": attributevalue.Number("0.7")}
	if diff := cmp.Diff([]activity.Activity{want}, everything(t, acts)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDataIsCompared(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	mustRecord(t, acts, order(t, 1, map[string]any{"cents": 1}))
	for _, tc := range []struct {
		data map[string]any
		same bool
	}{
		{map[string]any{"cents": attributevalue.Number("1e0")}, true},
		{map[string]any{"cents": "1"}, false},
		{nil, false},
	} {
		a := order(t, 1, tc.data)
		_, single := acts.Record(t.Context(), a)
		_, all := acts.RecordAll(t.Context(), []activity.Activity{a})
		for name, err := range map[string]error{"Record": single, "RecordAll": all} {
			_, differs := errors.AsType[*activity.ConflictError](err)
			if differs == tc.same || !differs && err != nil {
				t.Errorf("%s of %v: %v, same: %v", name, tc.data, err, tc.same)
			}
		}
	}
}

func TestBadDataSendsNothing(t *testing.T) {
	t.Parallel()
	acts := silent(t)
	bad := order(t, 1, map[string]any{"x": math.NaN()})
	_, err := acts.Record(t.Context(), bad)
	recordtest.WantBad(t, err, "activity", `Data["x"]`)
	_, err = acts.RecordItems([]activity.Activity{bad})
	recordtest.WantBad(t, err, "activity", `Data["x"]`)
	_, err = activity.New(recordtest.Silent(t), "acts", &activity.Config{Names: map[string]string{"messageId": "data"}})
	recordtest.WantBad(t, err, "activity", `Config.Names["messageId"]`)
}

func TestBadFiltersSendNothing(t *testing.T) {
	t.Parallel()
	acts := silent(t)
	bad := []record.Compare{{Name: "x", Op: "!", Value: 1}}
	for field, r := range map[string]activity.Range{
		"Range.ReadAtMost": {ReadAtMost: -1},
		"Match.Kind":       {Match: activity.Match{Kind: "\xff"}},
		"Match.Data[0].Op": {Match: activity.Match{Data: bad}},
		"Match.Data":       {Match: activity.Match{Data: make([]record.Compare, 33)}},
		"Match.Actor":      {Match: activity.Match{Actor: "anna"}},
	} {
		for name, way := range waysTo(acts) {
			recordtest.WantBad(t, refused(t, way(t.Context(), r)), "activity", field, name)
		}
	}
	for _, name := range []string{"ByActor", "ByActorAndName"} {
		err := refused(t, waysTo(acts)[name](t.Context(), activity.Range{Match: activity.Match{Actor: martin}}))
		recordtest.WantBad(t, err, "activity", "Match.Actor", name)
	}
	f := activity.Filter{Scope: home, Match: activity.Match{Data: bad}}
	_, err := acts.Count(t.Context(), f)
	recordtest.WantBad(t, err, "activity", "Match.Data[0].Op")
	_, err = acts.Tally(t.Context(), f)
	recordtest.WantBad(t, err, "activity", "Match.Data[0].Op")
}

func TestCursorsOfFilters(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	for seq := range int64(6) {
		mustRecord(t, acts, chore(t, monday, seq, "diskning"))
	}
	for name, way := range waysTo(acts) {
		match := activity.Match{Kind: "chore"}
		_, next := way.part(t, activity.Range{Match: match, Limit: 2})
		for _, other := range []activity.Match{{}, {Kind: "recovery"}} {
			err := refused(t, way(t.Context(), activity.Range{Match: other, Cursor: next}))
			recordtest.WantBad(t, err, "activity", "Range.Cursor", name)
		}
		if rest := collect(t, way(t.Context(), activity.Range{Match: match, Cursor: next})); len(rest) != 4 {
			t.Errorf("%s: %d", name, len(rest))
		}
	}
}

// A walk costs what it reads, and not more than ReadAtMost allows.
func TestPriceOfAFilter(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	for seq := range int64(50) {
		a := order(t, seq, map[string]any{"cents": seq})
		a.ActorName = strings.Repeat("x", 600) // rows of nearly 1 KB
		mustRecord(t, acts, a)
	}
	none := activity.Match{Data: []record.Compare{{Name: "cents", Op: ">", Value: 50}}}
	for _, tc := range []struct {
		r    activity.Range
		want dynamotest.Price
		more bool
	}{
		{activity.Range{Match: none, Limit: 100}, dynamotest.Price{Requests: 1, RCU: 5.5}, false},
		{activity.Range{Match: none, Limit: 50, ReadAtMost: 8}, dynamotest.Price{Requests: 1, RCU: 1}, true},
		{activity.Range{Match: none, Limit: 50, ReadAtMost: 8, Consistent: true}, dynamotest.Price{Requests: 1, RCU: 2}, true},
		{activity.Range{Match: none, Limit: 4, ReadAtMost: 4}, dynamotest.Price{Requests: 1, RCU: 0.5}, true},
		{activity.Range{Match: none, ReadAtMost: 6}, dynamotest.Price{Requests: 2, RCU: 1}, true},
	} {
		cost := db.Meter(func() {
			if some, next := waysTo(acts)["InScope"].part(t, tc.r); len(some) != 0 || next != "" != tc.more {
				t.Errorf("%+v: %v, next %q", tc.r, some, next)
			}
		})
		cost.Want(t, tc.want)
	}
}
