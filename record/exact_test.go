package record_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

const retention = 30 * 24 * time.Hour

// wire passes requests on, after the test had its say before each transaction.
type wire struct {
	record.API
	before func(n int, in *dynamodb.TransactWriteItemsInput) error
	sent   []*dynamodb.TransactWriteItemsInput
	reads  int
}

func (w *wire) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	w.reads++
	return w.API.GetItem(ctx, in, o...)
}

func (w *wire) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	w.sent = append(w.sent, in)
	if w.before != nil {
		if err := w.before(len(w.sent), in); err != nil {
			return nil, err
		}
	}
	return w.API.TransactWriteItems(ctx, in, o...)
}

// pointsKind is an exact kind of row.
var pointsKind = record.Kind[int64]{Package: "points", Type: "POINTS", Count: "n", Attributes: []string{"sum", "gold"}, Retention: retention, Decode: sumOf}

func exact(t testing.TB, api record.API, table string) *record.Rows[int64] {
	t.Helper()
	rows, err := record.New(api, table, pointsKind, &record.Config{Now: recordtest.Clock(now), ConsistentReads: true})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// openExact returns an exact kind of row on a table of its own, behind a wire, and
// without one.
func openExact(t *testing.T) (*dynamotest.DB, *wire, *record.Rows[int64], *record.Rows[int64]) {
	t.Helper()
	db, _, rows := open(t)
	w := &wire{API: db.Client()}
	return db, w, exact(t, w, rows.Table().Name), exact(t, db.Client(), rows.Table().Name)
}

func adds(ev event.Event, n int64) record.Apply {
	return record.Apply{Partition: "p", Sort: "s", Event: ev, Add: map[string]int64{"sum": n}}
}

// ways are the ways to count an event in an exact row.
var ways = map[string]func(event.Event, int64) record.Apply{
	"Add":  adds,
	"Next": func(ev event.Event, n int64) record.Apply { return applied(ev, plus(n)) },
}

func wantApply(t *testing.T, r *record.Rows[int64], a record.Apply, want event.Outcome) {
	t.Helper()
	out, err := r.Apply(t.Context(), a)
	if err != nil || out != want {
		t.Fatalf("Apply = %v, %v, want %v", out, err, want)
	}
}

// wantSum compares what the row counts and how many writes it had.
func wantSum(t *testing.T, db *dynamotest.DB, table string, count, sum int64) {
	t.Helper()
	got := stored(t, db, table)
	if got.Count != count || got.Sum != sum || got.Ring != 0 {
		t.Errorf("row %+v, want %d events and the sum %d", got, count, sum)
	}
}

// However late an event comes, and in whatever order, it counts once.
func TestExact(t *testing.T) {
	t.Parallel()
	for name, way := range ways {
		db, w, rows, _ := openExact(t)
		for i := range 40 {
			wantApply(t, rows, way(at(t, -i), int64(i+1)), event.Created)
		}
		wantApply(t, rows, way(at(t, -1000), 7), event.Created)
		for i := range 40 {
			wantApply(t, rows, way(at(t, -i), int64(i+1)), event.Duplicate)
		}
		wantSum(t, db, rows.Table().Name, 41, 41*40/2+7)
		if name == "Add" && w.reads > 0 || len(w.sent) != 81 {
			t.Errorf("%d reads and %d transactions", w.reads, len(w.sent))
		}
		for _, in := range w.sent {
			if token := aws.ToString(in.ClientRequestToken); token == "" || len(token) > 36 {
				t.Errorf("token %q", token)
			}
		}
	}
}

// After the retention the row of an event may be gone. An event so old is refused
// before any request, and so is bad input.
func TestExactTooOld(t *testing.T) {
	t.Parallel()
	rows := exact(t, recordtest.Silent(t), "rows")
	edge := now.Add(5*time.Minute - retention)
	for name, way := range ways {
		old := recordtest.Event(t, edge, "old")
		out, err := rows.Apply(t.Context(), way(old, 1))
		if out != 0 || !errors.Is(err, event.ErrTooOld) || !strings.Contains(err.Error(), "points: Apply on table rows: the event happened longer ago than Kind.Retention less Config.MaxSkew: ") {
			t.Errorf("%s: Apply = %v, %v", name, out, err)
		}
		if item, err := rows.ApplyItem(t.Context(), way(old, 1)); item != nil || !errors.Is(err, event.ErrTooOld) {
			t.Errorf("%s: ApplyItem: %v", name, err)
		}
		outcomes, err := rows.ApplyAll(t.Context(), allWays[name](old, old))
		if diff := cmp.Diff([]string{"too old", "too old"}, answers(t, outcomes, err)); diff != "" {
			t.Errorf("%s: ApplyAll (-want +got):\n%s", name, diff)
		}
	}
	db, _, rows, _ := openExact(t)
	wantApply(t, rows, adds(recordtest.Event(t, edge.Add(time.Millisecond), "young"), 1), event.Created)
	wantSum(t, db, rows.Table().Name, 1, 1)
}

// The rows as they are stored: that of an event, and that of the record after an
// Add, whose version begins at random.
func TestExactRows(t *testing.T) {
	t.Parallel()
	db, _, first, _ := openExact(t)
	kind := record.Kind[int64]{Package: "points", Type: "POINTS", Count: "orders", Attributes: []string{"points"}, Retention: retention, Decode: sumOf}
	rows, err := record.New(db.Client(), first.Table().Name, kind, &record.Config{Now: recordtest.Clock(now), Rand: strings.NewReader("12345678abcdefgh")})
	if err != nil {
		t.Fatal(err)
	}
	in := adds(recordtest.Event(t, now.Add(-time.Hour-time.Millisecond), "1001"), 0)
	in.Add = map[string]int64{"points": 10}
	in.Partition, in.Sort = record.Key("POINTS", "ann"), "50% #1"
	wantApply(t, rows, in, event.Created)
	golden.Want(t, db.Client(), first.Table().Name, "testdata/event.json", "pk", "sk")
	golden.Want(t, db.Client(), first.Table().Name, "testdata/added.json", "pk", "sk")
	in.Event, in.Add, in.Next = at(t, -2), nil, func(record.Item, event.Event) (record.Item, error) {
		return record.Item{"points": record.Int(3)}, nil
	}
	wantApply(t, rows, in, event.Created)
	golden.Want(t, db.Client(), first.Table().Name, "testdata/computed.json", "pk", "sk")
	if table := rows.Table(); table.TTL != "ttl" {
		t.Errorf("the table's TTL is %q", table.TTL)
	}
}

// lose sends the transaction without its token, which DynamoDB forgets after ten
// minutes, and loses the reply.
func lose(t *testing.T, db *dynamotest.DB, in *dynamodb.TransactWriteItemsInput) error {
	t.Helper()
	other := *in
	other.ClientRequestToken = nil
	if _, err := db.Client().TransactWriteItems(t.Context(), &other); err != nil {
		t.Error(err)
	}
	return &types.TransactionInProgressException{}
}

// DynamoDB forgets a token after ten minutes: then the event's row says whose it is.
func TestExactKnowsItsOwnWithoutAToken(t *testing.T) {
	t.Parallel()
	for name, way := range ways {
		db, w, rows, _ := openExact(t)
		w.before = func(n int, in *dynamodb.TransactWriteItemsInput) error {
			if n > 1 {
				return nil
			}
			return lose(t, db, in)
		}
		wantApply(t, rows, way(at(t, 1), 5), event.Created)
		if len(w.sent) != 2 || w.sent[0] != w.sent[1] {
			t.Errorf("%s: %d transactions", name, len(w.sent))
		}
		wantApply(t, rows, way(at(t, 1), 5), event.Duplicate)
		wantSum(t, db, rows.Table().Name, 1, 5)
	}
}

// A conflict says nothing about the row: the same request again. An event's row
// says what it says beside a conflict, too.
func TestExactConflicts(t *testing.T) {
	t.Parallel()
	cancelled := func(reasons ...types.CancellationReason) error {
		return &types.TransactionCanceledException{CancellationReasons: reasons}
	}
	none, conflict := types.CancellationReason{Code: aws.String("None")}, types.CancellationReason{Code: aws.String("TransactionConflict")}
	throttled := types.CancellationReason{Code: aws.String("ThrottlingError")}
	refused := types.CancellationReason{Code: aws.String("ConditionalCheckFailed"), Item: record.Item{"by": record.Text("another")}}
	for name, way := range ways {
		for _, met := range []error{cancelled(none, conflict), cancelled(conflict, none), cancelled(throttled, none), cancelled(conflict, refused)} {
			db, w, rows, _ := openExact(t)
			w.before = func(n int, _ *dynamodb.TransactWriteItemsInput) error {
				if n > 3 {
					return nil
				}
				return met
			}
			wantApply(t, rows, way(at(t, 1), 5), event.Created)
			if len(w.sent) != 4 || w.sent[0] != w.sent[3] {
				t.Errorf("%s: %d transactions", name, len(w.sent))
			}
			wantSum(t, db, rows.Table().Name, 1, 5)
		}
		_, w, rows, _ := openExact(t)
		w.before = func(int, *dynamodb.TransactWriteItemsInput) error { return cancelled(refused, conflict) }
		wantApply(t, rows, way(at(t, 1), 5), event.Duplicate)
		fault := types.CancellationReason{Code: aws.String("ValidationError"), Message: aws.String("bad")}
		w.before = func(int, *dynamodb.TransactWriteItemsInput) error { return cancelled(none, fault) }
		if out, err := rows.Apply(t.Context(), way(at(t, 1), 5)); out != 0 || err == nil || errors.Is(err, record.ErrContended) || len(w.sent) != 2 {
			t.Errorf("%s: Apply = %v, %v after %d", name, out, err, len(w.sent))
		}
	}
}

// A floor refuses what would go below it, and only that; the event may come again.
func TestExactFloor(t *testing.T) {
	t.Parallel()
	db, _, rows, _ := openExact(t)
	spend := func(i int, n int64) record.Apply {
		in := adds(at(t, i), -n)
		in.AtLeast = map[string]int64{"sum": 0}
		return in
	}
	wantFloor := func(in record.Apply, want record.FloorError) {
		t.Helper()
		out, err := rows.Apply(t.Context(), in)
		got, ok := errors.AsType[*record.FloorError](err)
		if out != 0 || !ok || *got != want {
			t.Errorf("Apply = %v, %v, want %v", out, err, &want)
		}
	}
	wantFloor(spend(1, 1), record.FloorError{Attribute: "sum"}) // no row: nothing to spend
	wantApply(t, rows, spend(2, -1), event.Created)             // it gives
	wantApply(t, rows, adds(at(t, 3), 9), event.Created)
	wantApply(t, rows, spend(4, 7), event.Created)
	wantFloor(spend(5, 4), record.FloorError{Attribute: "sum", Stands: 3})
	wantApply(t, rows, spend(4, 7), event.Duplicate) // whatever stands now
	wantApply(t, rows, spend(6, 3), event.Created)
	wantApply(t, rows, adds(at(t, 7), 4), event.Created)
	wantApply(t, rows, spend(5, 4), event.Created)
	wantSum(t, db, rows.Table().Name, 6, 0)
	credit := adds(at(t, 8), 5) // a floor above what is added, and a sum that the row lacks
	credit.Add["gold"], credit.AtLeast = 2, map[string]int64{"gold": 3}
	wantFloor(credit, record.FloorError{Attribute: "gold", AtLeast: 3})
	credit.AtLeast["gold"] = 2
	wantApply(t, rows, credit, event.Created)
	recordtest.Put(t, db.Client(), rows.Table().Name, record.Item{ // as another system would
		"pk": record.Text("p"), "sk": record.Text("s"), "sum": record.Float(1.5), "n": record.Int(1),
	})
	wantFloor(spend(9, 2), record.FloorError{Attribute: "sum", Stands: 1})
}

// A ring's row does not say which events it has counted, so an exact Kind refuses
// it.
func TestExactRefusesARing(t *testing.T) {
	t.Parallel()
	for name, way := range ways {
		db, _, rows, _ := openExact(t)
		mustApply(t, sums(t, db.Client(), rows.Table().Name), 1, event.Created)
		out, err := rows.Apply(t.Context(), way(at(t, 2), 5))
		if want := "points: Apply on table " + rows.Table().Name + ": the row was written by a Kind without a Retention"; out != 0 || err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: Apply = %v, %v", name, out, err)
		}
		if got := stored(t, db, rows.Table().Name); got.Count != 1 || got.Sum != 1 || got.Ring != 1 {
			t.Errorf("%s: row %+v", name, got)
		}
	}
}

