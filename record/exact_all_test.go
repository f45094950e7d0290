package record_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
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
		t.Run(name, func(t *testing.T) {
			t.Parallel()
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
			sevens := []event.Outcome{outcomes[1], outcomes[194]}
			slices.Sort(sevens)
			if diff := cmp.Diff([]event.Outcome{event.Created, event.Duplicate}, sevens); diff != "" {
				t.Errorf("the event that comes twice (-want +got):\n%s", diff)
			}
			wantSum(t, db, rows.Table().Name, 200, 200*201/2)
			var sizes []int
			for _, in := range w.sent {
				sizes = append(sizes, len(in.TransactItems))
			}
			// 99 with two duplicates, the other 97, 99 with one, 98, and 2
			if diff := cmp.Diff([]int{100, 98, 100, 99, 3}, sizes); diff != "" {
				t.Errorf("actions of the transactions (-want +got):\n%s", diff)
			}
			if reads := map[string]int{"Next": 1}[name]; w.reads != reads {
				t.Errorf("%d reads, want %d", w.reads, reads)
			}
		})
	}
}

// What a call has counted in a transaction whose reply was lost is its own, each of
// the events.
func TestExactAllLosesReplies(t *testing.T) {
	t.Parallel()
	for name, way := range allWays {
		db, w, rows, direct := openExact(t)
		wantApply(t, direct, adds(at(t, 1), 2), event.Created)
		w.before = func(n int, in *dynamodb.TransactWriteItemsInput) error {
			if n != 2 {
				return nil
			}
			other := *in
			other.ClientRequestToken = nil
			if _, err := db.Client().TransactWriteItems(t.Context(), &other); err != nil {
				t.Error(err)
			}
			return &types.TransactionInProgressException{}
		}
		outcomes, err := rows.ApplyAll(t.Context(), way(span(t, 0, 4)...))
		if diff := cmp.Diff([]string{"created", "duplicate", "created", "created"}, answers(t, outcomes, err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		wantSum(t, db, rows.Table().Name, 4, 10)
	}
}

// A row that changes between two transactions of a call is computed from as it
// stands.
func TestExactAllMeetsOthers(t *testing.T) {
	t.Parallel()
	for name, way := range allWays {
		db, w, rows, direct := openExact(t)
		w.before = func(n int, _ *dynamodb.TransactWriteItemsInput) error {
			if n == 2 {
				wantApply(t, direct, adds(at(t, 120), 121), event.Created) // an event of the call
			}
			return nil
		}
		if _, err := rows.ApplyAll(t.Context(), way(span(t, 0, 150)...)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		wantSum(t, db, rows.Table().Name, 150, 150*151/2)
		if len(w.sent) != 3 {
			t.Errorf("%s: %d transactions", name, len(w.sent))
		}
	}
}

// The end of a call leaves over what it did not get to.
func TestExactAllEnds(t *testing.T) {
	t.Parallel()
	for name, way := range allWays {
		db, w, rows, _ := openExact(t)
		down := errors.New("down")
		w.before = func(n int, _ *dynamodb.TransactWriteItemsInput) error {
			if n == 2 {
				return down
			}
			return nil
		}
		_, err := rows.ApplyAll(t.Context(), way(span(t, 0, 150)...))
		left, _ := errors.AsType[*event.LeftoverError](err)
		if left == nil || len(left.Leftovers) != 51 || left.Leftovers[0].Index != 99 || !errors.Is(err, down) {
			t.Fatalf("%s: ApplyAll: %v", name, err)
		}
		wantSum(t, db, rows.Table().Name, 99, 99*100/2)
	}
}

// deliver applies each event, as one of many callers at once, and again while it
// answers ErrContended or its reply is lost. It returns how often an event was
// Created and Duplicate, and how often it had to come again.
func deliver(t *testing.T, rows *record.Rows[int64], events []event.Event, way func(event.Event, int64) record.Apply) (created, duplicates, again int) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, ev := range events {
		all.Go(func() {
			for range 100 {
				out, err := rows.Apply(t.Context(), way(ev, secondOf(ev)-1))
				mu.Lock()
				switch {
				case err != nil:
					again++
				case out == event.Created:
					created++
				default:
					duplicates++
				}
				mu.Unlock()
				if err == nil {
					return
				}
			}
			t.Errorf("%v never got through", ev)
		})
	}
	all.Wait()
	return created, duplicates, again
}

// 500 events of one customer at once and newest first, each delivered twice, under
// lost replies and conflicts: each counts once. With Next, some answer ErrContended
// first.
func TestExactBurst(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"Add": 500, "Next": 500} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { burst(t, ways[name], n, name == "Add") })
		})
	}
}

func burst(t *testing.T, way func(event.Event, int64) record.Apply, n int, atOnce bool) {
	db, _, first := openOn(t, dynamotest.New(t, &dynamotest.Config{Latency: 10 * time.Millisecond}))
	rows := exact(t, recordtest.Impatient(db.Client()), first.Table().Name)
	for i, do := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.Conflict} {
		db.Inject(dynamotest.Fault{Do: do, Op: "TransactWriteItems", Chance: 0.2, Seed: uint64(i)})
	}
	var events []event.Event
	for i := range n {
		events = append(events, at(t, -i), at(t, -i))
	}
	created, duplicates, again := deliver(t, rows, events, way)
	t.Logf("%d created, %d duplicates, %d came again", created, duplicates, again)
	if created+duplicates != 2*n || created > n {
		t.Errorf("%d created and %d duplicates of %d", created, duplicates, 2*n)
	}
	if atOnce && (created != n || again != 0) || !atOnce && again == 0 {
		t.Errorf("%d of %d created, %d had to come again", created, n, again)
	}
	db.Heal()
	wantSum(t, db, rows.Table().Name, int64(n), -int64(n*(n+1)/2))
}

