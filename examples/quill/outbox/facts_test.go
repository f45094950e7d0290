package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/queue"
)

func TestAFactIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	e := open(t)
	facts := map[string]fact.Fact{
		"whole":     call(1),
		"no row":    {Key: "a", Table: fact.Changes, At: noon},
		"empty row": {Key: "b", Table: fact.Changes, At: noon, Row: fact.Row{}},
		"columns": {Key: "c", Table: fact.Changes, At: noon.Add(999 * time.Millisecond), Row: fact.Row{
			"empty": "", "text": "a\x00\u2028ö\U0001F600", "yes": true, "no": false, "money": json.Number("12345678901234567890.12"),
			"a.b": "dotted", "pk": "reserved",
		}},
		"bare dimension": {Key: "d", Table: fact.Changes, At: noon, Dimension: &fact.Dimension{Key: "k", Table: fact.Deals}},
		"empty dimension": {
			Key: "e", Table: fact.Changes, At: noon, Dimension: &fact.Dimension{Key: "k", Table: fact.Deals, Row: fact.Row{}},
		},
		"longest key": {Key: strings.Repeat("k", 2048), Table: fact.Changes, At: noon},
	}
	for name, f := range facts {
		if out, _, err := e.send(t.Context(), e.item(t, f)); out != event.Created || err != nil {
			t.Fatalf("%s: %v, %v", name, out, err)
		}
		got, ok, err := e.Get(t.Context(), f.Key)
		if diff := cmp.Diff(f, got.Fact); err != nil || !ok || diff != "" {
			t.Errorf("%s: %v, %v (-want +got)\n%s", name, ok, err, diff)
		}
	}
	if got, ok, err := e.Get(t.Context(), "none"); ok || err != nil || got.Key != "" {
		t.Errorf("Get of none: %v, %v, %v", got, ok, err)
	}
	local := call(2)
	local.At = noon.In(time.FixedZone("", 3600)).Add(1500 * time.Microsecond)
	e.item(t, local)
	if _, _, err := e.send(t.Context(), e.item(t, local)); err != nil {
		t.Error(err)
	}
	if got, _, err := e.Get(t.Context(), local.Key); err != nil || got.At != noon.Add(time.Millisecond) {
		t.Errorf("At is %s, %v", got.At, err)
	}
}

func TestNumbersThatDynamoDBKeeps(t *testing.T) {
	t.Parallel()
	e := open(t)
	digits := strings.Repeat("123456789", 5)
	for given, want := range map[json.Number]json.Number{
		"0": "0", "-0": "0", "0e5": "0", "0e99999999999999999999": "0", "0.000": "0", "1.50": "1.5", "1e2": "100", "-1E-2": "-0.01",
		json.Number(digits[:38]):                                  json.Number(digits[:38]),
		json.Number(digits[:20] + "." + digits[:18]):              json.Number(digits[:20] + "." + digits[:18]),
		json.Number(digits[:38] + strings.Repeat("0", 88)):        json.Number(digits[:38] + strings.Repeat("0", 88)),
		json.Number("0." + strings.Repeat("0", 92) + digits[:38]): json.Number("0." + strings.Repeat("0", 92) + digits[:38]),
		"9.99e125": "999" + json.Number(strings.Repeat("0", 123)), "1e-130": "0." + json.Number(strings.Repeat("0", 129)) + "1",
		"1" + json.Number(strings.Repeat("0", 5000)) + "e-5000": "1", json.Number("-0." + strings.Repeat("0", 5000) + "1e4999"): "-0.01",
		"0.1e126": "1" + json.Number(strings.Repeat("0", 125)), "10e-131": "0." + json.Number(strings.Repeat("0", 129)) + "1",
	} {
		f := fact.Fact{Key: string(given[:min(len(given), 200)]), Table: fact.Changes, At: noon, Row: fact.Row{"amount": given}}
		if out, _, err := e.send(t.Context(), e.item(t, f)); out != event.Created || err != nil {
			t.Errorf("%s: %v, %v", given, out, err)
			continue
		}
		if got, _, err := e.Get(t.Context(), f.Key); err != nil || got.Row["amount"] != want {
			t.Errorf("%s is read as %v, %v, want %s", given, got.Row["amount"], err, want)
		}
	}
	for _, bad := range []json.Number{
		"", "NaN", "+1", "01", ".5", "1.", "1e", "0x1", " 1", "1\n", "1_0", json.Number(digits[:39]), json.Number("0." + digits[:39]),
		"1e126", "10e125", "1e-131", "0.1e-130", "1e99999999999999999999", "1e-99999999999999999999", "1e9223372036854775807", "10e9223372036854775807", "1.2e-9223372036854775808",
	} {
		e.wantBad(t, "Row.amount", func() error {
			_, err := e.PutItem(fact.Fact{Key: "k", Table: fact.Changes, At: noon, Row: fact.Row{"amount": bad}})
			return err
		})
	}
}

