package record_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

var now = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

// spy passes requests on, after the test had its say before each write.
type spy struct {
	record.API
	before  func(write int, in *dynamodb.UpdateItemInput) error
	reads   []*dynamodb.GetItemInput
	updates []*dynamodb.UpdateItemInput
}

func (s *spy) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	s.reads = append(s.reads, in)
	return s.API.GetItem(ctx, in, o...)
}

func (s *spy) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	s.updates = append(s.updates, in)
	if s.before != nil {
		if err := s.before(len(s.updates), in); err != nil {
			return nil, err
		}
	}
	return s.API.UpdateItem(ctx, in, o...)
}

// sums is a kind of row that adds up what the events bring.
func sums(t testing.TB, api record.API, table string) *record.Rows[int64] {
	t.Helper()
	return sumsRead(t, api, table, false)
}

func sumsRead(t testing.TB, api record.API, table string, consistently bool) *record.Rows[int64] {
	t.Helper()
	kind := record.Kind[int64]{Package: "sums", Type: "SUM", Count: "n", Decode: sumOf}
	rows, err := record.New(api, table, kind, &record.Config{Now: recordtest.Clock(now), ConsistentReads: consistently})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func sumOf(row record.Item) (int64, error) {
	f := record.Read(row)
	return f.Int("sum"), f.Err()
}

// applied is an event of the row that the tests count into.
func applied(ev event.Event, next record.Next) record.Apply {
	return record.Apply{Partition: "p", Sort: "s", Event: ev, Next: next}
}

func plus(x int64) record.Next {
	return func(row record.Item, _ event.Event) (record.Item, error) {
		sum, err := item.Int(row, "sum")
		return record.Item{"sum": item.N(sum + x)}, err
	}
}

// open returns a kind of row on a table of its own, behind a spy.
func open(t *testing.T) (*dynamotest.DB, *spy, *record.Rows[int64]) {
	t.Helper()
	return openOn(t, dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond), pricetest.Watch))
}

func openOn(t *testing.T, db *dynamotest.DB) (*dynamotest.DB, *spy, *record.Rows[int64]) {
	t.Helper()
	table := schema.Table{Name: db.Name("rows"), Key: schema.Key{Partition: schema.String("pk"), Sort: schema.String("sk")}}
	recordtest.Create(t, db.Client(), table)
	s := &spy{API: db.Client()}
	return db, s, sums(t, s, table.Name)
}

func at(t testing.TB, i int) event.Event {
	t.Helper()
	return recordtest.Event(t, now.Add(time.Duration(i)*time.Second), strconv.Itoa(i))
}

func mustApply(t *testing.T, r *record.Rows[int64], i int, want event.Outcome) {
	t.Helper()
	out, err := r.Apply(t.Context(), applied(at(t, i), plus(int64(i))))
	if err != nil || out != want {
		t.Fatalf("Apply(%d) = %v, %v, want %v", i, out, err, want)
	}
}

// row is the row without what the tests do not tell apart.
type row struct {
	Count, Version, Sum int64
	Ring                int
	Note                string
}

// theKey is that of the row which the tests count into.
var theKey = ddb.Item{"pk": item.S("p"), "sk": item.S("s")}

func stored(t *testing.T, db *dynamotest.DB, table string) row {
	t.Helper()
	it := recordtest.Row(t, db.Client(), table, theKey)
	var r row
	var errs [4]error
	var ring []byte
	r.Count, errs[0] = item.Int(it, "n")
	r.Version, errs[1] = item.Int(it, "version")
	r.Sum, errs[2] = item.Int(it, "sum")
	ring, errs[3] = item.Bytes(it, "recent")
	if err := errors.Join(errs[:]...); err != nil {
		t.Fatal(err)
	}
	r.Ring, r.Note = len(ring)/event.Size, item.Text(it, "note")
	return r
}

// put writes a row as another system would.
func put(t *testing.T, db *dynamotest.DB, table, attributes string) {
	t.Helper()
	it, err := golden.Parse([]byte(`{"pk": {"S": "p"}, "sk": {"S": "s"}` + attributes + `}`))
	if err != nil {
		t.Fatal(err)
	}
	recordtest.Put(t, db.Client(), table, it)
}

func drop(t *testing.T, db *dynamotest.DB, table string) {
	t.Helper()
	recordtest.Delete(t, db.Client(), table, theKey)
}

