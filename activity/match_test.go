package activity_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

// anyData is what a row of the model carries.
func anyData(r *rand.Rand) map[string]any {
	return pick(r, nil, nil, map[string]any{"cents": pick[any](r, 100, 500, "500"), "to": pick(r, "Lund", "Malmö")})
}

// store puts the data into a row as another writer might.
func store(row map[string]types.AttributeValue, data map[string]any) {
	if data == nil {
		return
	}
	cents := item.S("500")
	if n, ok := data["cents"].(int); ok {
		cents = item.Digits(fmt.Sprintf("%d.00", n))
	}
	row["data"] = item.M(map[string]types.AttributeValue{"cents": cents, "to": item.S(data["to"].(string))})
}

func sameData(a, b map[string]any) bool { return cmp.Equal(a, b, cmpopts.EquateEmpty(), byWorth) }

func anyMatch(r *rand.Rand, q question, actors []string) activity.Match {
	var m activity.Match
	if r.IntN(2) == 0 {
		return m
	}
	if r.IntN(3) == 0 {
		m.Kind = pick(r, "chore", "recovery")
	}
	if q.actor == "" && r.IntN(3) == 0 {
		m.Actor = pick(r, actors...)
	}
	if r.IntN(2) == 0 {
		m.Data = append(m.Data, record.Compare{Name: "cents", Op: pick(r, "", "=", "<", "<=", ">", ">="), Value: pick[any](r, 500, 499.5, "500")})
	}
	if r.IntN(4) == 0 {
		m.Data = append(m.Data, record.Compare{Name: "to", Value: "Lund"})
	}
	return m
}

// matches follows the doc comment of Match.
func matches(m activity.Match, a activity.Activity) bool {
	if m.Kind != "" && m.Kind != a.Kind || m.Actor != "" && m.Actor != a.Actor {
		return false
	}
	for _, c := range m.Data {
		var holds map[string]bool
		switch want := worth(c.Value).(type) {
		case string:
			got, ok := a.Data[c.Name].(string)
			if !ok {
				return false
			}
			holds = comparisons(strings.Compare(got, want))
		case float64:
			got, ok := worth(a.Data[c.Name]).(float64)
			if !ok {
				return false
			}
			holds = comparisons(map[bool]int{true: -1}[got < want] + map[bool]int{true: 1}[got > want])
		}
		if !holds[c.Op] {
			return false
		}
	}
	return true
}

