package payout

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

var second = time.Date(2025, 3, 30, 12, 0, 0, 0, time.UTC)

// open returns the statuses in a table of the test's own.
func openStatuses(t *testing.T) (*dynamotest.DB, Statuses) {
	t.Helper()
	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond))
	statuses, err := NewStatuses(db.Client(), db.Name("payouts"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Create(t.Context(), db.Client(), statuses.Table()); err != nil {
		t.Fatal(err)
	}
	return db, statuses
}

// stored returns the row of a payout, without its key and the time of the write.
func stored(t *testing.T, db *dynamotest.DB, statuses Statuses, id string) map[string]string {
	t.Helper()
	table := statuses.Table().Name
	out, err := db.Client().GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: &table, ConsistentRead: new(true),
		Key: record.Item{"pk": record.Text(record.Key("acme", "STATUSES")), "sk": record.Text(id)},
	})
	if err != nil {
		t.Fatal(err)
	}
	row, fields := map[string]string{}, record.Read(out.Item)
	for attribute := range out.Item {
		row[attribute] = fields.Text(attribute)
	}
	delete(row, "pk")
	delete(row, "sk")
	delete(row, "updatedAt")
	return row
}

// orders returns every order of the reports.
func orders(reports []Report) [][]Report {
	if len(reports) == 0 {
		return [][]Report{nil}
	}
	var all [][]Report
	for _, order := range orders(reports[1:]) {
		for i := range reports {
			all = append(all, slices.Insert(slices.Clone(order), i, reports[0]))
		}
	}
	return all
}

// A payout is paid and returned in one second, and paid again in the next. The
// reports come in every order, and each of them comes twice. The row is always the
// same, and the reason of the return is not in it.
func TestEveryOrder(t *testing.T) {
	db, statuses := openStatuses(t)
	want := map[string]string{
		"type": "STATUS", "status": "paid", "event": "01JQKERKF8r001T5W1E5C3EDTS6AR1",
	}
	for i, order := range orders([]Report{
		{ID: "1", At: second, Status: Status{Name: "accepted"}},
		{ID: "2", At: second, Status: Status{Name: "paid"}},
		{ID: "3", At: second, Status: Status{Name: "returned", Reason: "no such account"}},
		{ID: "4", At: second.Add(time.Second), Status: Status{Name: "paid"}},
	}) {
		id := fmt.Sprint("po_", i)
		for _, r := range slices.Concat(order, order) {
			r.Merchant, r.Payout = "acme", id
			if _, err := statuses.Set(t.Context(), r); err != nil && !errors.Is(err, event.ErrSuperseded) {
				t.Errorf("order %d: %v", i, err)
			}
		}
		if diff := cmp.Diff(want, stored(t, db, statuses, id)); diff != "" {
			t.Errorf("order %d (-want +got):\n%s", i, diff)
		}
	}
}

// Two returns of one second have different reasons. Nobody can know which one is
// right: the row is the same in both orders, and the second call gets the tie.
func TestATie(t *testing.T) {
	db, statuses := openStatuses(t)
	var rows []map[string]string
	for i, order := range orders([]Report{
		{ID: "3", At: second, Status: Status{Name: "returned", Reason: "no such account"}},
		{ID: "4", At: second, Status: Status{Name: "returned", Reason: "account closed"}},
	}) {
		for n := range order {
			order[n].Merchant, order[n].Payout = "acme", fmt.Sprint("po_", i)
		}
		if out, err := statuses.Set(t.Context(), order[0]); out != event.Created || err != nil {
			t.Errorf("Report = %v, %v", out, err)
		}
		out, err := statuses.Set(t.Context(), order[1])
		tie, tied := errors.AsType[*record.TieError](err)
		got, _, _ := statuses.Of(t.Context(), "acme", order[1].Payout)
		if !tied || tie.Stands != (got == order[1].Status) || tie.Stands != (out == event.Created) {
			t.Errorf("Report = %v, %v, and the payout is %+v", out, err, got)
		}
		rows = append(rows, stored(t, db, statuses, order[1].Payout))
	}
	if diff := cmp.Diff(rows[0], rows[1]); diff != "" {
		t.Errorf("the order of arrival shows:\n%s", diff)
	}
}

func TestBadInput(t *testing.T) {
	_, statuses := openStatuses(t)
	paid := Status{Name: "paid"}
	for field, r := range map[string]Report{
		"Status": {ID: "1", Merchant: "acme", Payout: "po", At: second, Status: Status{Name: "lost"}},
		"at":     {ID: "1", Merchant: "acme", Payout: "po", Status: paid},
		"Sort":   {ID: "1", Merchant: "acme", At: second, Status: paid},
		"Event":  {ID: "1", Merchant: "acme", Payout: "po", At: time.Now().Add(2 * time.Hour), Status: paid},
	} {
		_, err := statuses.Set(t.Context(), r)
		if bad, ok := errors.AsType[*event.InputError](err); !ok || bad.Field != field {
			t.Errorf("got %v, want bad input of %s", err, field)
		}
	}
}