// Every event that is not refused counts once, in whatever order and however
// often it comes, and what it finds stored stays.
func TestApply(t *testing.T) {
	t.Parallel()
	db, spy, rows := open(t)
	put(t, db, rows.Table().Name, `, "n": {"N": "5"}, "sum": {"N": "100"}, "note": {"S": "of another writer"}`)
	mustApply(t, rows, 3, event.Created)
	mustApply(t, rows, 1, event.Created)
	mustApply(t, rows, 3, event.Duplicate)
	mustApply(t, rows, 1, event.Duplicate)
	want := row{Count: 7, Version: 2, Sum: 104, Ring: 2, Note: "of another writer"}
	if diff := cmp.Diff(want, stored(t, db, rows.Table().Name)); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	if len(spy.reads) != 4 || len(spy.updates) != 2 || !aws.ToBool(spy.reads[0].ConsistentRead) {
		t.Errorf("%d reads and %d writes, want 4 consistent ones and 2", len(spy.reads), len(spy.updates))
	}
	f := record.Read(recordtest.Row(t, db.Client(), rows.Table().Name, theKey))
	if f.Text("type") != "SUM" || f.Text("updatedAt") != "2026-03-29T12:00:00.000Z" || f.Err() != nil {
		t.Errorf("type %s at %s, %v", f.Text("type"), f.Text("updatedAt"), f.Err())
	}
}

func TestTooOld(t *testing.T) {
	t.Parallel()
	db, spy, rows := open(t)
	for i := range 32 {
		mustApply(t, rows, 10+i, event.Created)
	}
	kept := recordtest.Row(t, db.Client(), rows.Table().Name, theKey)
	for _, attribute := range []string{"pk", "sk", "type", "n", "sum"} {
		delete(kept, attribute)
	}
	if size := item.Size(kept); size < 560 || size > 570 {
		t.Errorf("the package keeps %d bytes in a row with a full ring", size)
	}
	before := stored(t, db, rows.Table().Name)
	out, err := rows.Apply(t.Context(), applied(at(t, 9), plus(9)))
	if !errors.Is(err, event.ErrTooOld) || out != 0 || !strings.HasPrefix(err.Error(), "sums: Apply on table ") || !strings.Contains(err.Error(), ": the event is earlier than the 32 latest events of the row: ") {
		t.Errorf("Apply = %v, %v, want too old", out, err)
	}
	if after := stored(t, db, rows.Table().Name); after != before || len(spy.updates) != 32 {
		t.Errorf("row %+v after, %+v before; %d writes", after, before, len(spy.updates))
	}
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	for attribute, attributes := range map[string]string{
		"recent":  `, "n": {"N": "1"}, "recent": {"S": "x"}`,
		"ring":    `, "n": {"N": "1"}, "recent": {"B": "AAAA"}`,
		"version": `, "n": {"N": "1"}, "version": {"S": "1"}`,
		"n":       `, "n": {"S": "1"}`,
		"sum":     `, "n": {"N": "1"}, "sum": {"N": "1.5"}`,
	} {
		db, spy, rows := open(t)
		put(t, db, rows.Table().Name, attributes)
		out, err := rows.Apply(t.Context(), applied(at(t, 1), plus(1)))
		if err == nil || out != 0 || !strings.HasPrefix(err.Error(), "sums: Apply on table ") || !strings.Contains(err.Error(), attribute) {
			t.Errorf("Apply = %v, %v", out, err)
		}
		if len(spy.updates) != 0 {
			t.Error("the row was written")
		}
		if attribute != "sum" {
			continue
		}
		if got, ok, err := rows.Get(t.Context(), "p", "s"); got != 0 || ok || err == nil || !strings.HasPrefix(err.Error(), "sums: Get on table ") {
			t.Errorf("Get = %v, %v, %v", got, ok, err)
		}
		if all, err := rows.All(t.Context(), "p"); all != nil || err == nil || !strings.HasPrefix(err.Error(), "sums: All on table ") {
			t.Errorf("All = %v, %v", all, err)
		}
	}
}

// A writer of an older system that replaces the row erases the ring: what
// comes again after it counts again, as the packages' documentation says.
func TestAnOlderWriterErasesTheRing(t *testing.T) {
	t.Parallel()
	db, _, rows := open(t)
	mustApply(t, rows, 1, event.Created)
	mustApply(t, rows, 1, event.Duplicate)
	put(t, db, rows.Table().Name, `, "n": {"N": "1"}, "sum": {"N": "1"}`)
	mustApply(t, rows, 1, event.Created)
	if diff := cmp.Diff(row{Count: 2, Version: 1, Sum: 2, Ring: 1}, stored(t, db, rows.Table().Name)); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
}

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
