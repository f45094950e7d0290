package record_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

// allWays are the ways to count many events in an exact row, each of them as its
// second and 1.
var allWays = map[string]func(...event.Event) record.ApplyAll{
	"Add": func(events ...event.Event) record.ApplyAll {
		return record.ApplyAll{Partition: "p", Sort: "s", Events: events, Add: func(ev event.Event) map[string]int64 {
			return map[string]int64{"sum": secondOf(ev) + 1}
		}}
	},
	"Next": func(events ...event.Event) record.ApplyAll {
		return record.ApplyAll{Partition: "p", Sort: "s", Events: events, Next: func(row record.Item, ev event.Event) (record.Item, error) {
			return plus(secondOf(ev)+1)(row, ev)
		}}
	},
}

func secondOf(ev event.Event) int64 { return int64(ev.Time().Sub(now) / time.Second) }

func span(t *testing.T, from, to int) []event.Event {
	t.Helper()
	var events []event.Event
	for i := from; i < to; i++ {
		events = append(events, at(t, i))
	}
	return events
}

// A transaction counts 99 events, those that are counted already are left out, and
// one that comes twice in a call counts once.
func TestExactAll(t *testing.T) {
	t.Parallel()
	for name, way := range allWays {
		db, w, rows, direct := openExact(t)
		for _, i := range []int{3, 50, 120} {
			wantApply(t, direct, adds(at(t, i), int64(i+1)), event.Created)
		}
		events := append(span(t, 0, 200), at(t, 7), at(t, 3))
		slices.Reverse(events)
		ahead := recordtest.Event(t, now.Add(2*time.Hour), "ahead")
		old := recordtest.Event(t, now.Add(-retention), "old")
		outcomes, err := rows.ApplyAll(t.Context(), way(append(events, ahead, old)...))
		left, _ := errors.AsType[*event.LeftoverError](err)
		if left == nil || len(left.Leftovers) != 2 || left.Leftovers[0].Index != 202 || left.Leftovers[1].Index != 203 || !errors.Is(left.Leftovers[1].Err, event.ErrTooOld) {
			t.Fatalf("ApplyAll: %v", err)
		}
		recordtest.WantBad(t, left.Leftovers[0].Err, "points", "Events[202]")
		for i, ev := range events {
			want := event.Created
			n := secondOf(ev)
			if n == 3 || n == 50 || n == 120 {
				want = event.Duplicate
			}
			if outcomes[i] != want && n != 7 {
				t.Errorf("event of second %d: %v, want %v", n, outcomes[i], want)
			}
		}
		if outcomes[1] == outcomes[194] {
			t.Errorf("the event that comes twice is %v both times", outcomes[1])
		}
		wantSum(t, db, rows.Table().Name, 200, 200*201/2)
		var sizes []int
		for _, in := range w.sent {
			sizes = append(sizes, len(in.TransactItems))
		}
		if diff := cmp.Diff([]int{100, 98, 100, 99, 3}, sizes); diff != "" {
			t.Errorf("actions of the transactions (-want +got):\n%s", diff)
		}
		if reads := map[string]int{"Next": 1}[name]; w.reads != reads {
			t.Errorf("%d reads, want %d", w.reads, reads)
		}
	}
}