func TestBadFactsAreRefusedBeforeAnyRequest(t *testing.T) {
	t.Parallel()
	e := open(t)
	for field, spoils := range map[string][]func(*fact.Fact){
		"Key": {
			func(f *fact.Fact) { f.Key = "" },
			func(f *fact.Fact) { f.Key = "\xff" },
			func(f *fact.Fact) { f.Key = strings.Repeat("k", 2049) },
			func(f *fact.Fact) { f.Key = "POSTER" },
			func(f *fact.Fact) { f.Key = "KNOWN#a" },
			func(f *fact.Fact) { f.Key = "REFUSED#a" },
		},
		"Table": {func(f *fact.Fact) { f.Table = "" }, func(f *fact.Fact) { f.Table = fact.Contacts }},
		"At":    {func(f *fact.Fact) { f.At = time.Time{} }, func(f *fact.Fact) { f.At = time.Unix(1<<40, 0) }},
		"Row": {
			func(f *fact.Fact) { f.Row = fact.Row{"": "x"} },
			func(f *fact.Fact) { f.Row = fact.Row{"\xff": "x"} },
			func(f *fact.Fact) { f.Row = fact.Row{"a": strings.Repeat("x", 400*1024)} },
			func(f *fact.Fact) { f.Row = fact.Row{strings.Repeat("n", 200*1024): strings.Repeat("x", 200*1024)} },
		},
		"Row.a": {
			func(f *fact.Fact) { f.Row = fact.Row{"a": "\xff"} },
			func(f *fact.Fact) { f.Row = fact.Row{"a": nil} },
			func(f *fact.Fact) { f.Row = fact.Row{"a": 1.5} },
			func(f *fact.Fact) { f.Row = fact.Row{"a": map[string]any{}} },
		},
		"Dimension.Key": {
			func(f *fact.Fact) { f.Dimension.Key = "" },
			func(f *fact.Fact) { f.Dimension.Key = strings.Repeat("k", 2043) }, // with KNOWN# before it
		},
		"Dimension.Table": {func(f *fact.Fact) { f.Dimension.Table = "" }, func(f *fact.Fact) { f.Dimension.Table = fact.Changes }},
		"Dimension.Row.a": {func(f *fact.Fact) { f.Dimension.Row = fact.Row{"a": 1} }},
	} {
		for _, spoil := range spoils {
			f := call(1)
			spoil(&f)
			e.wantBad(t, field, func() error { _, err := e.PutItem(f); return err })
		}
	}
	for _, key := range []string{"", "POSTER", "KNOWN#a"} {
		e.wantBad(t, "key", func() error { _, _, err := e.Get(t.Context(), key); return err })
		e.wantBad(t, "keys", func() error { _, err := e.MarkPosted(t.Context(), "1.1", []string{callKey(1), key}); return err })
	}
	for _, batch := range []string{"", "\xff", strings.Repeat("b", 257)} {
		e.wantBad(t, "batch", func() error { _, err := e.MarkPosted(t.Context(), batch, []string{callKey(1)}); return err })
	}
	if cost := e.db.Meter(func() { e.mark(t, "1.1") }); cost.Requests != 0 {
		t.Errorf("nothing to mark: %v", cost)
	}
}

// A fact that can be written can also be marked, although marking makes the row
// larger.
func TestTheLargestFactCanBeMarked(t *testing.T) {
	t.Parallel()
	e := open(t)
	f := fact.Fact{Key: callKey(1), Table: fact.Changes, At: noon}
	size := func() int { // the longest accepted text
		low, high := 0, 400*1024
		for low+1 < high {
			f.Row = fact.Row{"n": json.Number("-12.5"), "b": true, "value": strings.Repeat("x", (low+high)/2)}
			if _, err := e.PutItem(f); err == nil {
				low = (low + high) / 2
			} else {
				high = (low + high) / 2
			}
		}
		return low
	}()
	if size < 398*1024 {
		t.Errorf("a text of %d bytes is the longest", size)
	}
	f.Row["value"] = strings.Repeat("x", size)
	if _, _, err := e.send(t.Context(), e.item(t, f)); err != nil {
		t.Fatal(err)
	}
	batch := strings.Repeat("b", 256)
	e.mark(t, batch, 1)
	e.wantPosted(t, 1, batch)
}

