package record_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

// same returns two events of one time; the first sorts before the second.
func same(t *testing.T, seconds int) (less, greater event.Event) {
	t.Helper()
	when := now.Add(time.Duration(seconds) * time.Second)
	events := []event.Event{recordtest.Event(t, when, "charge", "1"), recordtest.Event(t, when, "charge", "2")}
	slices.SortFunc(events, event.Event.Compare)
	return events[0], events[1]
}

// sets is a Set of a status.
func sets(ev event.Event, rank int, status string) record.Set {
	return record.Set{Partition: "p", Sort: "s", Event: ev, Rank: rank, Values: record.Item{"status": record.Text(status)}}
}

// told is the answer of Set in one word.
func told(t *testing.T, rows *record.Rows[string], s record.Set) string {
	t.Helper()
	out, err := rows.Set(t.Context(), s)
	tie, tied := errors.AsType[*record.TieError](err)
	switch {
	case tied && tie.Stands && out == event.Created:
		return "stands"
	case tied && !tie.Stands && out == 0:
		return "tied"
	case errors.Is(err, event.ErrSuperseded) && out == 0:
		return "superseded"
	case err != nil:
		t.Fatal(out, err)
	}
	return out.String()
}

// The answers to a second event, by what the first one was.
func TestAnswersOfSet(t *testing.T) {
	t.Parallel()
	_, _, rows := openStatuses(t)
	less, greater := same(t, 0)
	later, _ := same(t, 1)
	for i, tc := range []struct {
		first, second record.Set
		want          string
	}{
		{sets(less, 0, "a"), sets(later, 0, "b"), "created"},
		{sets(later, 0, "a"), sets(less, 0, "b"), "superseded"},
		{sets(later, 0, "a"), sets(less, 999, "a"), "superseded"},
		{sets(less, 999, "a"), sets(later, 0, "b"), "created"},
		{sets(less, 0, "a"), sets(less, 0, "a"), "duplicate"},
		{sets(less, 7, "a"), sets(less, 7, "b"), "tied"},      // one event that says two things
		{sets(less, 0, "a"), sets(less, 1, "b"), "created"},   // the same event, by a program with ranks
		{sets(less, 1, "a"), sets(less, 0, "b"), "duplicate"}, // and by one that has none yet
		{sets(greater, 0, "a"), sets(less, 1, "b"), "created"},
		{sets(less, 1, "a"), sets(greater, 0, "b"), "superseded"},
		{sets(greater, 9, "a"), sets(less, 10, "b"), "created"},
		{sets(less, 10, "a"), sets(greater, 9, "a"), "superseded"},
		{sets(less, 0, "a"), sets(greater, 0, "a"), "created"},
		{sets(greater, 0, "a"), sets(less, 0, "a"), "duplicate"},
		{sets(less, 0, "a"), sets(greater, 0, "b"), "stands"},
		{sets(greater, 0, "a"), sets(less, 0, "b"), "tied"},
		{sets(less, 999, "a"), sets(greater, 999, "b"), "stands"},
		{sets(greater, 12, "a"), sets(less, 12, "b"), "tied"},
	} {
		tc.first.Sort, tc.second.Sort = fmt.Sprint(i), fmt.Sprint(i)
		mustSet(t, rows, tc.first, "created")
		want := tc.second.Values["status"]
		if got := told(t, rows, tc.second); got != tc.want {
			t.Errorf("%d: %s, want %s", i, got, tc.want)
		} else if got != "created" && got != "stands" {
			want = tc.first.Values["status"]
		}
		if got, _, err := rows.Get(t.Context(), "p", fmt.Sprint(i)); err != nil || !sameValue(record.Text(got), want) {
			t.Errorf("%d: the row has %s, %v", i, got, err)
		}
	}
}

// A tie names the method and the table. If the reply of an event that stands is
// lost, its repetition finds only itself.
func TestTies(t *testing.T) {
	t.Parallel()
	db, _, rows := openStatuses(t)
	less, greater := same(t, 0)
	mustSet(t, rows, sets(less, 1, "settled"), "created")
	s := sets(greater, 1, "reversed")
	s.Method = "Settle"
	if out, err := rows.Set(t.Context(), s); out != event.Created || err.Error() != "statuses: Settle on table "+rows.Table().Name+": record: the event replaced other values of an event with the same time and rank" {
		t.Errorf("Set = %v, %v", out, err)
	}
	if out, err := rows.Set(t.Context(), sets(less, 1, "settled")); out != 0 || err.Error() != "statuses: Set on table "+rows.Table().Name+": record: an event with the same time and rank has set other values" {
		t.Errorf("Set = %v, %v", out, err)
	}
	wantStatus(t, rows, "reversed")
	less, greater = same(t, 1)
	mustSet(t, rows, sets(less, 0, "settled"), "created")
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem"})
	mustSet(t, rows, sets(greater, 0, "reversed"), "duplicate")
	if got := told(t, rows, sets(less, 0, "settled")); got != "tied" {
		t.Errorf("the other event is %s, want tied", got)
	}
}

