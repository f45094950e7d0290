package record_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

func TestPrices(t *testing.T) {
	t.Parallel()
	db, _, first := open(t)
	rows := sums(t, db.Client(), first.Table().Name)
	set := statuses(t, db.Client(), first.Table().Name)
	for i := range 40 { // a full ring
		mustApply(t, rows, i, event.Created)
	}
	eager, err := record.New(db.Client(), first.Table().Name,
		record.Kind[int64]{Package: "sums", Type: "SUM", Count: "n", Decode: sumOf}, nil)
	if err != nil {
		t.Fatal(err)
	}
	burst := make([]event.Event, 32)
	for i := range burst {
		burst[i] = at(t, 100+i)
	}
	points := exact(t, db.Client(), first.Table().Name)
	made := func(a record.Apply) func() []types.TransactWriteItem {
		a.Partition = "exact"
		return func() []types.TransactWriteItem {
			i, err := points.ApplyItem(t.Context(), a)
			if err != nil {
				t.Fatal(err)
			}
			return i.Items
		}
	}
	earned := func(i int, way string) func(context.Context) error {
		a := ways[way](at(t, i), 1)
		a.Partition = "exact"
		return func(ctx context.Context) error { _, err := points.Apply(ctx, a); return err }
	}
	earnedAll := func(from int, way string) func(context.Context) error {
		a := allWays[way](span(t, from, from+99)...)
		a.Partition = "exact"
		return func(ctx context.Context) error { _, err := points.ApplyAll(ctx, a); return err }
	}
	status := record.Set{Partition: "q", Sort: "s", Event: at(t, 1), Values: record.Item{"status": record.Text("x")}}
	once := adds(at(t, 1), 1)
	once.Partition = "once"
	wantApply(t, points, once, event.Created)
	const ofTheLast = "of a transaction's actions on a table it reports only the last"
	pricetest.Run(t, db, []pricetest.Case{
		{Func: "Rows.Apply", Call: func(ctx context.Context) error { _, err := rows.Apply(ctx, applied(at(t, 50), plus(1))); return err }},
		{Func: "Rows.ApplyAll", Call: func(ctx context.Context) error {
			_, err := rows.ApplyAll(ctx, record.ApplyAll{Partition: "p", Sort: "s", Events: burst, Next: plus(1)})
			return err
		}},
		{Func: "Rows.Apply", In: "ExactAdd", Call: earned(1, "Add"), Local: &dynamotest.Price{Requests: 1, WCU: 2}, Why: ofTheLast},
		{Func: "Rows.Apply", In: "ExactNext", Call: earned(2, "Next"), Local: &dynamotest.Price{Requests: 2, RCU: 1, WCU: 2}, Why: ofTheLast},
		{Func: "Rows.ApplyAll", In: "ExactAdd", Call: earnedAll(1000, "Add"), Local: &dynamotest.Price{Requests: 1, WCU: 2}, Why: ofTheLast},
		{Func: "Rows.ApplyAll", In: "ExactNext", Call: earnedAll(2000, "Next"), Local: &dynamotest.Price{Requests: 2, RCU: 1, WCU: 2}, Why: ofTheLast},
		{Func: "Rows.ApplyItem", Actions: func() []types.TransactWriteItem {
			i, err := rows.ApplyItem(t.Context(), applied(at(t, 1000), plus(1)))
			if err != nil {
				t.Fatal(err)
			}
			return i.Items
		}},
		{Func: "Rows.ApplyItem", Beyond: "the read", Call: func(ctx context.Context) error {
			_, err := rows.ApplyItem(ctx, applied(at(t, 1001), plus(1)))
			return err
		}},
		{Func: "Rows.ApplyItem", In: "ExactAdd", Actions: made(ways["Add"](at(t, 3), 1)), Local: &dynamotest.Price{WCU: 2}, Why: ofTheLast},
		{Func: "Rows.ApplyItem", In: "ExactNext", Actions: made(ways["Next"](at(t, 4), 1)), Local: &dynamotest.Price{Requests: 1, WCU: 2}, Why: ofTheLast},
		{Func: "Rows.Set", Call: func(ctx context.Context) error { _, err := set.Set(ctx, status); return err }},
		{Func: "Rows.Get", Call: func(ctx context.Context) error { _, _, err := eager.Get(ctx, "p", "s"); return err }},
		{Func: "Rows.All", Call: func(ctx context.Context) error { _, err := eager.All(ctx, "p"); return err }},
		{Func: "Rows.Erase", Call: func(ctx context.Context) error { _, err := rows.Erase(ctx, "p"); return err }},
		{Func: "Rows.Erase", In: "Exact", Call: func(ctx context.Context) error { _, err := points.Erase(ctx, "once"); return err }},
	}, rows, points)
	for way, want := range map[string]dynamotest.Price{"Add": {Requests: 1, WCU: 4}, "Next": {Requests: 2, RCU: 1, WCU: 4}} {
		if db.InProcess() { // no other backend reports what a refusal costs
			db.Meter(func() { _ = earned(1, way)(t.Context()) }).Want(t, want)
		}
	}
	nothing := dynamotest.Price{Requests: 1}
	if db.InProcess() { // DynamoDB Local reports nothing of a query that finds nothing
		nothing.RCU = 1
	}
	db.Meter(func() { _, _ = rows.Erase(t.Context(), "p") }).Want(t, nothing)
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	good := record.Kind[int64]{Package: "sums", Type: "SUM", Count: "n", Decode: sumOf}
	long := strings.Repeat("x", 256)
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprint("a", i)
	}
	for name, tc := range map[string]struct {
		field  string
		change func(*record.Kind[int64])
	}{
		"no package":        {"Kind.Package", func(k *record.Kind[int64]) { k.Package = "" }},
		"no type":           {"Kind.Type", func(k *record.Kind[int64]) { k.Type = "" }},
		"a long type":       {"Kind.Type", func(k *record.Kind[int64]) { k.Type = long }},
		"a type of bytes":   {"Kind.Type", func(k *record.Kind[int64]) { k.Type = "\xff" }},
		"a kept count":      {"Kind.Count", func(k *record.Kind[int64]) { k.Count = "version" }},
		"a long count":      {"Kind.Count", func(k *record.Kind[int64]) { k.Count = long }},
		"what is counted":   {"Kind.Attributes", func(k *record.Kind[int64]) { k.Attributes = []string{"sum"} }},
		"a kept attribute":  {"Kind.Attributes", func(k *record.Kind[int64]) { k.Count, k.Attributes = "", []string{"sum", "event"} }},
		"a long attribute":  {"Kind.Attributes", func(k *record.Kind[int64]) { k.Count, k.Attributes = "", []string{long} }},
		"one of them twice": {"Kind.Attributes", func(k *record.Kind[int64]) { k.Count, k.Attributes = "", []string{"a", "b", "a"} }},
		"too many":          {"Kind.Attributes", func(k *record.Kind[int64]) { k.Count, k.Attributes = "", many }},
		"no Decode":         {"Kind.Decode", func(k *record.Kind[int64]) { k.Decode = nil }},
	} {
		kind, pkg := good, "sums"
		if tc.change(&kind); tc.field == "Kind.Package" {
			pkg = "record"
		}
		rows, err := record.New(recordtest.Silent(t), "rows", kind, nil)
		recordtest.WantBad(t, err, pkg, tc.field, name)
		if rows != nil {
			t.Errorf("%s: rows", name)
		}
	}
	_, err := record.New(nil, "rows", good, nil)
	recordtest.WantBad(t, err, "sums", "api")
	_, err = record.New(recordtest.Silent(t), "a b", good, nil)
	recordtest.WantBad(t, err, "sums", "table")
	good = record.Kind[int64]{Package: long[1:], Type: long[1:], Attributes: append(many[:99], long[1:]), Decode: sumOf}
	var cfg record.Config
	if _, err := record.New(recordtest.Silent(t), "rows", good, &cfg); err != nil || cfg.Now != nil {
		t.Errorf("%v, %+v", err, cfg) // the caller's Config stays the caller's
	}
}

