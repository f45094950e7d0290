package outbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
)

func numbers(from, to int) []int {
	var ns []int
	for n := from; n <= to; n++ {
		ns = append(ns, n)
	}
	return ns
}

func TestPendingIsWhatWaitsLongestFirst(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.wantPending(t, 5)
	e.put(t, 3, 1, 2)
	e.wantPending(t, 9, 3, 1, 2)
	e.wantPending(t, 3, 3, 1, 2)
	e.wantPending(t, 2, 3, 1)
	e.mark(t, "1.1", 1)
	e.wantPending(t, 2, 3, 2)
	got, err := e.Pending(t.Context(), fact.Communications, 1)
	if err != nil || len(got) != 1 || got[0].Row["seconds"] != json.Number("33") || got[0].ReceivedAt.Before(noon) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, limit := range []int{0, -1} {
		e.wantBad(t, "limit", func() error { _, err := e.Pending(t.Context(), fact.Communications, limit); return err })
	}
}

// The facts of each table are a partition of their own.
func TestPendingIsOfOneTable(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.put(t, 1, 2, 3)
	f := call(4)
	f.Table = fact.Changes
	if out, _, err := e.send(t.Context(), e.item(t, f)); out != event.Created || err != nil {
		t.Fatal(out, err)
	}
	e.put(t, 5)
	e.wantPending(t, 9, 1, 2, 3, 5)
	e.wantWaiting(t, 4)
	got, err := e.Pending(t.Context(), fact.Changes, 9)
	if err != nil || len(got) != 1 || got[0].Key != callKey(4) {
		t.Errorf("got %+v, %v", got, err)
	}
	for n, tables := range map[int][]string{0: nil, 1: {fact.Changes}, 5: fact.FactTables} {
		if got, err := e.Waiting(t.Context(), tables...); got != n || err != nil {
			t.Errorf("%d facts of %v wait, %v, want %d", got, tables, err, n)
		}
	}
	for _, table := range []string{"", "Texts", fact.Contacts} {
		e.wantBad(t, "table", func() error { _, err := e.Pending(t.Context(), table, 1); return err })
		e.wantBad(t, "tables", func() error { _, err := e.Waiting(t.Context(), fact.Changes, table); return err })
	}
}

func (e *env) wantWaiting(t *testing.T, want int) {
	t.Helper()
	if n, err := e.Waiting(t.Context(), fact.Communications); n != want || err != nil {
		t.Errorf("Waiting = %d, %v, want %d", n, err, want)
	}
}

// More facts than a BatchGetItem holds are read with four of them at a time.
func TestPendingOfManyFacts(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.put(t, numbers(1, 1050)...)
	e.wantPending(t, 2000, numbers(1, 1050)...)
	e.wantPending(t, 1001, numbers(1, 1001)...)
	e.wantPending(t, 101, numbers(1, 101)...)
	e.mark(t, "1.1", numbers(1, 900)...)
	e.wantPending(t, 2000, numbers(901, 1050)...)
	e.wantWaiting(t, 150)
}

// These facts are so large that the index returns them page by page, and a
// BatchGetItem not all at once. Not more than 16 MB of them come together.
func TestPendingOfLargeFacts(t *testing.T) {
	t.Parallel()
	e := open(t)
	const n = 48
	large := strings.Repeat("x", 390*1024)
	for i := range n {
		f := call(i + 1)
		f.Row["text"] = large
		if out, _, err := e.send(t.Context(), e.item(t, f)); out != event.Created || err != nil {
			t.Fatal(out, err)
		}
	}
	facts, err := e.Pending(t.Context(), fact.Communications, 2*n)
	if got := len(facts); err != nil || got < 42 || got > 44 { // 16 MB, and what a page of the index has
		t.Fatalf("%d facts, %v", got, err)
	}
	e.wantPending(t, 43, numbers(1, len(facts[:min(43, len(facts))]))...)
	e.mark(t, "1.1", numbers(1, 40)...)
	e.wantPending(t, 2*n, numbers(41, n)...)
	e.wantWaiting(t, n-40)
}

