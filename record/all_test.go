package record_test

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

// logs is a kind of row that holds the numbers of its events, in the order in
// which they were applied.
func logs(t *testing.T, api record.API, table string) *record.Rows[[]string] {
	t.Helper()
	kind := record.Kind[[]string]{
		Package: "logs", Type: "LOG", Count: "n",
		Decode: func(row record.Item) ([]string, error) { return strings.Fields(record.Read(row).Text("log")), nil },
	}
	rows, err := record.New(api, table, kind, &record.Config{Now: recordtest.Clock(now), ConsistentReads: true})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// numbered returns the events of the numbers, and a Next that logs a number.
func numbered(t *testing.T, numbers ...int) ([]event.Event, record.Next) {
	t.Helper()
	events, of := make([]event.Event, len(numbers)), map[event.Event]int{}
	for i, n := range numbers {
		events[i] = recordtest.Event(t, now.Add(time.Duration(n-10_000)*time.Second), strconv.Itoa(n))
		of[events[i]] = n
	}
	return events, func(row record.Item, ev event.Event) (record.Item, error) {
		return record.Item{"log": record.Text(record.Read(row).Text("log") + " " + strconv.Itoa(of[ev]))}, nil
	}
}

// applyAll applies the events of the numbers and returns what each was answered.
func applyAll(t *testing.T, rows *record.Rows[[]string], numbers ...int) []string {
	t.Helper()
	events, next := numbered(t, numbers...)
	outcomes, err := rows.ApplyAll(t.Context(), record.ApplyAll{Partition: "p", Sort: "s", Events: events, Next: next})
	return answers(t, outcomes, err)
}

func answers(t *testing.T, outcomes []event.Outcome, err error) []string {
	t.Helper()
	told := make([]string, len(outcomes))
	for i, out := range outcomes {
		told[i] = out.String()
	}
	left, ok := errors.AsType[*event.LeftoverError](err)
	if err != nil && !ok {
		t.Fatal(err)
	}
	if ok {
		for _, l := range left.Leftovers {
			if outcomes[l.Index] != 0 || l.Key != "" {
				t.Errorf("leftover %d is %v", l.Index, outcomes[l.Index])
			}
			if told[l.Index] = "failed"; errors.Is(l.Err, event.ErrTooOld) {
				told[l.Index] = "too old"
			}
		}
	}
	if i := slices.Index(told, event.Outcome(0).String()); i >= 0 {
		t.Errorf("event %d has neither an outcome nor a reason", i)
	}
	return told
}

// logged returns the numbers in the row.
func logged(t *testing.T, rows *record.Rows[[]string]) []int {
	t.Helper()
	text, _, err := rows.Get(t.Context(), "p", "s")
	if err != nil {
		t.Fatal(err)
	}
	var numbers []int
	for _, digits := range text {
		n, err := strconv.Atoi(digits)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	return numbers
}

func upTo(n int) []int {
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = i
	}
	return numbers
}

// openLogs returns rows of logs on a table of their own, behind a spy.
func openLogs(t *testing.T) (*dynamotest.DB, *spy, *record.Rows[[]string]) {
	t.Helper()
	db, s, rows := open(t)
	return db, s, logs(t, s, rows.Table().Name)
}

// A burst of 200 events on one row counts 200, in 7 writes and one read.
func TestBurst(t *testing.T) {
	t.Parallel()
	db, _, rows := openLogs(t)
	numbers := upTo(200)
	rand.New(rand.NewPCG(1, 2)).Shuffle(200, func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
	cost := db.Meter(func() {
		for i, told := range applyAll(t, rows, numbers...) {
			if told != "created" {
				t.Errorf("event %d is %s", numbers[i], told)
			}
		}
	})
	cost.Want(t, dynamotest.Price{Requests: 1 + 7, RCU: 1, WCU: cost.WCU}) // the log grows beyond 1 KB
	if got := logged(t, rows); !slices.Equal(got, upTo(200)) {
		t.Errorf("the row has %v, want the events in ascending order", got)
	}
	if got := applyAll(t, rows, 199, 150, 168, 199, 167); !slices.Equal(got, []string{"duplicate", "too old", "duplicate", "duplicate", "too old"}) {
		t.Errorf("the burst again: %v", got)
	}
}

// Every reply of every write may be lost: the row that refuses the SDK's
// repetition holds all that the write counted, so none of it is too old.
func TestBurstWithLostReplies(t *testing.T) {
	t.Parallel()
	for nth := 1; nth <= 7; nth++ {
		for _, do := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest} {
			t.Run(do.String()+strconv.Itoa(nth), func(t *testing.T) {
				t.Parallel()
				db, _, rows := openLogs(t)
				db.Inject(dynamotest.Fault{Do: do, Op: "UpdateItem", Nth: nth})
				for i, told := range applyAll(t, rows, upTo(200)...) {
					own := do == dynamotest.LoseReply && i/32 == nth-1
					if want := map[bool]string{false: "created", true: "duplicate"}[own]; told != want {
						t.Errorf("event %d is %s, want %s", i, told, want)
					}
				}
				if got := logged(t, rows); !slices.Equal(got, upTo(200)) {
					t.Errorf("the row has %v", got)
				}
			})
		}
	}
}

// Where the row has counted later events, a write takes no more than the row
// remembers: here three at a time.
func TestBurstBeneathLaterEvents(t *testing.T) {
	t.Parallel()
	_, spy, rows := openLogs(t)
	for n := range 29 {
		applyAll(t, rows, 100+n)
	}
	before := len(spy.updates)
	if got := applyAll(t, rows, 1, 2, 3, 4, 5, 6, 7); slices.ContainsFunc(got, func(told string) bool { return told != "created" }) {
		t.Errorf("answers %v", got)
	}
	if got := len(spy.updates) - before; got != 3 {
		t.Errorf("%d writes, want 3", got)
	}
	if got := applyAll(t, rows, 4, 5, 6, 7); !slices.Equal(got, []string{"too old", "duplicate", "duplicate", "duplicate"}) {
		t.Errorf("answers %v", got)
	}
}

// After an error the events that were written have their outcomes, and the
// others are named; the call again ends the work.
func TestBurstThatFails(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	_, spy, rows := openLogs(t)
	spy.before = func(write int, _ *dynamodb.UpdateItemInput) error {
		if write == 3 {
			return down
		}
		return nil
	}
	events, next := numbered(t, upTo(100)...)
	in := record.ApplyAll{Method: "Import", Partition: "p", Sort: "s", Events: events, Next: next}
	outcomes, err := rows.ApplyAll(t.Context(), in)
	left, ok := errors.AsType[*event.LeftoverError](err)
	if !ok || !errors.Is(err, down) || len(left.Leftovers) != 36 || left.Leftovers[0].Index != 64 {
		t.Fatalf("got %v", err)
	}
	if want := "logs: Import on table " + rows.Table().Name + ": down"; left.Leftovers[35].Err.Error() != want {
		t.Errorf("got %v, want %s", left.Leftovers[35].Err, want)
	}
	for i, out := range outcomes {
		if want := map[bool]event.Outcome{true: event.Created}[i < 64]; out != want {
			t.Errorf("event %d is %v", i, out)
		}
	}
	if _, err := rows.ApplyAll(t.Context(), in); err == nil { // the first 32 are too old by now to be found
		t.Error("no error")
	}
	if got := logged(t, rows); !slices.Equal(got, upTo(100)) {
		t.Errorf("the row has %v", got)
	}
}

// Bad events are named, and the others go on; without any nothing is sent.
func TestBurstOfBadInput(t *testing.T) {
	t.Parallel()
	_, spy, rows := openLogs(t)
	events, next := numbered(t, 1, 2)
	events = []event.Event{{}, events[1], recordtest.Event(t, now.Add(event.MaxAhead+time.Second), "ahead"), events[0]}
	outcomes, err := rows.ApplyAll(t.Context(), record.ApplyAll{Partition: "p", Sort: "s", Events: events, Next: next})
	if got := answers(t, outcomes, err); !slices.Equal(got, []string{"failed", "created", "failed", "created"}) {
		t.Errorf("answers %v", got)
	}
	left, _ := errors.AsType[*event.LeftoverError](err)
	recordtest.WantBad(t, left.Leftovers[0].Err, "logs", "Events[0]")
	recordtest.WantBad(t, left.Leftovers[1].Err, "logs", "Events[2]")
	sent := len(spy.reads)
	if _, err := rows.ApplyAll(t.Context(), record.ApplyAll{Partition: "p", Sort: "s", Events: events[:1], Next: next}); err == nil || len(spy.reads) != sent {
		t.Errorf("%v after %d reads", err, len(spy.reads)-sent)
	}
	if out, err := rows.ApplyAll(t.Context(), record.ApplyAll{Partition: "p", Sort: "s", Next: next}); out != nil || err != nil {
		t.Errorf("of no events: %v, %v", out, err)
	}
}

// remembered is the model of a row: all that it counted, and of that the 32 greatest.
type remembered struct {
	log  []int
	ring []int // ascending
}

func (m *remembered) apply(n int) string {
	at, found := slices.BinarySearch(m.ring, n)
	switch {
	case found:
		return "duplicate"
	case at == 0 && len(m.ring) == record.RingSize:
		return "too old"
	}
	m.log, m.ring = append(m.log, n), slices.Insert(m.ring, at, n)
	m.ring = m.ring[max(0, len(m.ring)-record.RingSize):]
	return "created"
}

// Law: ApplyAll does what Apply does for one event after the other in ascending
// order, whatever the row has counted, however often an event is named, and
// whatever is lost on the way; an own write whose reply was lost is a duplicate.
func TestApplyAllIsApplyInOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		db, _, rows := openLogs(t)
		var model remembered
		for call := range 5 {
			numbers := make([]int, rnd.IntN(90))
			spread := 20 + rnd.IntN(300)
			for i := range numbers {
				numbers[i] = rnd.IntN(spread)
			}
			lost := false
			if rnd.IntN(2) == 0 && len(numbers) > 0 {
				lost = true
				db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Chance: 0.4, Seed: seed + 1, Times: 2})
			}
			got := applyAll(t, rows, numbers...)
			db.Tap().Heal()
			order := upTo(len(numbers))
			slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(numbers[i], numbers[j]) })
			for _, i := range order {
				want := model.apply(numbers[i])
				if got[i] != want && !(lost && want == "created" && got[i] == "duplicate") {
					t.Fatalf("seed %d, call %d, event %d: %s, want %s", seed, call, numbers[i], got[i], want)
				}
			}
			if got := logged(t, rows); !slices.Equal(got, model.log) {
				t.Fatalf("seed %d, call %d: the row has %v, want %v", seed, call, got, model.log)
			}
		}
	}
}

