package record_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

// statuses is a kind of row whose last event wins. It is read as its status.
func statuses(t *testing.T, api record.API, table string) *record.Rows[string] {
	t.Helper()
	kind := record.Kind[string]{Package: "statuses", Type: "STATUS", Attributes: []string{"status", "note", "more", "and"}, Decode: func(row record.Item) (string, error) {
		f := record.Read(row)
		return f.Text("status") + f.Text("note"), f.Err()
	}}
	rows, err := record.New(api, table, kind, &record.Config{Now: recordtest.Clock(now), ConsistentReads: true})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func openStatuses(t *testing.T) (*dynamotest.DB, *spy, *record.Rows[string]) {
	t.Helper()
	db, s, rows := open(t)
	return db, s, statuses(t, s, rows.Table().Name)
}

func set(t *testing.T, i int) record.Set {
	t.Helper()
	return record.Set{Partition: "p", Sort: "s", Event: at(t, i), Values: record.Item{"status": record.Text(strconv.Itoa(i))}}
}

// mustSet sets the status of an event; want is "created",
// "duplicate" or "superseded".
func mustSet(t *testing.T, rows *record.Rows[string], s record.Set, want string) {
	t.Helper()
	out, err := rows.Set(t.Context(), s)
	told := out.String()
	switch {
	case errors.Is(err, event.ErrSuperseded) && out == 0:
		told = "superseded"
	case err != nil:
		t.Fatal(err)
	}
	if told != want {
		t.Errorf("Set of %v is %s, want %s", s.Event.Time(), told, want)
	}
}

// An attribute of the Kind that the event does not give is removed, and so is one
// with a nil value. All others stay.
func TestSetRow(t *testing.T) {
	t.Parallel()
	db, _, rows := openStatuses(t)
	put(t, db, rows.Table().Name, `, "status": {"S": "older"}, "note": {"S": "!"}, "and": {"N": "7"}, "kept": {"S": "x"}`)
	s := set(t, 1)
	s.Rank, s.Values["note"], s.Values["more"] = 2, nil, record.Int(3)
	mustSet(t, rows, s, "created")
	want := record.Item{
		"pk": record.Text("p"), "sk": record.Text("s"), "type": record.Text("STATUS"), "updatedAt": record.Time(now), "status": record.Text("1"),
		"event": record.Text(at(t, 1).String()[:10] + "r002" + at(t, 1).String()[10:]), "more": record.Int(3), "kept": record.Text("x"),
	}
	stored := recordtest.Row(t, db.Client(), rows.Table().Name, theKey)
	if diff := cmp.Diff(want, stored, cmp.Comparer(sameValue)); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
}

func sameValue(a, b types.AttributeValue) bool {
	return record.Read(record.Item{"": a}).Text("") == record.Read(record.Item{"": b}).Text("")
}

func TestSetMeetsAConflict(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		api := &scripted{}
		api.write = func() error {
			if api.tries < 3 {
				return &types.TransactionConflictException{}
			}
			return nil
		}
		mustSet(t, statuses(t, api, "rows"), set(t, 1), "created")
	})
}