func TestExactBadInput(t *testing.T) {
	t.Parallel()
	rows := exact(t, recordtest.Silent(t), "rows")
	many := make(map[string]int64)
	for i := range 51 {
		many[fmt.Sprint("sum", i)] = 1
	}
	for field, change := range map[string]func(*record.Apply){
		"Next":      func(a *record.Apply) { a.Add = nil },
		"Add":       func(a *record.Apply) { a.Next = plus(1) },
		"Add  ":     func(a *record.Apply) { a.Add = map[string]int64{"ttl": 1} },
		"Add   ":    func(a *record.Apply) { a.Add = map[string]int64{"n": 1} },
		"Add     ":  func(a *record.Apply) { a.Add["sum"] = 1e15 + 1 },
		"Add  of 0": func(a *record.Apply) { a.Add["sum"] = 0 },
		"Add sums":  func(a *record.Apply) { a.Add = map[string]int64{"sums": 1} },
		"Add many":  func(a *record.Apply) { a.Add = many },
		"AtLeast":   func(a *record.Apply) { a.AtLeast = map[string]int64{"other": 1} },
		"AtLeast ":  func(a *record.Apply) { a.AtLeast = map[string]int64{"sum": 1e15 + 1} },
		"AtLeast  ": func(a *record.Apply) { a.Add, a.Next, a.AtLeast = nil, plus(1), map[string]int64{"sum": 1} },
		"Partition": func(a *record.Apply) { a.Partition = fmt.Sprintf("%02047d", 1) },
		"Event":     func(a *record.Apply) { a.Event = event.Event{} },
	} {
		in := adds(at(t, 1), 5)
		change(&in)
		_, err := rows.Apply(t.Context(), in)
		recordtest.WantBad(t, err, "points", trim(field), field)
		item, err := rows.ApplyItem(t.Context(), in)
		recordtest.WantBad(t, err, "points", trim(field), "ApplyItem", field)
		if item != nil {
			t.Errorf("%s: an item", field)
		}
	}
	ring, floor := sums(t, recordtest.Silent(t), "rows"), applied(at(t, 1), plus(-5))
	_, err := ring.Apply(t.Context(), adds(at(t, 1), 5))
	recordtest.WantBad(t, err, "sums", "Add")
	floor.AtLeast = map[string]int64{"sum": 0}
	_, err = ring.Apply(t.Context(), floor)
	recordtest.WantBad(t, err, "sums", "AtLeast")
	_, err = ring.ApplyItem(t.Context(), floor)
	recordtest.WantBad(t, err, "sums", "AtLeast")
	_, err = rows.ApplyAll(t.Context(), record.ApplyAll{
		Partition: "p", Sort: "s", Events: []event.Event{at(t, 1)}, Add: func(event.Event) map[string]int64 { return nil },
	})
	recordtest.WantBad(t, err, "points", "Add", "nothing")
	for field, change := range map[string]func(*record.Kind[int64], *record.Config){
		"Kind.Count":       func(k *record.Kind[int64], _ *record.Config) { k.Count = "" },
		"Kind.Count ":      func(k *record.Kind[int64], _ *record.Config) { k.Count = "ttl" },
		"Kind.Attributes":  func(k *record.Kind[int64], _ *record.Config) { k.Attributes = []string{"ttl"} },
		"Kind.Attributes ": func(k *record.Kind[int64], _ *record.Config) { k.Attributes = []string{"n"} },
		"Kind.Retention":   func(k *record.Kind[int64], _ *record.Config) { k.Retention = -1 },
		"Kind.Retention ":  func(k *record.Kind[int64], _ *record.Config) { k.Retention = 5 * time.Minute },
		"Config.MaxSkew":   func(_ *record.Kind[int64], c *record.Config) { c.MaxSkew = -1 },
	} {
		kind, cfg := pointsKind, record.Config{}
		change(&kind, &cfg)
		rows, err := record.New(recordtest.Silent(t), "rows", kind, &cfg)
		recordtest.WantBad(t, err, "points", trim(field), field)
		if rows != nil {
			t.Errorf("%s: rows", field)
		}
	}
	errNone := errors.New("none")
	none, err := record.New(recordtest.Silent(t), "rows", pointsKind, &record.Config{Now: recordtest.Clock(now), Rand: iotest.ErrReader(errNone)})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := none.Apply(t.Context(), adds(at(t, 1), 5)); out != 0 || !errors.Is(err, errNone) {
		t.Errorf("Apply without randomness = %v, %v", out, err)
	}
}

// trim returns the field of a case.
func trim(field string) string { field, _, _ = strings.Cut(field, " "); return field }