// A row that is erased and grows to the same number of writes and events again is
// another row: what was erased does not come back. Erase counts the events' rows.
func TestExactErase(t *testing.T) {
	t.Parallel()
	db, w, rows, direct := openExact(t)
	wantApply(t, direct, adds(at(t, 1), 100), event.Created)
	w.before = func(n int, _ *dynamodb.TransactWriteItemsInput) error {
		if n == 1 {
			if erased, err := direct.Erase(t.Context(), "p"); erased != 2 || err != nil {
				t.Errorf("Erase = %d, %v, want the record and its event", erased, err)
			}
			wantApply(t, direct, adds(at(t, 2), 10), event.Created)
		}
		return nil
	}
	wantApply(t, rows, applied(at(t, 3), plus(5)), event.Created)
	wantSum(t, db, rows.Table().Name, 2, 15)
	if all, err := rows.All(t.Context(), "p"); len(all) != 1 || err != nil {
		t.Errorf("All = %v, %v", all, err)
	}
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "BatchWriteItem", Times: 3})
	if erased, err := direct.Erase(t.Context(), "p"); err == nil {
		t.Errorf("Erase = %d, without its reply", erased)
	}
	if got := stored(t, db, rows.Table().Name); got.Count != 2 {
		t.Error("the record went before its events") // then they would count twice
	}
	for _, want := range []int{1, 0} {
		if erased, err := direct.Erase(t.Context(), "p"); erased != want || err != nil {
			t.Errorf("Erase = %d, %v, want %d", erased, err, want)
		}
	}
	wantApply(t, rows, adds(at(t, 1), 7), event.Created) // it is forgotten
}