func TestSetRefuses(t *testing.T) {
	t.Parallel()
	rows := statuses(t, recordtest.Silent(t), "rows")
	for name, tc := range map[string]struct {
		field  string
		change func(*record.Set)
	}{
		"an empty part":       {"Partition", func(s *record.Set) { s.Partition = record.Key("STATUS", "") }},
		"no sort key":         {"Sort", func(s *record.Set) { s.Sort = "" }},
		"an hour ahead":       {"Event", func(s *record.Set) { s.Event = at(t, 3601) }},
		"a rank below 0":      {"Rank", func(s *record.Set) { s.Rank = -1 }},
		"a rank of 4 digits":  {"Rank", func(s *record.Set) { s.Rank = 1000 }},
		"no values":           {"Values", func(s *record.Set) { s.Values = nil }},
		"a nil pointer":       {"Values", func(s *record.Set) { s.Values["status"] = (*types.AttributeValueMemberS)(nil) }},
		"a kept attribute":    {"Values", func(s *record.Set) { s.Values["updatedAt"] = record.Text("x") }},
		"an unknown one":      {"Values", func(s *record.Set) { s.Values["other"] = record.Text("x") }},
		"an unknown, removed": {"Values", func(s *record.Set) { s.Values["other"] = nil }},
	} {
		s := set(t, 1)
		tc.change(&s)
		out, err := rows.Set(t.Context(), s)
		recordtest.WantBad(t, err, "statuses", tc.field, name)
		if out != 0 {
			t.Errorf("%s: %v", name, out)
		}
	}
	out, err := rows.Apply(t.Context(), applied(at(t, 1), plus(1)))
	recordtest.WantBad(t, err, "statuses", "Kind.Count", out)
	all, err := rows.ApplyAll(t.Context(), record.ApplyAll{Partition: "p", Sort: "s", Events: []event.Event{at(t, 1)}, Next: plus(1)})
	recordtest.WantBad(t, err, "statuses", "Kind.Count", all)
	out, err = sums(t, recordtest.Silent(t), "rows").Set(t.Context(), set(t, 1))
	recordtest.WantBad(t, err, "sums", "Kind.Count", out)
	reader, err := record.New(recordtest.Silent(t), "rows", record.Kind[int64]{Package: "reader", Type: "SUM", Decode: sumOf}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out, err = reader.Set(t.Context(), set(t, 1))
	recordtest.WantBad(t, err, "reader", "Kind.Attributes", out)
}

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
		{sets(less, 0, "a"), sets(less, 0, "a"), "duplicate"},
		{sets(less, 7, "a"), sets(less, 7, "b"), "tied"},      // one event that says two things
		{sets(less, 0, "a"), sets(less, 1, "b"), "created"},   // the same event, by a program with ranks
		{sets(less, 1, "a"), sets(less, 0, "b"), "duplicate"}, // and by one that has none yet
		{sets(greater, 0, "a"), sets(less, 1, "b"), "created"},
		{sets(less, 1, "a"), sets(greater, 0, "b"), "superseded"},
		{sets(greater, 9, "a"), sets(less, 10, "b"), "created"},
		{sets(less, 0, "a"), sets(greater, 0, "a"), "created"},
		{sets(greater, 0, "a"), sets(less, 0, "a"), "duplicate"},
		{sets(less, 0, "a"), sets(greater, 0, "b"), "stands"},
		{sets(greater, 0, "a"), sets(less, 0, "b"), "tied"},
		{sets(less, 999, "a"), sets(greater, 999, "b"), "stands"},
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
	null := &types.AttributeValueMemberNULL{Value: true}
	text := record.Text
	for i, tc := range []struct {
		a, b types.AttributeValue
		same bool
	}{
		{text("1"), text("1.0"), false},
		{n("1"), n("1.0"), true},
		{n("-0.5"), n("-5e-1"), true},
		{n("0.1"), n("0.10000000000000000000000000000000000001"), false},
		{b("x"), b("y"), false},
		{null, null, true},
		{nil, nil, true},
		{ss("a", "b"), ss("b", "a"), true},
		{ss("a", "b"), ss("a", "c"), false},
		{ns("1", "20"), ns("2e1", "1.0"), true},
		{bs("a", "b"), bs("b", "a"), true},
		{list(n("1"), text("a")), list(n("1.0"), text("a")), true},
		{list(n("1"), n("2")), list(n("2"), n("1")), false},
		{list(), entries(nil), false},
		{entries(record.Item{"a": n("1"), "b": list()}), entries(record.Item{"b": list(), "a": n("1.00")}), true},
		{entries(record.Item{"a": n("1")}), entries(record.Item{"a": n("1"), "b": null}), false},
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