// The first fact stays, and the second writer gets it.
func TestTheFirstFactStands(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.put(t, 1)
	later := call(1)
	later.Row = fact.Row{"status": "voicemail"}
	for range 2 {
		out, stood, err := e.send(t.Context(), e.item(t, later))
		if diff := cmp.Diff(call(1), stood.Fact); err != nil || out != event.Duplicate || diff != "" {
			t.Errorf("%v, %v (-want +got)\n%s", out, err, diff)
		}
		e.mark(t, "1.1", 1) // posted or not
	}
	e.wantPosted(t, 1, "1.1")
	e.wantPending(t, 9)
}

// The reply to the whole transaction is lost. The same PutItem recognizes its row,
// even if the row was marked meanwhile.
func TestAPutItemKnowsItsOwnRow(t *testing.T) {
	t.Parallel()
	e := open(t)
	i := e.item(t, call(1))
	if out, _, err := e.send(t.Context(), i); out != event.Created || err != nil {
		t.Fatal(out, err)
	}
	for _, batch := range []string{"", "1.1"} {
		out, stood, err := e.send(t.Context(), i)
		if err != nil || out != event.Created || stood.Key != callKey(1) || stood.Batch != batch {
			t.Errorf("again: %v, %+v, %v", out, stood, err)
		}
		e.mark(t, "1.1", 1)
	}
	if out, _, err := e.send(t.Context(), e.item(t, call(1))); out != event.Duplicate || err != nil {
		t.Errorf("another: %v, %v", out, err)
	}
}

func TestOutcomesOfOtherReasons(t *testing.T) {
	t.Parallel()
	e := open(t)
	i := e.item(t, call(1))
	for _, code := range []*string{nil, aws.String("None")} {
		if put, err := i.Outcome(types.CancellationReason{Code: code}); put.Outcome != 0 || err != nil || put.Stored.Key != "" {
			t.Errorf("not at fault: %v, %v", put.Outcome, err)
		}
	}
	e.db.Inject(dynamotest.Fault{Do: dynamotest.Conflict, Op: "TransactWriteItems"})
	out, _, err := e.send(t.Context(), i)
	failed, ok := errors.AsType[smithy.APIError](err)
	if !ok || failed.ErrorCode() != "TransactionConflict" || out != 0 || !strings.HasPrefix(err.Error(), "outbox: PutItem on table QuillFacts: ") {
		t.Errorf("conflict: %v, %v", out, err)
	}
	if out, _, err := e.send(t.Context(), i); out != event.Created || err != nil {
		t.Errorf("again: %v, %v", out, err)
	}
}

// An unreadable fact still exists.
func TestAnUnreadableFactIsADuplicate(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.raw(t, map[string]types.AttributeValue{"pk": text(callKey(1)), "type": text("FACT"), "table": num("1")})
	out, stood, err := e.send(t.Context(), e.item(t, call(1)))
	if out != event.Duplicate || err != nil || stood.Key != callKey(1) || e.unreadable[callKey(1)] == "" {
		t.Errorf("%v, %+v, %v, told %q", out, stood, err, e.unreadable)
	}
	if got, ok, err := e.Get(t.Context(), callKey(1)); ok || err == nil || got.Table != "" || strings.Contains(err.Error(), "ALOWARE") {
		t.Errorf("Get: %v, %v, %v", got, ok, err)
	}
}

func TestMarkPostedLeavesOutWhatIsNotPending(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.put(t, 1, 2, 3)
	e.mark(t, "1.1", 1)
	first, _, _ := e.Get(t.Context(), callKey(1))
	e.mark(t, "2.1", 1, 2, 2, 4)
	e.wantPosted(t, 1, "1.1")
	e.wantPosted(t, 2, "2.1")
	e.wantPosted(t, 3, "")
	if _, ok, err := e.Get(t.Context(), callKey(4)); ok || err != nil {
		t.Errorf("marking made a fact: %v, %v", ok, err)
	}
	if again, _, err := e.Get(t.Context(), callKey(1)); again.PostedAt != first.PostedAt || err != nil {
		t.Errorf("marked anew at %s, %v", again.PostedAt, err)
	}
}