// Marked facts that the index still shows do not hide those that follow.
func TestPendingReadsPastStaleEntries(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.put(t, numbers(1, 6)...)
	release, err := e.db.Server().HoldIndex(table, "pending-index")
	if err != nil {
		t.Fatal(err)
	}
	e.mark(t, "1.1", 1, 2, 3, 5)
	e.put(t, 7)
	e.wantPending(t, 1, 4)
	e.wantPending(t, 2, 4, 6)
	e.wantPending(t, 9, 4, 6)
	e.mark(t, "1.2", 4, 6)
	e.wantPending(t, 1)
	e.wantWaiting(t, 6) // as the index shows them
	release()
	e.wantPending(t, 1, 7)
	e.wantWaiting(t, 1)
}

// Stale entries do not cost a request each, and not more facts come than asked
// for.
func TestStaleEntriesAreReadByTheHundred(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.put(t, numbers(1, 205)...)
	if _, err := e.db.Server().HoldIndex(table, "pending-index"); err != nil {
		t.Fatal(err)
	}
	e.mark(t, "1.1", numbers(1, 150)...)
	cost := e.db.Meter(func() { e.wantPending(t, 1, 151) })
	if cost.Requests != 6 { // for 1, 100 and 100 entries
		t.Errorf("took %v", cost)
	}
	e.wantPending(t, 3, 151, 152, 153)
}

// Reads are consistent: eventually consistent reads show marked facts as
// pending.
func TestPendingReadsRowsConsistently(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.put(t, 1, 2)
	for _, hold := range []func() (func(), error){
		func() (func(), error) { return e.db.Server().HoldIndex(table, "pending-index") },
		func() (func(), error) { return e.db.Server().HoldReads(table) },
	} {
		if _, err := hold(); err != nil {
			t.Fatal(err)
		}
	}
	e.mark(t, "1.1", 1)
	e.wantPending(t, 9, 2)
	e.wantPosted(t, 1, "1.1")
}

// A row that somebody else spoilt does not hold up others, and is reported.
func TestAnUnreadableRowHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	e := open(t)
	bad := map[string]map[string]types.AttributeValue{
		"type":      {"type": text("OTHER")},
		"no type":   {"type": nil},
		"table":     {"table": &types.AttributeValueMemberBOOL{}},
		"no table":  {"table": nil},
		"other":     {"table": text(fact.Changes)},
		"at":        {"at": text("yesterday")},
		"no at":     {"at": nil},
		"row":       {"row": text("x")},
		"column":    {"row": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"a": &types.AttributeValueMemberNULL{Value: true}}}},
		"dimension": {"dimension": text("x")},
		"its row":   {"dimension": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"row": text("x")}}},
		"its key":   {"dimension": &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"key": &types.AttributeValueMemberBOOL{}}}},
		"postedAt":  {"postedAt": text("x")},
	}
	for name, change := range bad {
		it := map[string]types.AttributeValue{
			"pk": text(name), "type": text("FACT"), "table": text(fact.Communications), "at": text("2026-11-21T11:00:00.000Z"),
			"receivedAt": text("2026-11-21T11:00:00.000Z"), "outbox": text("PENDING#Communications"), "unknown": text("ignored"),
		}
		for attribute, value := range change {
			if it[attribute] = value; value == nil {
				delete(it, attribute)
			}
		}
		e.raw(t, it)
	}
	e.put(t, 1, 2)
	e.wantPending(t, 1, 1)
	e.wantPending(t, 9, 1, 2)
	if len(e.unreadable) != len(bad) {
		t.Errorf("told of %d of %d: %q", len(e.unreadable), len(bad), e.unreadable)
	}
	e.wantWaiting(t, len(bad)+2)
}

