package activity_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/oklog/ulid/v2"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// randomID is an id as the TypeScript system made it: a time and random bytes.
func randomID(t testing.TB, ms int64, n byte) string {
	t.Helper()
	var id ulid.ULID
	if err := id.SetTime(uint64(ms)); err != nil {
		t.Fatal(err)
	}
	for i := 6; i < len(id); i++ {
		id[i] = 37 * (n + byte(i))
	}
	return id.String()
}

func old(t testing.TB, n byte, at time.Time, seconds bool, name string) map[string]types.AttributeValue {
	t.Helper()
	if seconds {
		return oldRow(t, randomID(t, at.Unix(), n), home, martin, name, at.Unix())
	}
	return oldRow(t, randomID(t, at.UnixMilli(), n), home, martin, name, at.UnixMilli())
}

// Rows of the TypeScript system, whose times are in seconds or milliseconds,
// come between ours in every walk that can see them.
func TestOldRows(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	table := acts.Table().Name
	at := func(minute int) time.Time { return monday.Add(time.Duration(minute) * time.Minute) }
	recordtest.Put(t, db.Client(), table, old(t, 1, at(0), true, "diskning"))
	recordtest.Put(t, db.Client(), table, old(t, 2, at(1), true, "diskning"))
	recordtest.Put(t, db.Client(), table, old(t, 3, at(2), false, "diskning"))
	bare := old(t, 4, at(3), false, "diskning")
	delete(bare, "activityTimestamp")
	delete(bare, "timestamp") // its time is that of its id
	recordtest.Put(t, db.Client(), table, bare)
	mustRecord(t, acts, chore(t, at(4), 1, "diskning"))

	ways := waysTo(acts)
	for _, tc := range []struct {
		way  string
		r    activity.Range
		want string // the minutes
	}{
		{"InScope", activity.Range{}, "[0 1 2 3 4]"},
		{"ByActor", activity.Range{}, "[0 1 2 4]"},
		{"ByName", activity.Range{}, "[0 1 2 4]"},
		{"ByActorAndName", activity.Range{}, "[4]"},
		{"ByName", activity.Range{From: at(1)}, "[1 2 4]"},
		{"ByName", activity.Range{From: at(1).Add(1)}, "[2 4]"},
		{"ByName", activity.Range{To: at(1)}, "[0]"},
		{"ByName", activity.Range{To: at(1).Add(1)}, "[0 1]"},
		{"ByActor", activity.Range{To: at(1)}, "[0]"},
		{"ByActor", activity.Range{From: at(1)}, "[2 4]"}, // what the doc says it misses
		{"InScope", activity.Range{From: at(1)}, "[2 3 4]"},
		{"InScope", activity.Range{To: at(1)}, "[0]"},
	} {
		var got []int
		for _, a := range collect(t, ways[tc.way](t.Context(), tc.r)) {
			got = append(got, a.At.Minute())
		}
		if fmt.Sprint(got) != tc.want {
			t.Errorf("%s, %+v: %v, want %s", tc.way, tc.r, got, tc.want)
		}
	}
	for _, tc := range []struct {
		filter activity.Filter
		want   int
	}{
		{activity.Filter{Scope: home}, 5},
		{activity.Filter{Scope: home, Name: "diskning"}, 4},
		{activity.Filter{Scope: home, Name: "diskning", From: at(1).Add(1)}, 2},
		{activity.Filter{Scope: home, Name: "diskning", To: at(1)}, 1},
		{activity.Filter{Actor: martin, To: at(1)}, 1},
		{activity.Filter{Scope: home, To: at(2), From: time.Unix(1, 0)}, 2},
		{activity.Filter{Scope: home, Name: "diskning", To: time.Unix(1, 0)}, 0},
	} {
		if got, err := acts.Count(t.Context(), tc.filter); got != tc.want || err != nil {
			t.Errorf("Count %+v: %d, %v, want %d", tc.filter, got, err, tc.want)
		}
	}

	// Walks stop at and resume from old rows too.
	for name, way := range ways {
		wantSame(t, name+" in parts over old rows", way.parts(t, activity.Range{Limit: 1}), collect(t, way(t.Context(), activity.Range{})))
	}
}

