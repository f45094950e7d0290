package promise_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/promise"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

// The index shows what was; the table decides.
func TestTheIndexLags(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	s := store(t, db.Client(), "homeops")
	db.Create(s.Table())
	p := make1(t, s, dishes(at(t, noon, "1"), tonight), event.Created)
	release, err := db.Server().HoldIndex("homeops", "GSI1")
	if err != nil {
		t.Fatal(err)
	}
	unseen := make1(t, s, dishes(at(t, noon, "2"), tonight.Add(time.Hour)), event.Created)
	keep(t, s, done(at(t, noon.Add(time.Hour), "3")), p.ID)
	wantOverdue(t, s, tonight.Add(time.Hour), "42/"+p.ID)
	out, err := s.Expire(t.Context(), promise.Promise{User: "42", ID: p.ID}, at(t, tonight.Add(24*time.Hour), "4"))
	if out != event.Duplicate || err != nil {
		t.Errorf("Expire = %v, %v", out, err)
	}
	if got, _, err := s.Get(t.Context(), "42", p.ID); got.Status != promise.Fulfilled || err != nil {
		t.Errorf("it is %s, %v", got.Status, err)
	}
	release()
	wantOverdue(t, s, tonight.Add(time.Hour), "42/"+unseen.ID)
}

// Overdue promises and those of one person fill more than a page.
func TestPages(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	s := store(t, db.Client(), "homeops")
	db.Create(s.Table())
	const n = 900 // of some 1,400 bytes
	var want []string
	for i := range n {
		m := dishes(at(t, noon.Add(time.Duration(i)*time.Second), fmt.Sprint(i)), tonight.Add(time.Duration(i)*time.Second))
		m.Description = strings.Repeat("å", 500)
		want = append(want, "42/"+make1(t, s, m, event.Created).ID)
	}
	wantOverdue(t, s, tonight.Add(n*time.Second), want...)
	var all []promise.Promise
	cost := db.Meter(func() { all, _ = s.Of(t.Context(), "42", noon) })
	if len(all) != n || cost.Requests != 2 {
		t.Errorf("%d promises by %d requests", len(all), cost.Requests)
	}
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "Query", Nth: 2}) // the second page
	if some, err := store(t, once(db), "homeops").Overdue(t.Context(), tonight.Add(n*time.Second)); err == nil || some != nil {
		t.Errorf("%d promises, then %v", len(some), err)
	}
}

// One row that cannot be read hides no other.
func TestUnreadableRows(t *testing.T) {
	t.Parallel()
	db, s, table := open(t)
	p := make1(t, s, dishes(at(t, noon, "1"), tonight), event.Created)
	for i, change := range []func(record.Item){
		func(row record.Item) { row["createdAt"] = record.Text("x") },
		func(row record.Item) { row["deadline"] = record.Text("soon") },
		func(row record.Item) { row["sourceMessageId"] = record.Text("x") },
		func(row record.Item) { row["event"] = record.Text("x") },
	} {
		row := golden.Item(t, "testdata/active.json")
		row["sk"] = record.Text(fmt.Sprint("PROMISE#2026-02-18T11:00:00Z#", i))
		row["gsi1sk"] = record.Text(fmt.Sprint("PROMISE_DEADLINE#2026-02-18T22:00:0", i, "Z"))
		change(row)
		if _, err := promise.Decode(row); err == nil {
			t.Errorf("Decode: %v", err)
		}
		recordtest.Put(t, db.Client(), table, row)
	}
	wantOverdue(t, s, tonight, "42/"+p.ID)
	if all, err := s.Of(t.Context(), "42", noon); len(all) != 1 || all[0] != p || err != nil {
		t.Errorf("Of = %v, %v", all, err)
	}
	keep(t, s, done(at(t, noon.Add(time.Hour), "2")), p.ID)
}