// Attributes of a later version, or of a person, do not matter.
func TestUnknownAttributesAreIgnored(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.raw(t, map[string]types.AttributeValue{
		"pk": text(callKey(1)), "type": text("FACT"), "table": text(fact.Communications), "at": text("2026-11-21T11:00:00.000Z"),
		"receivedAt": text("2026-11-21T11:00:00.000Z"), "outbox": text("PENDING#Communications"), "note": num("1"),
	})
	e.wantPending(t, 1, 1)
}

// Unreadable rows are logged even without Config.Unreadable.
func TestUnreadableRowsAreLogged(t *testing.T) {
	var log strings.Builder
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(before)
	e := open(t)
	s, err := outbox.New(e.db.Client(), table, nil)
	if err != nil {
		t.Fatal(err)
	}
	e.raw(t, map[string]types.AttributeValue{"pk": text("bad"), "receivedAt": text("2026"), "outbox": text("PENDING#Communications")})
	if got, err := s.Pending(t.Context(), fact.Communications, 1); got != nil || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if !strings.Contains(log.String(), "key=bad") || !strings.Contains(log.String(), "table="+table) {
		t.Errorf("logged %q", log.String())
	}
}

// A wait ends with the context.
func TestWaitsEndWithTheContext(t *testing.T) {
	t.Parallel()
	for op, call := range map[string]func(context.Context, *env) error{
		"BatchGetItem": func(ctx context.Context, e *env) error { _, err := e.Pending(ctx, fact.Communications, 1); return err },
		"UpdateItem": func(ctx context.Context, e *env) error {
			_, err := e.MarkPosted(ctx, "1.1", []string{callKey(1)})
			return err
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := open(t)
			e.put(t, 1)
			do := dynamotest.Effect(dynamotest.Unprocessed)
			if op == "UpdateItem" {
				do = dynamotest.Conflict
			}
			e.db.Inject(dynamotest.Fault{Do: do, Op: op, Times: -1})
			ctx, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond) // in the second wait
			defer cancel()
			begin := time.Now()
			err := call(ctx, e)
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 60*time.Millisecond {
				t.Errorf("%s: %v after %s", op, err, time.Since(begin))
			}
		})
	}
}

// Keys that DynamoDB leaves unprocessed are asked for again, as long as some
// progress is made.
func TestUnprocessedKeysAreAskedForAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := open(t)
		e.put(t, numbers(1, 30)...)
		nothing := dynamotest.Fault{Do: dynamotest.Unprocessed, Op: "BatchGetItem", Times: 7}
		e.db.Inject(nothing)
		e.db.Inject(dynamotest.Fault{Do: dynamotest.Unprocessed.Last(29), Op: "BatchGetItem", Nth: 8}) // one processed key is progress
		nothing.Nth = 9
		e.db.Inject(nothing)
		e.wantPending(t, 99, numbers(1, 30)...)
		e.db.Heal()
		e.db.Inject(dynamotest.Fault{Do: dynamotest.Unprocessed, Op: "BatchGetItem", Times: -1})
		begin := time.Now()
		got, err := e.Pending(t.Context(), fact.Communications, 99)
		if got != nil || err == nil || !strings.HasPrefix(err.Error(), "outbox: Pending on table QuillFacts: ") {
			t.Errorf("got %d facts, %v", len(got), err)
		}
		if took := time.Since(begin); took < time.Second || took > 10*time.Second {
			t.Errorf("gave up after %s", took)
		}
	})
}

// Four BatchGetItems of a hundred keys are under way at a time, no more.
func TestBatchesSideBySide(t *testing.T) {
	t.Parallel()
	for n, trips := range map[int]time.Duration{0: 0, 100: 1, 400: 1, 401: 2, 801: 3} {
		synctest.Test(t, func(t *testing.T) {
			e := open(t, func(cfg *dynamotest.Config) { cfg.Latency = time.Second })
			var keys []string
			for i := range n {
				keys = append(keys, callKey(i))
			}
			begin := time.Now()
			if _, err := e.Known(t.Context(), keys); err != nil || time.Since(begin) != trips*time.Second {
				t.Errorf("%d keys took %s, %v", n, time.Since(begin), err)
			}
		})
	}
}