// An old row is found by its key, is never replaced, and can be taken back. Numbers that
// Record refuses are read as they are.
func TestOldRowByKey(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	row := old(t, 1, monday, true, "diskning")
	row["messageId"], row["effort"] = &types.AttributeValueMemberN{Value: "-7"}, &types.AttributeValueMemberN{Value: "-0.5"}
	recordtest.Put(t, db.Client(), acts.Table().Name, row)
	id, err := event.Parse(row["activityId"].(*types.AttributeValueMemberS).Value)
	if err != nil {
		t.Fatal(err)
	}
	got, err := acts.OfEvent(t.Context(), home, id)
	want := activity.Activity{
		Scope: home, Actor: martin, ActorName: "Martin", Event: id, Name: "diskning", Kind: "chore", Seq: -7,
		Effort: -0.5, Confidence: 0.9, At: monday,
	}
	if err != nil || len(got) != 1 || !cmp.Equal(got[0], want) {
		t.Errorf("OfEvent = %+v, %v, want %+v", got, err, want)
	}
	retract(t, acts, id, false, event.Created)
	wantSame(t, "what stands", everything(t, acts), nil)
}

// Old keys are not encoded: "diskning#5" sorts among the times of "diskning".
// Such rows are not part of the answer. Until Backfill completes them, a walk reads
// those that it meets, in pages that double.
func TestLookalikes(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	table := acts.Table().Name
	var want []activity.Activity
	for i := range 6 {
		want = append(want, chore(t, monday.Add(time.Duration(i)*time.Minute), int64(i+1), "diskning"))
	}
	mustRecord(t, acts, want...)
	n := byte(0)
	put := func(name string, rows int) {
		for range rows {
			n++
			recordtest.Put(t, db.Client(), table, old(t, n, monday.Add(time.Duration(n)*time.Second), n%2 == 0, name))
		}
	}
	last := func(what string) dynamotest.Cost {
		t.Helper()
		return db.Meter(func() {
			wantSame(t, what, collect(t, acts.ByName(t.Context(), home, "diskning", activity.Range{NewestFirst: true, Limit: 1})), want[5:])
		})
	}
	last("alone").Want(t, dynamotest.Price{Requests: 1, RCU: 0.5})
	put("diskning#2", 1)   // newer than all by its key
	put("diskning#17", 70) // older than all
	put("diskning#5#6", 1)
	put("diskning#9", 1)
	last("three before it").Want(t, dynamotest.Price{Requests: 1, RCU: 0.5})
	put("diskning#9", 60)
	put("diskning#5", 30)
	put("diskning#5#6", 60)
	if cost := last("and 150"); cost.Requests > 6 {
		t.Errorf("rows of three other names: %s", cost)
	}

	cost := db.Meter(func() {
		wantSame(t, "the first", collect(t, acts.ByName(t.Context(), home, "diskning", activity.Range{Limit: 1})), want[:1])
	})
	if cost.Requests != 5 {
		t.Errorf("seventy rows of one other name, oldest first: %s", cost)
	}

	for _, newest := range []bool{false, true} {
		r := activity.Range{NewestFirst: newest}
		wantOrder(t, "ByName", collect(t, acts.ByName(t.Context(), home, "diskning", r)), want, newest)
		r.Limit = 2
		wantOrder(t, "ByName in parts", waysTo(acts)["ByName"].parts(t, r), want, newest)
	}

	// An old name that reads like an encoded one shares the beginning of its
	// keys, and still the names are not mixed up.
	ours := chore(t, monday, 50, "a#b")
	mustRecord(t, acts, ours)
	put("a%23b", 10)
	put("a#b", 1) // seen by key and by actor, not under its name: the doc says so
	for _, newest := range []bool{false, true} {
		got := collect(t, acts.ByName(t.Context(), home, "a#b", activity.Range{NewestFirst: newest}))
		wantSame(t, fmt.Sprint("a#b, newest first: ", newest), got, []activity.Activity{ours})
	}
	next := "not written"
	collect(t, acts.ByName(t.Context(), home, "a#b", activity.Range{NewestFirst: true, Limit: 1, Next: &next}))
	if next != "" {
		t.Errorf("the last row of all leads on to %q", next)
	}
}