func comparisons(sign int) map[string]bool {
	return map[string]bool{"": sign == 0, "=": sign == 0, "<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0}
}

// readAtMost checks how much walks read: a walk yields the beginning of the
// answer, and Next says whether more may follow.
func (q question) readAtMost(t *testing.T, r *rand.Rand, acts *activity.Store, api *pages, newest bool, answer []activity.Activity) {
	t.Helper()
	rg := activity.Range{NewestFirst: newest, ReadAtMost: 1 + r.IntN(40)}
	api.read = nil
	got, next := q.walk(acts).part(t, rg)
	read := sum(api.read)
	within(t, "rows of a walk", read, rg.ReadAtMost)
	wantSame(t, "what it yields", got, answer[:min(len(got), len(answer))])
	switch {
	case next == "" && len(got) != len(answer):
		t.Errorf("ended after %d of %d and says nothing", len(got), len(answer))
	case next != "" && read < rg.ReadAtMost:
		t.Errorf("goes on after %d of %d rows", read, rg.ReadAtMost)
	}
}

// order is an order of a customer's, with data.
func order(t testing.TB, seq int64, data map[string]any) activity.Activity {
	t.Helper()
	a := chore(t, monday, seq, "order")
	a.Kind, a.Data = "order", data
	return a
}

// The row of an activity with data as it is stored, and read back.
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

// Equal data, in any Go types, is the same activity; different data is another
// one.
func TestDataIsCompared(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	mustRecord(t, acts, order(t, 1, map[string]any{"cents": 1, "gift": true}), order(t, 2, nil))
	for _, tc := range []struct {
		seq  int64
		data map[string]any
		same bool
	}{
		{1, map[string]any{"cents": 1.0, "gift": true}, true},
		{1, map[string]any{"cents": uint8(1), "gift": true}, true},
		{1, map[string]any{"cents": attributevalue.Number("1e0"), "gift": true}, true},
		{1, map[string]any{"cents": "1", "gift": true}, false},
		{1, map[string]any{"cents": 1, "gift": false}, false},
		{1, map[string]any{"cents": 1}, false},
		{1, map[string]any{"cents": 1, "gift": true, "to": ""}, false},
		{1, nil, false},
		{2, map[string]any{}, true},
		{2, map[string]any{"cents": 1}, false},
	} {
		a := order(t, tc.seq, tc.data)
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

// A set for a transaction does not change with its caller's maps, and what is
// read belongs to its reader.
func TestNoMapIsShared(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	data := map[string]any{"cents": 1}
	set, err := acts.RecordItems([]activity.Activity{order(t, 1, data)})
	if err != nil {
		t.Fatal(err)
	}
	data["cents"] = 2
	for _, want := range []event.Outcome{event.Created, event.Duplicate} {
		if out, err := transact(t, db, set); out != want || err != nil {
			t.Errorf("%v, %v, want %v", out, err, want)
		}
	}
	if _, err := acts.Record(t.Context(), order(t, 1, data)); err == nil {
		t.Error("what the caller made of it is the same")
	}
	data["cents"] = 1
	if out, err := acts.Record(t.Context(), order(t, 1, data)); out != event.Duplicate || err != nil {
		t.Errorf("%v, %v", out, err)
	}
}

func TestBadDataSendsNothing(t *testing.T) {
	t.Parallel()
	acts, err := activity.New(recordtest.Silent(t), "acts", nil)
	if err != nil {
		t.Fatal(err)
	}
	many := map[string]any{}
	for i := range 33 {
		many[fmt.Sprint(i)] = i
	}
	for field, bad := range map[string]map[string]any{
		`Data["x"]`: {"x": math.NaN()},
		"Data":      many,
	} {
		_, err := acts.Record(t.Context(), order(t, 1, bad))
		recordtest.WantBad(t, err, "activity", field)
		_, err = acts.RecordAll(t.Context(), []activity.Activity{order(t, 1, bad)})
		recordtest.WantBad(t, err, "activity", field)
		_, err = acts.RecordItems([]activity.Activity{order(t, 1, bad)})
		recordtest.WantBad(t, err, "activity", field)
	}
	_, err = activity.New(recordtest.Silent(t), "acts", &activity.Config{Names: map[string]string{"messageId": "data"}})
	recordtest.WantBad(t, err, "activity", `Config.Names["messageId"]`)
}

func TestBadFiltersSendNothing(t *testing.T) {
	t.Parallel()
	acts, err := activity.New(recordtest.Silent(t), "acts", nil)
	if err != nil {
		t.Fatal(err)
	}
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
	f := activity.Filter{Scope: home, Match: activity.Match{Data: bad}}
	_, err = acts.Count(t.Context(), f)
	recordtest.WantBad(t, err, "activity", "Match.Data[0].Op")
	_, err = acts.Tally(t.Context(), f)
	recordtest.WantBad(t, err, "activity", "Match.Data[0].Op")
}

// A cursor belongs to its Match.
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
	} {
		cost := db.Meter(func() {
			if some, next := waysTo(acts)["InScope"].part(t, tc.r); len(some) != 0 || next != "" != tc.more {
				t.Errorf("%+v: %v, next %q", tc.r, some, next)
			}
		})
		cost.Want(t, tc.want)
	}
}

// A walk may end at a row that cannot be read, and the next goes on behind it.
func TestAWalkEndsAtAnUnreadableRow(t *testing.T) {
	t.Parallel()
	unreadable := 0
	db, acts := open(t, &activity.Config{OnUnreadable: func(error) { unreadable++ }})
	for seq := range int64(2) {
		mustRecord(t, acts, chore(t, monday, seq, "diskning"))
	}
	for _, id := range []string{"01", "01-not-an-event", "02"} {
		row := oldRow(t, id, home, martin, "diskning", monday.UnixMilli())
		recordtest.Put(t, db.Client(), acts.Table().Name, row)
	}
	for name, way := range waysTo(acts) {
		unreadable = 0
		found := len(way.parts(t, activity.Range{ReadAtMost: 1}))
		if want := map[bool]int{false: 3}[strings.HasPrefix(name, "ByActorAndName")]; found != 2 || unreadable != want {
			t.Errorf("%s: %d found, %d unreadable, want %d", name, found, unreadable, want)
		}
	}
}

// A walk may also end at a row whose time has a fraction: it sorts among the
// others.
func TestAWalkEndsAtATimeWithAFraction(t *testing.T) {
	t.Parallel()
	db, acts := open(t, &activity.Config{OnUnreadable: func(error) {}})
	early, late := chore(t, monday, 1, "diskning"), chore(t, monday.Add(time.Second), 2, "diskning")
	mustRecord(t, acts, early, late)
	row := oldRow(t, "01", home, martin, "diskning", monday.UnixMilli())
	row["timestamp"] = item.Digits(strconv.FormatInt(monday.UnixMilli(), 10) + ".5")
	recordtest.Put(t, db.Client(), acts.Table().Name, row)
	for _, r := range []activity.Range{{ReadAtMost: 1}, {ReadAtMost: 1, NewestFirst: true}, {ReadAtMost: 1, From: monday, To: late.Event.Time()}} {
		want := 2
		if !r.To.IsZero() {
			want = 1
		}
		if found := len(waysTo(acts)["ByActor"].parts(t, r)); found != want {
			t.Errorf("%+v: %d found, want %d", r, found, want)
		}
	}
}
