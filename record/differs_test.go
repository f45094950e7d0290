package record_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

// An event that comes again and would add something else is told, with what it
// added, which stands.
func TestAnotherAmountIsTold(t *testing.T) {
	t.Parallel()
	db, _, rows, _ := openExact(t)
	wantApply(t, rows, adds(at(t, 1), 5), event.Created)
	want := record.AddError{Recorded: map[string]int64{"sum": 5}, Given: map[string]int64{"sum": 7}}
	wantTold := func(by string, out event.Outcome, err error) {
		t.Helper()
		told, ok := errors.AsType[*record.AddError](err)
		if out != 0 || !ok {
			t.Fatalf("%s = %v, %v", by, out, err)
		}
		if diff := cmp.Diff(want, *told); diff != "" {
			t.Errorf("%s (-want +got):\n%s", by, diff)
		}
	}
	out, err := rows.Apply(t.Context(), adds(at(t, 1), 7))
	wantTold("Apply", out, err)
	outcomes, err := rows.ApplyAll(t.Context(), record.ApplyAll{
		Partition: "p", Sort: "s", Events: []event.Event{at(t, 0), at(t, 1), at(t, 2)},
		Add: func(event.Event) map[string]int64 { return map[string]int64{"sum": 7} },
	})
	if outcomes[0] != event.Created || outcomes[2] != event.Created {
		t.Errorf("the others: %v", outcomes)
	}
	wantTold("ApplyAll", outcomes[1], err)
	_, out, err = commit(t, db, rows.Table().Name, mustItem(t, rows, adds(at(t, 1), 7), 2))
	wantTold("ApplyItem", out, err)
	wantApply(t, rows, applied(at(t, 1), plus(9)), event.Duplicate) // Next gives no amount to compare
	wantApply(t, rows, applied(at(t, 3), plus(1)), event.Created)
	wantApply(t, rows, adds(at(t, 3), 2), event.Duplicate)
	wantSum(t, db, rows.Table().Name, 4, 5+7+7+1)
}

// What Add gives has a name of the Kind's, an amount, and not too many of them. A
// floor belongs to Add.
func TestAddRefuses(t *testing.T) {
	t.Parallel()
	many := make(map[string]int64)
	for i := range 51 {
		many[fmt.Sprint("sum", i)] = 1
	}
	rows := exact(t, recordtest.Silent(t), "rows")
	for name, add := range map[string]map[string]int64{"misspelt": {"sums": 1}, "of 0": {"sum": 0}, "many": many} {
		_, err := rows.Apply(t.Context(), record.Apply{Partition: "p", Sort: "s", Event: at(t, 1), Add: add})
		recordtest.WantBad(t, err, "points", "Add", name)
	}
	_, err := rows.ApplyAll(t.Context(), record.ApplyAll{
		Partition: "p", Sort: "s", Events: []event.Event{at(t, 1)}, Add: func(event.Event) map[string]int64 { return nil },
	})
	recordtest.WantBad(t, err, "points", "Add", "nothing")
	floor := applied(at(t, 1), plus(-5))
	floor.AtLeast = map[string]int64{"sum": 0}
	for pkg, rows := range map[string]*record.Rows[int64]{"points": rows, "sums": sums(t, recordtest.Silent(t), "rows")} {
		_, err := rows.Apply(t.Context(), floor)
		recordtest.WantBad(t, err, pkg, "AtLeast")
		_, err = rows.ApplyItem(t.Context(), floor)
		recordtest.WantBad(t, err, pkg, "AtLeast")
	}
	for _, attribute := range []string{"ttl", "n", "pk"} {
		kind := pointsKind
		kind.Attributes = []string{attribute}
		_, err := record.New(recordtest.Silent(t), "rows", kind, nil)
		recordtest.WantBad(t, err, "points", "Kind.Attributes", attribute)
	}
}

// A sum that another system made fractional still has a floor.
func TestAFractionalSumHasAFloor(t *testing.T) {
	t.Parallel()
	db, _, rows, _ := openExact(t)
	recordtest.Put(t, db.Client(), rows.Table().Name, record.Item{
		"pk": record.Text("p"), "sk": record.Text("s"), "sum": record.Float(1.5), "n": record.Int(1),
	})
	spend := adds(at(t, 1), -2)
	spend.AtLeast = map[string]int64{"sum": 0}
	out, err := rows.Apply(t.Context(), spend)
	if floor, ok := errors.AsType[*record.FloorError](err); out != 0 || !ok || floor.Stands != 1 {
		t.Errorf("%v, %v", out, err)
	}
}

// A typed nil among the values is bad input and no panic.
func TestSetOfANilPointer(t *testing.T) {
	t.Parallel()
	rows := statuses(t, recordtest.Silent(t), "rows")
	_, err := rows.Set(t.Context(), record.Set{
		Partition: "p", Sort: "s", Event: at(t, 1), Values: record.Item{"status": (*types.AttributeValueMemberS)(nil)},
	})
	recordtest.WantBad(t, err, "statuses", "Values")
}

// Others write before the first try and in each pause. The caller then computes from
// the row as it is after its pauses, not as it was before them.
func TestOthersWriteInEachPause(t *testing.T) {
	t.Parallel()
	for op, of := range map[string]func(*testing.T, record.API) *record.Rows[int64]{
		"TransactWriteItems": func(t *testing.T, api record.API) *record.Rows[int64] { return exact(t, api, "rows") },
		"UpdateItem":         func(t *testing.T, api record.API) *record.Rows[int64] { return sums(t, api, "rows") },
	} {
		synctest.Test(t, func(t *testing.T) {
			db := dynamotest.New(t, nil)
			rows := of(t, db.Client())
			recordtest.Create(t, db.Client(), rows.Table())
			others := 0
			meddle := func() {
				others++
				wantApply(t, rows, applied(at(t, others), plus(1)), event.Created)
			}
			meddle()
			db.Inject(dynamotest.Fault{Op: "GetItem", Do: dynamotest.After(func() {
				meddle()
				db.Inject(dynamotest.Fault{Op: op, Times: 2, Do: dynamotest.After(meddle)}) // each refusal
			})})
			ctx, meter := dynamotest.WithMeter(t.Context())
			out, err := rows.Apply(ctx, applied(at(t, 100), plus(1)))
			if reads := meter.Cost().ByOp["GetItem"]; out != event.Created || err != nil || reads != 2 || others != 4 {
				t.Errorf("%s: %v, %v, %d reads, and %d writes of others", op, out, err, reads, others)
			}
		})
	}
}
