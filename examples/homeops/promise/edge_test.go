package promise_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/dynamotest/explore"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/promise"
	"github.com/homeops/ddbpatterns/examples/internal/pipeline"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

const older = "2026-02-17T10:30:00Z#prm_abc123"

func key(p promise.Promise) record.Item {
	return record.Item{"pk": record.Text("USER#" + p.User), "sk": record.Text("PROMISE#" + p.ID)}
}

// If workers die at any request of Keep, two have one deed, or two deeds come at once, each
// deed keeps one promise, the first first.
func TestPipeline(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, nil)
	s := store(t, db.Client(), "homeops")
	db.Create(s.Table())
	for i, due := range []time.Duration{time.Hour, 0, 2 * time.Hour} {
		make1(t, s, dishes(at(t, noon, fmt.Sprint(i)), tonight.Add(due)), event.Created)
	}
	first, second := done(at(t, noon.Add(time.Hour), "4")), done(at(t, noon.Add(2*time.Hour), "5"))
	for name, deeds := range map[string][]promise.Deed{"one": {first}, "two": {first, second}} {
		t.Run(name, func(t *testing.T) {
			pipeline.Test(t, 150, explore.Config{Server: db.Server()}, explore.Deliveries[promise.Deed]{Messages: deeds}, func(p *explore.Process) func(context.Context, promise.Deed) error {
				worker := store(t, p.Client(), "homeops")
				return func(ctx context.Context, deed promise.Deed) error {
					_, _, err := worker.Keep(ctx, deed)
					return err
				}
			})
		})
	}
}

// A lost race costs a request and a unit.
func TestALostRace(t *testing.T) {
	t.Parallel()
	db, s, table := open(t)
	first := make1(t, s, dishes(at(t, noon, "1"), tonight), event.Created)
	second := make1(t, s, dishes(at(t, noon, "2"), tonight), event.Created)
	if first.ID > second.ID { // of those due at once, the one made first
		first, second = second, first
	}
	ended := at(t, noon.Add(time.Hour), "3")
	db.Inject(dynamotest.Fault{Op: "UpdateItem", Do: dynamotest.Before(func() {
		if out, err := s.Expire(t.Context(), promise.Promise{User: "42", ID: first.ID}, ended); out != event.Created || err != nil {
			t.Errorf("Expire = %v, %v", out, err)
		}
	})})
	cost := db.Meter(func() { keep(t, s, done(at(t, noon.Add(time.Hour), "4")), second.ID) })
	if db.InProcess() {
		cost.Want(t, dynamotest.Price{Requests: 4, RCU: 1, WCU: 5}) // the other's request and its two units among them
	}
	if p, _, err := s.Get(t.Context(), "42", first.ID); p.Status != promise.Expired || p.Settled != ended || err != nil {
		t.Errorf("%+v, %v", p, err)
	}

	third := make1(t, s, dishes(at(t, noon, "5"), tonight), event.Created)
	other := func() { recordtest.Delete(t, db.Client(), table, key(third)) }
	db.Inject(dynamotest.Fault{Do: dynamotest.Before(other), Op: "UpdateItem"})
	keep(t, s, done(at(t, noon.Add(time.Hour), "6")), "")
}

// Rows of an older system, with and without decimals, are read, found overdue and settled.
func TestOlderRows(t *testing.T) {
	t.Parallel()
	db, s, table := open(t)
	golden.Put(t, db.Client(), table, "testdata/older.json")
	midnight := time.Date(2026, 2, 18, 0, 0, 0, 0, time.UTC)
	want := promise.Promise{
		User: "42", ID: older, Description: "diska", Household: home, Chat: home, Source: 456,
		MadeAt: time.Date(2026, 2, 17, 10, 30, 0, 0, time.UTC), Deadline: midnight, Status: promise.Active,
	}
	m := dishes(at(t, want.MadeAt.Add(300*time.Millisecond), "1"), midnight.Add(300*time.Millisecond))
	young := make1(t, s, m, event.Created)
	for since, ids := range map[time.Duration][]string{
		0: {young.ID, older}, 300 * time.Millisecond: {young.ID, older},
		301 * time.Millisecond: {older}, time.Second: nil, // without decimals, it is known to the second
	} {
		all, err := s.Of(t.Context(), "42", want.MadeAt.Add(since))
		var got []string
		for _, p := range all {
			got = append(got, p.ID)
		}
		if diff := cmp.Diff(ids, got); diff != "" || err != nil {
			t.Errorf("Of since %v: %v (-want +got):\n%s", since, err, diff)
		}
	}
	wantOverdue(t, s, midnight.Add(-time.Millisecond))
	wantOverdue(t, s, midnight, "42/"+young.ID, "42/"+older) // to the second
	keep(t, s, done(at(t, want.MadeAt.Add(time.Hour), "2")), young.ID)
	keep(t, s, done(at(t, want.MadeAt.Add(time.Hour), "3")), "") // nobody knows what the older one is about
	if got, ok, err := s.Get(t.Context(), "42", older); got != want || !ok || err != nil {
		t.Errorf("Get = %+v, %v, %v, want %+v", got, ok, err, want)
	}

	if out, err := s.Expire(t.Context(), want, at(t, midnight.Add(24*time.Hour), "4")); out != event.Created || err != nil {
		t.Errorf("Expire = %v, %v", out, err)
	}
	golden.Want(t, db.Client(), table, "testdata/expired.json", "pk", "sk")
	wantOverdue(t, s, midnight.Add(time.Hour))
}