// The row after any order of arrival is that of the event that is last by time,
// rank and identity, and has only what that event gave.
func TestNoOrderOfArrivalShows(t *testing.T) {
	t.Parallel()
	db, _, rows := openStatuses(t)
	less, greater := same(t, 0)
	early, _ := same(t, -1)
	all := []record.Set{sets(early, 3, "refused"), sets(greater, 0, "pending"), sets(less, 1, "settled"), sets(less, 2, "reversed")}
	all[1].Values = record.Item{"note": record.Text("unpaid"), "more": record.Int(1)}
	all[3].Values["and"] = record.Int(2)
	want := record.Item{
		"pk": record.Text("p"), "sk": record.Text("0"), "type": record.Text("STATUS"), "updatedAt": record.Time(now),
		"event":  record.Text(less.String()[:10] + "r002" + less.String()[10:]),
		"status": record.Text("reversed"), "and": record.Int(2),
	}
	for i, order := range orders(len(all)) {
		for _, n := range append(order, order...) {
			all[n].Sort = fmt.Sprint(i)
			told(t, rows, all[n])
		}
		want["sk"] = record.Text(fmt.Sprint(i))
		stored := recordtest.Row(t, db.Client(), rows.Table().Name, record.Item{"pk": want["pk"], "sk": want["sk"]})
		if diff := cmp.Diff(want, stored, cmp.Comparer(sameValue)); diff != "" {
			t.Errorf("order %v (-want +got):\n%s", order, diff)
		}
	}
}

// orders returns all orders of n things.
func orders(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, order := range orders(n - 1) {
		for i := range n {
			all = append(all, slices.Insert(slices.Clone(order), i, n-1))
		}
	}
	return all
}

// Values of a tie are compared as DynamoDB compares them.
func TestValuesOfATie(t *testing.T) {
	t.Parallel()
	_, _, rows := openStatuses(t)
	less, greater := same(t, 0)
	n := func(text string) types.AttributeValue { return &types.AttributeValueMemberN{Value: text} }
	ss := func(texts ...string) types.AttributeValue { return &types.AttributeValueMemberSS{Value: texts} }
	ns := func(texts ...string) types.AttributeValue { return &types.AttributeValueMemberNS{Value: texts} }
	bs := func(texts ...string) types.AttributeValue {
		set := &types.AttributeValueMemberBS{}
		for _, text := range texts {
			set.Value = append(set.Value, []byte(text))
		}
		return set
	}
	list := func(of ...types.AttributeValue) types.AttributeValue { return &types.AttributeValueMemberL{Value: of} }
	entries := func(of record.Item) types.AttributeValue { return &types.AttributeValueMemberM{Value: of} }
	b := func(text string) types.AttributeValue { return &types.AttributeValueMemberB{Value: []byte(text)} }
	flag := func(v bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: v} }
	null := &types.AttributeValueMemberNULL{Value: true}
	text := record.Text
	for i, tc := range []struct {
		a, b types.AttributeValue
		same bool
	}{
		{text("1"), text("1"), true},
		{text("1"), text("1.0"), false},
		{text("1"), n("1"), false},
		{n("1"), n("1.0"), true},
		{n("1000"), n("1E3"), true},
		{n("-0.5"), n("-5e-1"), true},
		{n("1E125"), n("1E124"), false},
		{n("0.1"), n("0.10000000000000000000000000000000000001"), false},
		{b("x"), b("x"), true},
		{b("x"), b("y"), false},
		{b("x"), text("x"), false},
		{flag(true), flag(true), true},
		{flag(true), flag(false), false},
		{null, null, true},
		{null, nil, false},
		{nil, nil, true},
		{text("x"), nil, false},
		{ss("a", "b"), ss("b", "a"), true},
		{ss("a", "b"), ss("a", "c"), false},
		{ss("a", "b"), list(text("a"), text("b")), false},
		{ns("1", "20"), ns("2e1", "1.0"), true},
		{ns("1", "20"), ns("1", "2"), false},
		{ns("1"), ss("1"), false},
		{bs("a", "b"), bs("b", "a"), true},
		{bs("a", "b"), bs("b"), false},
		{list(n("1"), text("a")), list(n("1.0"), text("a")), true},
		{list(n("1"), n("2")), list(n("2"), n("1")), false},
		{list(), list(), true},
		{list(), entries(nil), false},
		{entries(record.Item{"a": n("1"), "b": list()}), entries(record.Item{"b": list(), "a": n("1.00")}), true},
		{entries(record.Item{"a": n("1")}), entries(record.Item{"a": n("1"), "b": null}), false},
		{entries(nil), entries(record.Item{}), true},
	} {
		for j, order := range [][2]types.AttributeValue{{tc.a, tc.b}, {tc.b, tc.a}} {
			first, second := sets(less, 0, "x"), sets(greater, 0, "x")
			first.Sort, second.Sort = fmt.Sprint(i, j), fmt.Sprint(i, j)
			first.Values["more"], second.Values["more"] = order[0], order[1]
			mustSet(t, rows, first, "created")
			want := "stands"
			if tc.same {
				want = "created"
			}
			if got := told(t, rows, second); got != want {
				t.Errorf("%v after %v is %s, want %s", order[1], order[0], got, want)
			}
		}
	}
}
