package charge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/charge"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

var second = time.Date(2025, 3, 30, 12, 0, 0, 0, time.UTC)

// open returns the statuses in a table of the test's own.
func open(t *testing.T) (*dynamotest.DB, charge.Store) {
	t.Helper()
	db := dynamotest.Open(t, pricetest.Watch, dynamotest.MaxBackoff(time.Millisecond))
	charges, err := charge.New(db.Client(), db.Name("shop"))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Create(t.Context(), db.Client(), charges.Table()); err != nil {
		t.Fatal(err)
	}
	return db, charges
}

// stored returns the row of a charge, without its key and the time of the write.
func stored(t *testing.T, db *dynamotest.DB, charges charge.Store, id string) map[string]string {
	t.Helper()
	table := charges.Table().Name
	out, err := db.Client().GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &table, ConsistentRead: new(true),
		Key: record.Item{"pk": record.Text(record.Key("CHARGE", id)), "sk": record.Text("status")},
	})
	if err != nil {
		t.Fatal(err)
	}
	row, fields := map[string]string{}, record.Read(out.Item)
	for attribute := range out.Item {
		row[attribute] = fields.Text(attribute)
	}
	delete(row, "pk")
	delete(row, "updatedAt")
	return row
}

// orders returns every order of the reports.
func orders(reports []charge.Report) [][]charge.Report {
	if len(reports) == 0 {
		return [][]charge.Report{nil}
	}
	var all [][]charge.Report
	for _, order := range orders(reports[1:]) {
		for i := range reports {
			all = append(all, slices.Insert(slices.Clone(order), i, reports[0]))
		}
	}
	return all
}

// A charge is settled and reversed in one second, and settled again in the next. The
// reports come in every order, and each of them comes twice. The row is always the
// same, and the reason of the reversal is not in it.
func TestEveryOrder(t *testing.T) {
	db, charges := open(t)
	want := map[string]string{
		"sk": "status", "type": "CHARGE", "status": "settled", "event": "01JQKERKF8r001RBD6A0RBH6VGHYR1",
	}
	for i, order := range orders([]charge.Report{
		{ID: "1", At: second, Status: charge.Status{Name: "pending"}},
		{ID: "2", At: second, Status: charge.Status{Name: "settled"}},
		{ID: "3", At: second, Status: charge.Status{Name: "reversed", Reason: "stolen card"}},
		{ID: "4", At: second.Add(time.Second), Status: charge.Status{Name: "settled"}},
	}) {
		id := fmt.Sprint("ch_", i)
		for _, r := range slices.Concat(order, order) {
			r.Charge = id
			if _, err := charges.Report(t.Context(), r); err != nil && !errors.Is(err, event.ErrSuperseded) {
				t.Errorf("order %d: %v", i, err)
			}
		}
		if diff := cmp.Diff(want, stored(t, db, charges, id)); diff != "" {
			t.Errorf("order %d (-want +got):\n%s", i, diff)
		}
	}
}

// Two reversals of one second have different reasons. Nobody can know which one is
// right: the row is the same in both orders, and the second report is told.
func TestATie(t *testing.T) {
	db, charges := open(t)
	var rows []map[string]string
	for i, order := range orders([]charge.Report{
		{ID: "3", At: second, Status: charge.Status{Name: "reversed", Reason: "stolen card"}},
		{ID: "4", At: second, Status: charge.Status{Name: "reversed", Reason: "not delivered"}},
	}) {
		order[0].Charge, order[1].Charge = fmt.Sprint("ch_", i), fmt.Sprint("ch_", i)
		if out, err := charges.Report(t.Context(), order[0]); out != event.Created || err != nil {
			t.Errorf("Report = %v, %v", out, err)
		}
		out, err := charges.Report(t.Context(), order[1])
		tie, tied := errors.AsType[*record.TieError](err)
		got, _, _ := charges.Of(t.Context(), order[1].Charge)
		if !tied || tie.Stands != (got == order[1].Status) || tie.Stands != (out == event.Created) {
			t.Errorf("Report = %v, %v, and the charge is %+v", out, err, got)
		}
		rows = append(rows, stored(t, db, charges, order[1].Charge))
	}
	if diff := cmp.Diff(rows[0], rows[1]); diff != "" {
		t.Errorf("the order of arrival shows:\n%s", diff)
	}
}

func TestBadInput(t *testing.T) {
	_, charges := open(t)
	settled := charge.Status{Name: "settled"}
	for field, r := range map[string]charge.Report{
		"Status":    {ID: "1", Charge: "ch", At: second, Status: charge.Status{Name: "paid"}},
		"at":        {ID: "1", Charge: "ch", Status: settled},
		"Partition": {ID: "1", At: second, Status: settled},
		"Event":     {ID: "1", Charge: "ch", At: time.Now().Add(2 * time.Hour), Status: settled},
	} {
		_, err := charges.Report(t.Context(), r)
		if bad, ok := errors.AsType[*event.InputError](err); !ok || bad.Field != field {
			t.Errorf("got %v, want bad input of %s", err, field)
		}
	}
}

// Report and Of cost what their Price says, and Actions grants exactly what they
// send.
func TestPrices(t *testing.T) {
	db, charges := open(t)
	r := charge.Report{ID: "1", Charge: "ch", At: second, Status: charge.Status{Name: "settled"}}
	pricetest.Run(t, db, []pricetest.Case{
		{Func: "Store.Report", Call: func(ctx context.Context) error { _, err := charges.Report(ctx, r); return err }},
		{Func: "Store.Of", Call: func(ctx context.Context) error { _, _, err := charges.Of(ctx, "ch"); return err }},
	}, charges)
}