// Callers of ApplyAll at once, with the same events, count each once.
func TestExactAllBurst(t *testing.T) {
	t.Parallel()
	for name, way := range allWays {
		db, _, first := openOn(t, dynamotest.New(t, nil))
		rows := exact(t, recordtest.Impatient(db.Client()), first.Table().Name)
		for i, do := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.Conflict} {
			db.Inject(dynamotest.Fault{Do: do, Op: "TransactWriteItems", Chance: 0.2, Seed: uint64(i)})
		}
		var all sync.WaitGroup
		created := make([]int, 4)
		for caller := range created {
			all.Go(func() {
				events := span(t, caller*60, caller*60+240) // overlapping
				for range 100 {
					outcomes, err := rows.ApplyAll(t.Context(), way(events...))
					for _, out := range outcomes {
						if out == event.Created {
							created[caller]++
						}
					}
					left, _ := errors.AsType[*event.LeftoverError](err)
					if left == nil {
						return
					}
					events = leftOver(events, left)
				}
				t.Error("never got through")
			})
		}
		all.Wait()
		db.Heal()
		sum := 0
		for _, n := range created {
			sum += n
		}
		if sum > 420 {
			t.Errorf("%s: %d created of 420", name, sum)
		}
		wantSum(t, db, rows.Table().Name, 420, 420*421/2)
	}
}

func leftOver(events []event.Event, left *event.LeftoverError) (rest []event.Event) {
	for _, l := range left.Leftovers {
		rest = append(rest, events[l.Index])
	}
	return rest
}

// What answers ErrContended comes again, and ends counted once.
func TestExactContended(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, way := range ways {
			db, _, first := openOn(t, dynamotest.New(t, nil))
			w := &wire{API: db.Client(), before: func(int, *dynamodb.TransactWriteItemsInput) error { return &types.TransactionInProgressException{} }}
			rows := exact(t, w, first.Table().Name)
			if out, err := rows.Apply(t.Context(), way(at(t, 1), 5)); out != 0 || !errors.Is(err, record.ErrContended) || len(w.sent) != 16 {
				t.Errorf("%s: Apply = %v, %v after %d", name, out, err, len(w.sent))
			}
			w.before = nil
			wantApply(t, rows, way(at(t, 1), 5), event.Created)
			wantSum(t, db, first.Table().Name, 1, 5)
		}
	})
}

// What nobody may write, and what would not fit, is refused before any request.
func TestExactBadInput(t *testing.T) {
	t.Parallel()
	rows := exact(t, recordtest.Silent(t), "rows")
	for field, change := range map[string]func(*record.Apply){
		"Next":      func(a *record.Apply) { a.Add = nil },
		"Add":       func(a *record.Apply) { a.Next = plus(1) },
		"Add  ":     func(a *record.Apply) { a.Add = map[string]int64{"ttl": 1} },
		"Add   ":    func(a *record.Apply) { a.Add = map[string]int64{"n": 1} },
		"Add    ":   func(a *record.Apply) { a.Add = map[string]int64{"": 1} },
		"Add     ":  func(a *record.Apply) { a.Add["sum"] = 1e15 + 1 },
		"Add      ": func(a *record.Apply) { a.Add["sum"] = -1e15 - 1 },
		"AtLeast":   func(a *record.Apply) { a.AtLeast = map[string]int64{"other": 1} },
		"AtLeast ":  func(a *record.Apply) { a.AtLeast = map[string]int64{"sum": 1e15 + 1} },
		"AtLeast  ": func(a *record.Apply) { a.Add, a.Next, a.AtLeast = nil, plus(1), map[string]int64{"sum": 1} },
		"Partition": func(a *record.Apply) { a.Partition = fmt.Sprintf("%02047d", 1) },
		"Sort":      func(a *record.Apply) { a.Sort = fmt.Sprintf("%0998d", 1) },
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
	_, err := sums(t, recordtest.Silent(t), "rows").Apply(t.Context(), adds(at(t, 1), 5))
	recordtest.WantBad(t, err, "sums", "Add")
	for field, change := range map[string]func(*record.Kind[int64], *record.Config){
		"Kind.Count":      func(k *record.Kind[int64], _ *record.Config) { k.Count = "" },
		"Kind.Count ":     func(k *record.Kind[int64], _ *record.Config) { k.Count = "ttl" },
		"Kind.Retention":  func(k *record.Kind[int64], _ *record.Config) { k.Retention = -1 },
		"Kind.Retention ": func(k *record.Kind[int64], _ *record.Config) { k.Retention = 5 * time.Minute },
		"Config.MaxSkew":  func(_ *record.Kind[int64], c *record.Config) { c.MaxSkew = -1 },
		"Config.MaxSkew ": func(_ *record.Kind[int64], c *record.Config) { c.MaxSkew = 25 * time.Hour },
	} {
		kind, cfg := pointsKind, record.Config{}
		change(&kind, &cfg)
		rows, err := record.New(recordtest.Silent(t), "rows", kind, &cfg)
		recordtest.WantBad(t, err, "points", trim(field), field)
		if rows != nil {
			t.Errorf("%s: rows", field)
		}
	}
	none, err := record.New(recordtest.Silent(t), "rows", pointsKind, &record.Config{Now: recordtest.Clock(now), Rand: errReader{}})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := none.Apply(t.Context(), adds(at(t, 1), 5)); out != 0 || !errors.Is(err, errNone) {
		t.Errorf("Apply without randomness = %v, %v", out, err)
	}
}

var errNone = errors.New("none")

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errNone }

func trim(field string) string { return strings.TrimSpace(field) }
