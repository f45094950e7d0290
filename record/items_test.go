package record_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

// mustItem makes an item of so many actions.
func mustItem(t *testing.T, rows *record.Rows[int64], a record.Apply, actions int) *record.ApplyItem {
	t.Helper()
	i, err := rows.ApplyItem(t.Context(), a)
	if err != nil || len(i.Items) != actions {
		t.Fatalf("ApplyItem: %v", err)
	}
	return i
}

// commit sends the item beside an action that may happen any number of times, and
// returns what the item says if the transaction is cancelled.
func commit(t *testing.T, db *dynamotest.DB, table string, i *record.ApplyItem) (committed bool, out event.Outcome, err error) {
	t.Helper()
	beside := types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String(table), Key: record.Item{"pk": record.Text("beside"), "sk": record.Text("s")},
		UpdateExpression: aws.String("ADD times :one"), ExpressionAttributeValues: record.Item{":one": record.Int(1)},
	}}
	_, err = db.Client().TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: append([]types.TransactWriteItem{beside}, i.Items...)})
	cancelled, ok := errors.AsType[*types.TransactionCanceledException](err)
	if err != nil && !ok {
		t.Fatal(err)
	}
	if err == nil {
		if out := i.Committed(); out != event.Created {
			t.Errorf("Committed = %v", out)
		}
		return true, 0, nil
	}
	out, err = i.Outcome(cancelled.CancellationReasons[1:])
	return false, out, err
}

// An item counts once in a transaction of the caller's own, knows its own earlier
// try if the Kind is exact, and says if it is to be made anew.
func TestApplyItem(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		way     func(event.Event, int64) record.Apply
		actions int
		own     event.Outcome // of an earlier try
	}{
		"ring": {ways["Next"], 1, event.Duplicate}, "Add": {ways["Add"], 2, event.Created}, "Next": {ways["Next"], 2, event.Created},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, _, rows := open(t)
			table := rows.Table().Name
			if name != "ring" {
				rows = exact(t, db.Client(), table)
			}
			item := mustItem(t, rows, tc.way(at(t, 1), 5), tc.actions)
			if out, err := item.Outcome(make([]types.CancellationReason, tc.actions)); out != 0 || err != nil {
				t.Errorf("Outcome of another's fault = %v, %v", out, err)
			}
			if ok, out, err := commit(t, db, table, item); !ok {
				t.Fatalf("%v, %v", out, err)
			}
			if ok, out, err := commit(t, db, table, item); ok || out != tc.own || err != nil {
				t.Errorf("its own = %v, %v", out, err)
			}
			if name == "ring" { // a known duplicate
				item := mustItem(t, rows, tc.way(at(t, 1), 5), 0)
				if out, err := item.Outcome(nil); out != event.Duplicate || err != nil || item.Committed() != out {
					t.Errorf("a known duplicate = %v, %v", out, err)
				}
			} else if ok, out, err := commit(t, db, table, mustItem(t, rows, tc.way(at(t, 1), 5), 2)); ok || out != event.Duplicate || err != nil {
				t.Errorf("a duplicate = %v, %v", out, err)
			}
			stale, twice := mustItem(t, rows, tc.way(at(t, 2), 6), tc.actions), mustItem(t, rows, tc.way(at(t, 3), 7), tc.actions)
			wantApply(t, rows, tc.way(at(t, 3), 7), event.Created)
			if ok, out, err := commit(t, db, table, twice); ok || out != event.Duplicate || err != nil {
				t.Errorf("counted meanwhile = %v, %v", out, err)
			}
			ok, out, err := commit(t, db, table, stale)
			if name == "Add" {
				if !ok {
					t.Errorf("Add met %v, %v", out, err)
				}
			} else if ok || out != 0 || !errors.Is(err, record.ErrContended) {
				t.Errorf("a row that changed = %v, %v", out, err)
			} else if ok, out, err := commit(t, db, table, mustItem(t, rows, tc.way(at(t, 2), 6), tc.actions)); !ok {
				t.Errorf("made anew: %v, %v", out, err)
			}
			got := stored(t, db, table)
			if got.Count != 3 || got.Sum != 18 {
				t.Errorf("row %+v", got)
			}
			conflict := []types.CancellationReason{{Code: aws.String("TransactionConflict")}, {Code: aws.String("None")}}[:tc.actions]
			if out, err := item.Outcome(conflict); out != 0 || err == nil || !strings.Contains(err.Error(), "TransactionConflict") {
				t.Errorf("a conflict = %v, %v", out, err)
			}
			_, err = item.Outcome(nil)
			recordtest.WantBad(t, err, map[bool]string{true: "sums", false: "points"}[name == "ring"], "reasons")
		})
	}
}

// What a ring cannot judge is refused, before the transaction and in it. A floor
// is an answer.
func TestApplyItemRefuses(t *testing.T) {
	t.Parallel()
	db, _, rows := open(t)
	table := rows.Table().Name
	for i := range 31 {
		mustApply(t, rows, 10+i, event.Created)
	}
	item := mustItem(t, rows, applied(at(t, 5), plus(1)), 1)
	mustApply(t, rows, 60, event.Created)
	for range 2 {
		if ok, out, err := commit(t, db, table, item); ok || out != 0 || !errors.Is(err, event.ErrTooOld) {
			t.Errorf("too old by now = %v, %v", out, err)
		}
	}
	if item, err := rows.ApplyItem(t.Context(), applied(at(t, 5), plus(1))); item != nil || !errors.Is(err, event.ErrTooOld) || !strings.HasPrefix(err.Error(), "sums: ApplyItem on table ") {
		t.Errorf("too old: %v", err)
	}
	in := adds(at(t, 1), -1)
	in.Partition, in.AtLeast = "q", map[string]int64{"sum": 0}
	ok, out, err := commit(t, db, table, mustItem(t, exact(t, db.Client(), table), in, 2))
	if floor, is := errors.AsType[*record.FloorError](err); ok || out != 0 || !is || *floor != (record.FloorError{Attribute: "sum"}) {
		t.Errorf("below the floor = %v, %v", out, err)
	}
}

func TestAction(t *testing.T) {
	t.Parallel()
	refused := func(row record.Item) (string, error) {
		f := record.Read(row)
		return "stands: " + f.Text("status"), f.Err()
	}
	failed := func(err error) error { return fmt.Errorf("status: %w", err) }
	item := types.TransactWriteItem{Put: &types.Put{TableName: aws.String("rows")}}
	a := record.NewAction(item, "written", refused, failed)
	if a.Item.Put != item.Put || a.Committed() != "written" {
		t.Errorf("%+v, %s", a.Item, a.Committed())
	}
	row := record.Item{"status": record.Text("paid")}
	for code, want := range map[string]struct{ answer, err string }{
		"None":                   {},
		"ConditionalCheckFailed": {answer: "stands: paid"},
		"TransactionConflict":    {err: "status: api error TransactionConflict: "},
	} {
		got, err := a.Outcome(types.CancellationReason{Code: &code, Item: row})
		if got != want.answer || (err == nil) != (want.err == "") || err != nil && err.Error() != want.err {
			t.Errorf("%s: %q, %v", code, got, err)
		}
	}
}