// 32 requests are under way at a time, no more.
func TestMarkPostedSideBySide(t *testing.T) {
	t.Parallel()
	for n, trips := range map[int]time.Duration{32: 1, 33: 2, 64: 2} {
		synctest.Test(t, func(t *testing.T) {
			e := open(t, func(cfg *dynamotest.Config) { cfg.Latency = time.Second })
			var keys []string
			for i := range n {
				keys = append(keys, callKey(i))
			}
			begin := time.Now()
			if _, err := e.MarkPosted(t.Context(), "1.1", keys); err != nil || time.Since(begin) != trips*time.Second {
				t.Errorf("%d facts took %s, %v", n, time.Since(begin), err)
			}
		})
	}
}

// A fact that cannot be marked does not keep others from being marked.
func TestMarkPostedGoesOnPastAFailure(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.put(t, 1, 2, 3)
	e.db.Inject(dynamotest.Fault{Do: dynamotest.InternalError, Op: "UpdateItem", Key: map[string]types.AttributeValue{"pk": text(callKey(2))}, Times: -1})
	done, err := e.MarkPosted(t.Context(), "1.1", []string{callKey(1), callKey(2), callKey(3)})
	if err == nil || done.Marked != 2 || !strings.HasPrefix(err.Error(), "outbox: MarkPosted on table QuillFacts: ") || strings.Contains(err.Error(), "ALOWARE") {
		t.Errorf("got %v", err)
	}
	e.wantPosted(t, 1, "1.1")
	e.wantPosted(t, 3, "1.1")
	e.wantPending(t, 9, 2)
	e.db.Heal()
	e.mark(t, "1.1", 1, 2, 3)
	e.wantPosted(t, 2, "1.1")
}

func TestErrorsNameMethodAndTableButNoKey(t *testing.T) {
	t.Parallel()
	s, err := outbox.New(dynamotest.New(t, nil).Client(), "nowhere", nil)
	if err != nil {
		t.Fatal(err)
	}
	const person = "person@example.com"
	ctx, fails := context.Background(), map[string]error{}
	_, _, fails["Get"] = s.Get(ctx, person)
	_, fails["Pending"] = s.Pending(ctx, fact.Changes, 1)
	_, fails["Waiting"] = s.Waiting(ctx, fact.Changes)
	_, fails["MarkPosted"] = s.MarkPosted(ctx, "1.1", []string{person})
	fails["Refuse"] = s.Refuse(ctx, outbox.Refusal{Source: person, Body: person, At: noon})
	_, fails["Refusals"] = s.Refusals(ctx, 1)
	_, fails["LoadPoster"] = s.LoadPoster(ctx)
	fails["SaveLate"] = s.SaveLate(ctx, "1.1", outbox.Sums{})
	_, fails["Late"] = s.Late(ctx)
	fails["SavePoster"] = s.SavePoster(ctx, outbox.Poster{Fence: 1})
	_, fails["Known"] = s.Known(ctx, []string{person})
	fails["Learn"] = s.Learn(ctx, 1, outbox.Known{Key: person, Table: person})
	for method, err := range fails {
		if err == nil || !strings.HasPrefix(err.Error(), "outbox: "+method+" on table nowhere: ") || strings.Contains(err.Error(), person) {
			t.Errorf("%s: %v", method, err)
		}
	}
}

func TestNewRefusesWhatItCannotWorkWith(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.wantBad(t, "api", func() error { _, err := outbox.New(nil, table, nil); return err })
	e.wantBad(t, "table", func() error { _, err := outbox.New(e.db.Client(), "", nil); return err })
}

// A fact is marked once, whatever happens to one request.
func TestMarkPostedAndFaults(t *testing.T) {
	t.Parallel()
	e := open(t)
	for n, do := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest, dynamotest.Throttle, dynamotest.Conflict, dynamotest.Unavailable.After()} {
		e.put(t, n)
		e.db.Inject(dynamotest.Fault{Do: do, Op: "UpdateItem"})
		done, err := e.MarkPosted(t.Context(), "1.1", []string{callKey(n)})
		if err != nil || done.Marked != 1 || len(done.Already) > 0 { // its own lost reply is not another's mark
			t.Errorf("%v: %+v, %v", do, done, err)
		}
		e.wantPosted(t, n, "1.1")
	}
}

// Who marks second learns in which batch a fact was marked before.
func TestMarkPostedSaysWhatWasMarked(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.put(t, 1, 2, 3, 4)
	e.mark(t, "1.1", 1, 2)
	e.mark(t, "1.2", 3)
	got, err := e.MarkPosted(t.Context(), "2.1", []string{callKey(1), callKey(2), callKey(3), callKey(4), callKey(5)})
	want := queue.Done{Marked: 1, Already: map[string]int{"1.1": 2, "1.2": 1}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}
