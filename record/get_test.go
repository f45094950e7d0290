package record_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

func TestGetAndAll(t *testing.T) {
	t.Parallel()
	db, _, rows := open(t)
	for i := range int64(5) {
		recordtest.Put(t, db.Client(), rows.Table().Name, ddb.Item{"pk": item.S("p"), "sk": item.S(strconv.Itoa(int(i))), "sum": item.N(i)})
	}
	recordtest.Put(t, db.Client(), rows.Table().Name, ddb.Item{"pk": item.S("q"), "sk": item.S("0"), "sum": item.N(9)})
	for _, consistent := range []bool{false, true} {
		var reads []bool // whether each read is consistent
		paged := recordtest.Between(db.Client(), func(in any, send recordtest.Send) (any, error) {
			switch in := in.(type) {
			case *dynamodb.GetItemInput:
				reads = append(reads, aws.ToBool(in.ConsistentRead))
			case *dynamodb.QueryInput:
				reads = append(reads, aws.ToBool(in.ConsistentRead))
				two := *in
				two.Limit = aws.Int32(2)
				return send(&two)
			}
			return send(in)
		})
		rows := sumsRead(t, paged, rows.Table().Name, consistent)
		if got, ok, err := rows.Get(t.Context(), "p", "3"); got != 3 || !ok || err != nil {
			t.Errorf("Get = %v, %v, %v, want 3", got, ok, err)
		}
		if got, ok, err := rows.Get(t.Context(), "p", "5"); got != 0 || ok || err != nil {
			t.Errorf("Get of nothing = %v, %v, %v", got, ok, err)
		}
		all, err := rows.All(t.Context(), "p")
		if diff := cmp.Diff([]int64{0, 1, 2, 3, 4}, all); diff != "" || err != nil {
			t.Errorf("All: %v (-want +got):\n%s", err, diff)
		}
		if all, err := rows.All(t.Context(), "nobody"); all != nil || err != nil {
			t.Errorf("All of nobody = %v, %v, want nil", all, err)
		}
		if diff := cmp.Diff([]bool{consistent, consistent, consistent, consistent, consistent, consistent}, reads); diff != "" {
			t.Errorf("reads (-want +got):\n%s", diff)
		}
	}
}

// Bad events are refused before anything is sent.
func TestApplyRefusesEventsAhead(t *testing.T) {
	t.Parallel()
	rows := sums(t, recordtest.Silent(t), "rows")
	for _, ev := range []event.Event{{}, recordtest.Event(t, now.Add(event.MaxAhead+time.Second), "ahead")} {
		out, err := rows.Apply(t.Context(), applied(ev, plus(1)))
		recordtest.WantBad(t, err, "sums", "Event", ev)
		if out != 0 {
			t.Errorf("Apply = %v, %v", out, err)
		}
	}
}

// logs is a kind of row that holds the numbers of its events, in the order in
// which they were applied.
func logs(t *testing.T, api record.API, table string) *record.Rows[[]string] {
	t.Helper()
	kind := record.Kind[[]string]{
		Package: "logs", Type: "LOG", Count: "n",
		Decode: func(row record.Item) ([]string, error) { return strings.Fields(record.Read(row).Text("log")), nil },
	}
	rows, err := record.New(api, table, kind, &record.Config{Now: recordtest.Clock(now), ConsistentReads: true})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// numbered returns the events of the numbers, and a Next that logs a number.
func numbered(t *testing.T, numbers ...int) ([]event.Event, record.Next) {
	t.Helper()
	events, of := make([]event.Event, len(numbers)), map[event.Event]int{}
	for i, n := range numbers {
		events[i] = recordtest.Event(t, now.Add(time.Duration(n-10_000)*time.Second), strconv.Itoa(n))
		of[events[i]] = n
	}
	return events, func(row record.Item, ev event.Event) (record.Item, error) {
		return record.Item{"log": record.Text(record.Read(row).Text("log") + " " + strconv.Itoa(of[ev]))}, nil
	}
}

// applyAll applies the events of the numbers and returns what each was answered.
func applyAll(t *testing.T, rows *record.Rows[[]string], numbers ...int) []string {
	t.Helper()
	events, next := numbered(t, numbers...)
	outcomes, err := rows.ApplyAll(t.Context(), record.ApplyAll{Partition: "p", Sort: "s", Events: events, Next: next})
	return answers(t, outcomes, err)
}

func answers(t *testing.T, outcomes []event.Outcome, err error) []string {
	t.Helper()
	told := make([]string, len(outcomes))
	for i, out := range outcomes {
		told[i] = out.String()
	}
	left, ok := errors.AsType[*event.LeftoverError](err)
	if err != nil && !ok {
		t.Fatal(err)
	}
	if ok {
		for _, l := range left.Leftovers {
			if outcomes[l.Index] != 0 || l.Key != "" {
				t.Errorf("leftover %d is %v", l.Index, outcomes[l.Index])
			}
			if told[l.Index] = "failed"; errors.Is(l.Err, event.ErrTooOld) {
				told[l.Index] = "too old"
			}
		}
	}
	return told
}

// logged returns the numbers in the row.
func logged(t *testing.T, rows *record.Rows[[]string]) []int {
	t.Helper()
	text, _, err := rows.Get(t.Context(), "p", "s")
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int
	for _, digits := range text {
		n, err := strconv.Atoi(digits)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	return numbers
}

func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// openLogs returns rows of logs on a table of their own, behind a spy.
func openLogs(t *testing.T) (*dynamotest.DB, *spy, *record.Rows[[]string]) {
	t.Helper()
	db, s, rows := open(t)
	return db, s, logs(t, s, rows.Table().Name)
}

// Where the row has counted later events, a write takes no more than the row
// remembers: here three at a time.
func TestBurstBeneathLaterEvents(t *testing.T) {
	t.Parallel()
	_, spy, rows := openLogs(t)
	for n := range 29 {
		applyAll(t, rows, 100+n)
	}
	before := len(spy.updates)
	if got := applyAll(t, rows, 1, 2, 3, 4, 5, 6, 7); slices.ContainsFunc(got, func(told string) bool { return told != "created" }) {
		t.Errorf("answers %v", got)
	}
	if got := len(spy.updates) - before; got != 3 {
		t.Errorf("%d writes, want 3", got)
	}
	spy.before = func(int, *dynamodb.UpdateItemInput) error { // which makes the row forget 5
		spy.before = nil
		applyAll(t, rows, 200)
		return nil
	}
	if got := applyAll(t, rows, 4, 5, 6, 8); !slices.Equal(got, []string{"too old", "duplicate", "duplicate", "created"}) {
		t.Errorf("answers %v", got)
	}
}