func TestBadKeys(t *testing.T) {
	t.Parallel()
	rows := sums(t, recordtest.Silent(t), "rows")
	for partition, field := range map[string]string{
		"": "Partition", record.Key("SUM", ""): "Partition", record.Key("SUM", "", "x"): "Partition", record.Key("", "x"): "Partition",
		strings.Repeat("x", 2049): "Partition", "\xff": "Partition", "p": "Sort",
	} {
		in := record.Apply{Partition: partition, Event: at(t, 1), Next: plus(1)}
		if field == "Sort" {
			_, err := rows.Apply(t.Context(), applied(at(t, 1), nil))
			recordtest.WantBad(t, err, "sums", "Next", partition)
		}
		_, err := rows.Apply(t.Context(), in)
		recordtest.WantBad(t, err, "sums", field, "Apply", partition)
		_, _, err = rows.Get(t.Context(), partition, "")
		recordtest.WantBad(t, err, "sums", field, "Get", partition)
		if field == "Sort" {
			continue
		}
		_, err = rows.All(t.Context(), partition)
		recordtest.WantBad(t, err, "sums", field, "All", partition)
		_, err = rows.Erase(t.Context(), partition)
		recordtest.WantBad(t, err, "sums", field, "Erase", partition)
	}
}

func TestNextSetsOnlyItsOwn(t *testing.T) {
	t.Parallel()
	_, spy, rows := open(t)
	for _, attribute := range []string{"pk", "sk", "type", "version", "recent", "event", "updatedAt", "n"} {
		next := func(record.Item, event.Event) (record.Item, error) { return record.Item{attribute: record.Int(1)}, nil }
		out, err := rows.Apply(t.Context(), applied(at(t, 1), next))
		if err == nil || !strings.Contains(err.Error(), "Next must not set attribute "+attribute+", which package record keeps") || out != 0 {
			t.Errorf("%s: %v, %v", attribute, out, err)
		}
		recordtest.WantBad(t, err, "sums", "Next", attribute)
	}
	if len(spy.updates) != 0 {
		t.Errorf("%d writes", len(spy.updates))
	}
}

