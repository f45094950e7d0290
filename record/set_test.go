package record_test

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
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

func wantStatus(t *testing.T, rows *record.Rows[string], want string) {
	t.Helper()
	if got, ok, err := rows.Get(t.Context(), "p", "s"); got != want || !ok || err != nil {
		t.Errorf("Get = %q, %v, %v, want %q", got, ok, err, want)
	}
}

// Law: the event that happened last wins, in whatever order and however often
// the events arrive, whatever is lost.
func TestTheLastEventWins(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		db, _, rows := openStatuses(t)
		last := -1
		for range 12 {
			i := rnd.IntN(9)
			lost := rnd.IntN(3) == 0
			if lost {
				db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem"})
			}
			want := "created"
			switch {
			case i < last:
				want = "superseded"
			case i == last, lost:
				want = "duplicate"
			}
			mustSet(t, rows, set(t, i), want)
			last = max(last, i)
			wantStatus(t, rows, strconv.Itoa(last))
		}
	}
}

// The request itself. An attribute of the Kind that the event does not give is
// removed, and so is one with a nil value. All others stay.
func TestSetRequest(t *testing.T) {
	t.Parallel()
	db, spy, rows := openStatuses(t)
	put(t, db, rows.Table().Name, `, "status": {"S": "older"}, "note": {"S": "!"}, "and": {"N": "7"}, "kept": {"S": "x"}`)
	s := set(t, 1)
	s.Values["note"], s.Values["more"] = nil, record.Int(3)
	mustSet(t, rows, s, "created")
	in := spy.updates[0]
	if got, want := *in.UpdateExpression, "SET #type = :type, #event = :event, #updatedAt = :updatedAt, #own1 = :own1, #own3 = :own3 REMOVE #own0, #own2"; got != want {
		t.Errorf("update %s, want %s", got, want)
	}
	if got, want := *in.ConditionExpression, "attribute_not_exists(#event) OR #event < :event"; got != want {
		t.Errorf("condition %s, want %s", got, want)
	}
	if in.ReturnValuesOnConditionCheckFailure != types.ReturnValuesOnConditionCheckFailureAllOld {
		t.Error("a refusal would not show what stands")
	}
	if in.ReturnValues != types.ReturnValueAllOld {
		t.Error("a write would not show what it replaced")
	}
	want := record.Item{
		"pk": record.Text("p"), "sk": record.Text("s"), "type": record.Text("STATUS"), "event": record.Text(at(t, 1).String()),
		"updatedAt": record.Time(now), "status": record.Text("1"), "more": record.Int(3), "kept": record.Text("x"),
	}
	stored := recordtest.Row(t, db.Client(), rows.Table().Name, theKey)
	if diff := cmp.Diff(want, stored, cmp.Comparer(sameValue)); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
}

func sameValue(a, b types.AttributeValue) bool {
	return record.Read(record.Item{"": a}).Text("") == record.Read(record.Item{"": b}).Text("")
}

// A transaction under way on the row is waited for.
func TestSetMeetsAConflict(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, spy, first := openOn(t, dynamotest.New(t, nil))
		rows := statuses(t, spy, first.Table().Name)
		spy.before = func(write int, _ *dynamodb.UpdateItemInput) error {
			if write < 3 {
				return &types.TransactionConflictException{}
			}
			return nil
		}
		mustSet(t, rows, set(t, 1), "created")
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

// What failed is neither a duplicate nor superseded.
func TestSetFails(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	out, err := statuses(t, recordtest.Down(down), "rows").Set(t.Context(), set(t, 1))
	if !errors.Is(err, down) || errors.Is(err, event.ErrSuperseded) || out != 0 || err.Error() != "statuses: Set on table rows: down" {
		t.Errorf("Set = %v, %v", out, err)
	}
}
