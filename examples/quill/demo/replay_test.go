package demo_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"iter"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/internal/prices"
	"github.com/homeops/ddbpatterns/examples/quill/demo"
	"github.com/homeops/ddbpatterns/examples/quill/demo/stream"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
)

var update = flag.Bool("update", false, "write requests.jsonl and testdata/report.txt")

// golden compares with a file, or writes it.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs: if that is right, run this test with -update\n%s", file, diff)
	}
}

func TestBundled(t *testing.T) {
	t.Parallel()
	var made bytes.Buffer
	lines := json.NewEncoder(&made)
	lines.SetEscapeHTML(false)
	for r := range stream.Of(demo.Seed, demo.Events) {
		if err := lines.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "requests.jsonl", made.Bytes())
}

func run(t *testing.T, o demo.Options) (*demo.Report, string) {
	t.Helper()
	list, err := prices.Load("")
	if err != nil {
		t.Fatal(err)
	}
	o.Prices = list
	r, err := demo.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := r.Write(&text); err != nil {
		t.Fatal(err)
	}
	return r, text.String()
}

// The report of the bundled webhooks is always the same, and all adds up.
func TestTheReport(t *testing.T) {
	t.Parallel()
	r, text := run(t, demo.Options{Requests: demo.Bundled()})
	golden(t, "testdata/report.txt", []byte(text))
	if !r.OK() || r.Ended == 0 || r.Facts.Recovered == 0 || r.Facts.Asked == 0 {
		t.Errorf("things must go wrong, and add up all the same:\n%s", text)
	}
}

// Made-up webhooks reach the same sums on a DynamoDB in another process.
func TestAnotherProcess(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(dynamotest.NewServer(nil).Handler())
	t.Cleanup(server.Close)
	r, text := run(t, demo.Options{Requests: stream.Of(2, 600), Endpoint: server.URL})
	if !r.OK() || !strings.Contains(text, "DynamoDB at "+server.URL) {
		t.Errorf("%q\n%s", r.Wrong, text)
	}
	if _, err := demo.Run(t.Context(), demo.Options{Requests: stream.Of(2, 10), Endpoint: server.URL}); err == nil || !strings.Contains(err.Error(), "it exists") {
		t.Errorf("tables with rows are taken for new ones: %v", err)
	}
}

// An operation is an event, from its webhook to its row.
func BenchmarkEvents(b *testing.B) {
	r, err := demo.Run(b.Context(), demo.Options{Requests: stream.Of(demo.Seed, b.N)})
	if err != nil || !r.OK() || r.Events.Received != b.N {
		b.Errorf("%v, %+v", err, r)
	}
}

// altered returns some requests, one of which differs from what is expected.
func altered(alter func(*stream.Request) bool) iter.Seq[stream.Request] {
	return func(yield func(stream.Request) bool) {
		n, done := 0, false
		for r := range demo.Bundled() {
			done = done || alter(&r)
			if n++; n > 50 || !yield(r) {
				return
			}
		}
	}
}

// The checks notice what does not add up.
func TestWhatDoesNotAddUp(t *testing.T) {
	t.Parallel()
	isNew := func(r *stream.Request) bool { return r.Want.New == 1 && r.Want.Received == 1 }
	for name, tc := range map[string]struct {
		alter func(*stream.Request) bool
		says  string
	}{
		"a fact that came is not expected": {func(r *stream.Request) bool {
			if !isNew(r) {
				return false
			}
			r.Want.Facts = nil
			return true
		}, "which are not the"},
		"a fact of another key": {func(r *stream.Request) bool {
			if !isNew(r) {
				return false
			}
			r.Want.Facts = []string{"ALOWARE:CALL:1"}
			return true
		}, "which are not the"},
		"a duplicate": {func(r *stream.Request) bool {
			if !isNew(r) {
				return false
			}
			r.Want.New, r.Want.Duplicate = 0, 1
			return true
		}, "was answered"},
		"an older value": {func(r *stream.Request) bool {
			if len(r.Want.Known) == 0 {
				return false
			}
			r.Want.Known[0].Value += "?"
			r.Want.Known[0].At = r.At.AddDate(1, 0, 0)
			return true
		}, "since 2027"},
		"a request that is refused": {func(r *stream.Request) bool {
			r.Want.Refused = 0
			return false // another one is not altered either
		}, "refusals of 0 refused events"},
	} {
		r, text := run(t, demo.Options{Requests: altered(tc.alter)})
		if r.OK() || !strings.Contains(text, "DO NOT ADD UP") || !strings.Contains(text, tc.says) {
			t.Errorf("%s: %q\n%s", name, r.Wrong, text)
		}
	}
}

// Stored and posted facts are compared, not only counted.
func TestPartsThatDoNotAddUp(t *testing.T) {
	t.Parallel()
	at := stream.Start
	stored := outbox.Stored{
		Fact:       fact.Fact{Key: "ALOWARE:CALL:1", At: at, Row: fact.Row{"seconds": json.Number("30"), "user": "", "status": "missed"}},
		ReceivedAt: at.Add(time.Second), Batch: "1.1",
	}
	row := func(change func(fact.Row)) func(*demo.Report) {
		got := fact.Row{"key": stored.Key, "batch": "1.1", "at": fact.Time(at), "receivedAt": fact.Time(stored.ReceivedAt), "seconds": json.Number("30.0"), "status": "missed"}
		change(got)
		return func(r *demo.Report) { r.CheckRow(stored, got) }
	}
	refused := func(want, kept int) func(*demo.Report) {
		return func(r *demo.Report) { r.Want.Refused, r.Stored.Refusals = want, kept; r.CheckRefusals() }
	}
	posted := func(once, again, rows int) func(*demo.Report) {
		return func(r *demo.Report) {
			r.Facts.DimensionRows, r.Facts.RowsReposted = once, again
			r.CheckDimensions(rows)
		}
	}
	for name, tc := range map[string]struct {
		check func(*demo.Report)
		right bool
	}{
		"refusals that are one row": {refused(3, 1), true},
		"no refusals":               {refused(0, 0), true},
		"refusals that are gone":    {refused(3, 0), false},
		"a refusal too many":        {refused(3, 4), false},
		"rows that are counted":     {posted(3, 0, 3), true},
		"rows posted again":         {posted(3, 2, 5), true},
		"a row that is not counted": {posted(3, 2, 6), false},
		"a row that is not there":   {posted(3, 2, 2), false},
		"a row":                     {row(func(fact.Row) {}), true},
		"without a column":          {row(func(r fact.Row) { delete(r, "status") }), false},
		"of another time":           {row(func(r fact.Row) { r["at"] = r["receivedAt"] }), false},
		"of another batch":          {row(func(r fact.Row) { r["batch"] = "1.2" }), false},
		"with another number":       {row(func(r fact.Row) { r["seconds"] = json.Number("3") }), false},
	} {
		var r demo.Report
		if tc.check(&r); r.OK() != tc.right {
			t.Errorf("%s: %q", name, r.Wrong)
		}
	}
}