// A burst writes all that its events change, each of them another attribute. A nil
// value removes the attribute, for the burst's next event, too.
func TestWhatABurstChanges(t *testing.T) {
	t.Parallel()
	db, spy, rows := open(t)
	put(t, db, rows.Table().Name, `, "sum": {"N": "7"}, "note": {"S": "x"}`)
	var had []bool
	next := func(row record.Item, ev event.Event) (record.Item, error) {
		had = append(had, record.Read(row).Has("sum"))
		return record.Item{"sum": nil, ev.Time().Format("S05"): record.Int(1), "last": record.Time(ev.Time())}, nil
	}
	in := record.ApplyAll{Partition: "p", Sort: "s", Events: []event.Event{at(t, 1), at(t, 2)}, Next: next}
	if _, err := rows.ApplyAll(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	in.Events = nil
	if out, err := rows.ApplyAll(t.Context(), in); out != nil || err != nil {
		t.Errorf("of no events: %v, %v", out, err)
	}
	if diff := cmp.Diff([]bool{true, false}, had); diff != "" {
		t.Errorf("seen by Next (-want +got):\n%s", diff)
	}
	f := record.Read(recordtest.Row(t, db.Client(), rows.Table().Name, theKey))
	if f.Int("S01") != 1 || f.Int("S02") != 1 || !f.Time("last").Equal(at(t, 2).Time()) || f.Has("sum") || f.Text("note") != "x" || f.Err() != nil {
		t.Errorf("the row lacks what an event changed; %v", f.Err())
	}
	if len(spy.updates) != 1 {
		t.Errorf("%d writes", len(spy.updates))
	}
}

// An erasure between the read and the write, and between two writes: nothing
// that stood before it is in the row after it.
func TestErase(t *testing.T) {
	t.Parallel()
	for _, when := range []int{1, 2} {
		db, spy, rows := openLogs(t)
		others := logs(t, db.Client(), rows.Table().Name)
		applyAll(t, others, 1, 2, 3)
		recordtest.Put(t, db.Client(), rows.Table().Name, record.Item{"pk": record.Text("p"), "sk": record.Text("t")})
		recordtest.Put(t, db.Client(), rows.Table().Name, record.Item{"pk": record.Text("p#"), "sk": record.Text("s")})
		spy.before = func(write int, _ *dynamodb.UpdateItemInput) error {
			if write == when {
				if n, err := others.Erase(t.Context(), "p"); n != 2 || err != nil {
					t.Errorf("Erase = %d, %v, want 2", n, err)
				}
			}
			return nil
		}
		for i, told := range applyAll(t, rows, upTo(70)[10:]...) {
			if told != "created" {
				t.Errorf("event %d is %s", i, told)
			}
		}
		want := upTo(70)[10+32*(when-1):]
		if diff := cmp.Diff(want, logged(t, rows)); diff != "" {
			t.Errorf("erased before write %d (-want +got):\n%s", when, diff)
		}
		for _, want := range []int{1, 0} {
			if n, err := others.Erase(t.Context(), "p"); n != want || err != nil {
				t.Errorf("Erase = %d, %v, want %d", n, err, want)
			}
		}
		if recordtest.Row(t, db.Client(), rows.Table().Name, record.Item{"pk": record.Text("p#"), "sk": record.Text("s")}) == nil {
			t.Error("a neighbour's row went, too")
		}
	}
}

// Data as it was given, and as it is read back.
func TestReadData(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]map[string]any{
		"given": {"cents": 1250, "to": "Lund", "gift": true, "sold": false, "share": 0.5, "many": uint64(1 << 40)},
		"read":  {"cents": json.Number("1250"), "to": "Lund", "gift": true, "sold": false, "share": json.Number("0.5"), "many": json.Number("1099511627776")},
	} {
		f := record.ReadData(data)
		if f.Int("cents") != 1250 || f.Text("to") != "Lund" || !f.Bool("gift") || f.Bool("sold") || f.Float("share") != 0.5 || f.Int("many") != 1<<40 || f.Has("other") || f.Bool("other") || f.Err() != nil {
			t.Errorf("%s: %v", name, f.Err())
		}
		for entry, read := range map[string]func(f *record.Fields){
			"to":    func(f *record.Fields) { f.Int("to") },
			"cents": func(f *record.Fields) { f.Bool("cents") },
			"gift":  func(f *record.Fields) { f.Text("gift") },
		} {
			f := record.ReadData(data)
			if read(f); f.Err() == nil || !strings.Contains(f.Err().Error(), entry) {
				t.Errorf("%s: %s as something else: %v", name, entry, f.Err())
			}
		}
	}
	recordtest.WantBad(t, record.ReadData(map[string]any{"at": time.Now()}).Err(), "record", `Data["at"]`)
}