// An older row that names its activity is kept by deeds after its time.
func TestOlderRowsAreKept(t *testing.T) {
	t.Parallel()
	db, s, table := open(t)
	row := golden.Item(t, "testdata/older.json")
	row["activity"] = record.Text("diskning")
	recordtest.Put(t, db.Client(), table, row)
	made := time.Date(2026, 2, 17, 10, 30, 0, 0, time.UTC)
	keep(t, s, done(at(t, made, "1")), "")
	keep(t, s, done(at(t, made.Add(time.Second), "2")), older)
}

// What a deed keeps, to the millisecond.
func TestKeepBounds(t *testing.T) {
	t.Parallel()
	_, s, _ := open(t)
	m := dishes(at(t, noon, "1"), noon.Add(promise.MaxAhead))
	p := make1(t, s, m, event.Created)
	second, err := m.Event.Nth(2)
	if err != nil {
		t.Fatal(err)
	}
	last := at(t, m.Deadline.Add(promise.Grace), "2")
	other := func(change func(*promise.Deed)) promise.Deed {
		d := done(last)
		change(&d)
		return d
	}
	for name, d := range map[string]promise.Deed{
		"before it":              done(at(t, noon.Add(-time.Millisecond), "2")),
		"in its message":         done(second),
		"too late":               done(at(t, m.Deadline.Add(promise.Grace+time.Millisecond), "2")),
		"in another household":   other(func(d *promise.Deed) { d.Household = "-99" }),
		"of another activity":    other(func(d *promise.Deed) { d.Activity = "tvätt" }),
		"of an activity like it": other(func(d *promise.Deed) { d.Activity = "disk" }),
		"by another person":      other(func(d *promise.Deed) { d.User = "4" }),
	} {
		if _, ok, err := s.Keep(t.Context(), d); ok || err != nil {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
	keep(t, s, done(last), p.ID)
	keep(t, s, done(last), p.ID)
	make1(t, s, dishes(at(t, noon, "3"), noon), event.Created) // due at once
}

// What was settled stays so, whatever comes later.
func TestSettledOnce(t *testing.T) {
	t.Parallel()
	_, s, _ := open(t)
	p := make1(t, s, dishes(at(t, noon, "1"), tonight), event.Created)
	to := at(t, tonight, "2")
	other := at(t, noon.Add(time.Hour), "3") // earlier, and delivered later
	for i, call := range []func() (event.Outcome, error){
		func() (event.Outcome, error) { return s.Expire(t.Context(), p, to) },
		func() (event.Outcome, error) { return s.Expire(t.Context(), p, to) },
		func() (event.Outcome, error) { return s.Expire(t.Context(), p, other) },
	} {
		want := event.Duplicate
		if i == 0 {
			want = event.Created
		}
		if out, err := call(); out != want || err != nil {
			t.Errorf("call %d: %v, %v, want %v", i, out, err, want)
		}
	}
	keep(t, s, done(other), "")
	keep(t, s, done(to), "") // the event that let it expire kept nothing
	p.Status, p.Settled = promise.Expired, to
	if got, ok, err := s.Get(t.Context(), "42", p.ID); got != p || !ok || err != nil {
		t.Errorf("Get = %+v, %v, %v", got, ok, err)
	}
	p.ID = "2026-02-18T11:00:00.000Z#nobody"
	if out, err := s.Expire(t.Context(), p, to); out != event.Duplicate || err != nil {
		t.Errorf("Expire of nothing: %v, %v", out, err)
	}
	if _, ok, err := s.Get(t.Context(), "42", p.ID); ok || err != nil {
		t.Errorf("Get of nothing: %v, %v", ok, err)
	}
}

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