// Law: beside other writers, lost replies and erasures each event is in the row
// once at most; one that was answered is in it, unless the row was erased since.
func TestApplyAllBesideOthers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 11))
		db, spy, rows := openLogs(t)
		others := logs(t, db.Client(), rows.Table().Name)
		erased := false
		spy.before = func(int, *dynamodb.UpdateItemInput) error {
			switch rnd.IntN(8) {
			case 0, 1:
				applyAll(t, others, rnd.IntN(120))
			case 2:
				applyAll(t, others, rnd.IntN(120), rnd.IntN(120), rnd.IntN(120))
			case 3:
				if seed%3 == 0 {
					if n, err := others.Erase(t.Context(), "p"); err != nil {
						t.Error(err)
					} else if n > 0 {
						erased = true
					}
				}
			}
			return nil
		}
		db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Chance: 0.2, Seed: seed + 1, Times: 1 << 20})
		numbers := rnd.Perm(120)[:80]
		told := applyAll(t, rows, numbers...)
		db.Tap().Heal()
		got := logged(t, rows)
		slices.Sort(got)
		if again := slices.Compact(slices.Clone(got)); len(again) != len(got) {
			t.Fatalf("seed %d: an event counts twice: %v", seed, got)
		}
		for i, n := range numbers {
			_, counted := slices.BinarySearch(got, n)
			if answered := told[i] == "created" || told[i] == "duplicate"; answered && !counted && !erased {
				t.Fatalf("seed %d: event %d is %s and not in the row", seed, n, told[i])
			}
		}
	}
}

// Two bursts that run at once, of events that they share in part.
func TestBurstsAtOnce(t *testing.T) {
	t.Parallel()
	db, _, rows := open(t)
	both := logs(t, db.Client(), rows.Table().Name)
	var wg sync.WaitGroup
	for _, numbers := range [][]int{upTo(20), upTo(28)[8:]} {
		wg.Go(func() { applyAll(t, both, numbers...) })
	}
	wg.Wait()
	got := logged(t, both)
	slices.Sort(got)
	if !slices.Equal(got, upTo(28)) {
		t.Errorf("the row has %v", got)
	}
}