func TestFields(t *testing.T) {
	t.Parallel()
	row := record.Item{
		"text": record.Text("x"), "int": record.Int(-3), "float": record.Float(0.25), "time": record.Time(now.Add(time.Millisecond)),
		"flag": &types.AttributeValueMemberBOOL{Value: true},
	}
	f := record.Read(row)
	if f.Text("text") != "x" || f.Int("int") != -3 || f.Float("float") != 0.25 || !f.Time("time").Equal(now.Add(time.Millisecond)) || f.Text("int") != "-3" || f.Err() != nil {
		t.Errorf("read %v, %v", row, f.Err())
	}
	if f.Text("none") != "" || f.Int("none") != 0 || f.Float("none") != 0 || !f.Time("none").IsZero() || f.Has("none") || !f.Has("int") || f.Err() != nil {
		t.Errorf("what is absent: %v", f.Err())
	}
	if text := f.Text("flag"); text != "" || f.Err() == nil || !strings.Contains(f.Err().Error(), "attribute flag is not text") {
		t.Errorf("Text of a flag = %q, %v", text, f.Err())
	}
	if n, at := f.Int("text"), f.Time("int"); n != 0 || !at.IsZero() || !strings.Contains(f.Err().Error(), "attribute flag") {
		t.Errorf("the first error is lost: %v", f.Err())
	}
}
