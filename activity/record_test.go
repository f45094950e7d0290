package activity_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

func TestRecord(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	dish := chore(t, monday, 7, "diskning")
	for _, want := range []event.Outcome{event.Created, event.Duplicate, event.Duplicate} {
		if out, err := acts.Record(t.Context(), dish); out != want || err != nil {
			t.Fatalf("Record = %v, %v, want %v", out, err, want)
		}
	}
	wantSame(t, "what stands", everything(t, acts), []activity.Activity{dish})
}

func TestRecordConflict(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	first := chore(t, monday, 7, "diskning")
	mustRecord(t, acts, first)
	for field, change := range map[string]func(*activity.Activity){
		"Actor":      func(a *activity.Activity) { a.Actor = rebecca },
		"ActorName":  func(a *activity.Activity) { a.ActorName = "" },
		"Name":       func(a *activity.Activity) { a.Name = "tvätt" },
		"Kind":       func(a *activity.Activity) { a.Kind = "recovery" },
		"Seq":        func(a *activity.Activity) { a.Seq = 0 },
		"Effort":     func(a *activity.Activity) { a.Effort = math.Nextafter(a.Effort, 1) },
		"Confidence": func(a *activity.Activity) { a.Confidence = 0 },
	} {
		other := first
		change(&other)
		out, err := acts.Record(t.Context(), other)
		var conflict *activity.ConflictError
		if out != 0 || !errors.As(err, &conflict) {
			t.Errorf("another %s: %v, %v, want a ConflictError", field, out, err)
			continue
		}
		wantSame(t, field, conflict.Stored, []activity.Activity{first})
	}
	wantSame(t, "what stands", everything(t, acts), []activity.Activity{first})
}

func TestBadInputSendsNothing(t *testing.T) {
	t.Parallel()
	acts := silent(t)
	good := chore(t, monday, 7, "diskning")
	for want, change := range map[string]func(*activity.Activity){
		"Event must be set":              func(a *activity.Activity) { a.Event = event.Event{} },
		"Event has N = 0":                func(a *activity.Activity) { a.Event = recordtest.Bound(a.Event) },
		"Event lies more than":           func(a *activity.Activity) { a.Event = newEvent(t, time.Now().Add(2*time.Hour), home, 7) },
		"Event must have a time between": func(a *activity.Activity) { a.Event = newEvent(t, time.Unix(5, 0), home, 7) },
		"Scope must not be empty":        func(a *activity.Activity) { a.Scope = "" },
		"Scope and Actor makes":          func(a *activity.Activity) { a.Scope = strings.Repeat("s", 2048) },
		"Scope must be valid":            func(a *activity.Activity) { a.Scope = "\xff" },
		"Actor must be a whole decimal":  func(a *activity.Activity) { a.Actor = "042" },
		"Name must not be empty":         func(a *activity.Activity) { a.Name = "" },
		"Name makes a key":               func(a *activity.Activity) { a.Name = strings.Repeat("#", 340) },
		"Effort must be a finite":        func(a *activity.Activity) { a.Effort = math.NaN() },
		"Effort must be 0 or have":       func(a *activity.Activity) { a.Effort = 1e126 },
		"Effort must not be negative":    func(a *activity.Activity) { a.Effort = -1e-9 },
		"Confidence must not be":         func(a *activity.Activity) { a.Confidence = -0.5 },
		"Seq must not be negative":       func(a *activity.Activity) { a.Seq = -1 },
		"Confidence must be":             func(a *activity.Activity) { a.Confidence = math.Inf(1) },
		"ActorName and Kind makes":       func(a *activity.Activity) { a.ActorName = strings.Repeat("x", 400<<10) },
	} {
		bad := good
		change(&bad)
		_, err := acts.Record(t.Context(), bad)
		wantInputError(t, err, want)
		_, err = acts.RecordAll(t.Context(), []activity.Activity{bad})
		wantInputError(t, err, want)
	}
}

func wantInputError(t *testing.T, err error, want string) {
	t.Helper()
	var bad *event.InputError
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), "activity: "+want) {
		t.Errorf("got %v, want an InputError of %q", err, want)
	}
}

func TestRecordAll(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]dynamotest.Price{1: {Requests: 1, WCU: 4}, 2: {Requests: 1, WCU: 10}, 3: {Requests: 1, WCU: 15}} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			db, acts := open(t, nil)
			set := setOf(t, 7, n)
			cost := db.Meter(func() {
				if out, err := acts.RecordAll(t.Context(), set); out != event.Created || err != nil {
					t.Fatalf("first: %v, %v", out, err)
				}
			})
			if db.InProcess() || n == 1 { // of a transaction's actions on a table, DynamoDB Local reports only the last
				cost.Want(t, want)
			}
			turned := append(set[1:n:n], set[0])
			cost = db.Meter(func() {
				if out, err := acts.RecordAll(t.Context(), turned); out != event.Duplicate || err != nil {
					t.Errorf("redelivery in another order: %v, %v", out, err)
				}
			})
			if db.InProcess() { // elsewhere a refusal reports no capacity
				cost.Want(t, dynamotest.Price{Requests: 2, RCU: 1, WCU: map[bool]float64{true: 1, false: 2 * float64(n)}[n == 1]})
			}
			wantSame(t, "what stands", everything(t, acts), set)
		})
	}
}

// setOf returns n different activities of one event.
func setOf(t testing.TB, seq int64, n int) []activity.Activity {
	t.Helper()
	names := []string{"diskning", "tvätt", "pantning", "städning"}
	var set []activity.Activity
	for i := range n {
		a := chore(t, monday, seq, names[i%len(names)])
		a.Event = recordtest.Nth(t, a.Event, i+1)
		set = append(set, a)
	}
	return set
}

// The first set stays: a redelivery with other activities, or more, or fewer,
// changes nothing and gets all that is stored.
func TestRecordAllFirstSetStands(t *testing.T) {
	t.Parallel()
	four := setOf(t, 7, 4)
	renamed := four[0]
	renamed.Name = "städning"
	for name, tc := range map[string]struct{ first, then []activity.Activity }{
		"one more, after two":    {four[:2], four[:3]},
		"one fewer, after two":   {four[:2], four[:1]},
		"the ends of the first":  {four[:3], []activity.Activity{four[0], four[2]}},
		"only the guard in both": {[]activity.Activity{four[0], four[1]}, []activity.Activity{four[0], four[2], four[3]}},
		"another one":            {four[:1], []activity.Activity{renamed}},
		"another, and one more":  {four[:1], []activity.Activity{renamed, four[1]}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, acts := open(t, nil)
			if out, err := acts.RecordAll(t.Context(), tc.first); out != event.Created || err != nil {
				t.Fatalf("first: %v, %v", out, err)
			}
			out, err := acts.RecordAll(t.Context(), tc.then)
			var conflict *activity.ConflictError
			if out != 0 || !errors.As(err, &conflict) {
				t.Fatalf("then: %v, %v, want a ConflictError", out, err)
			}
			wantSame(t, "ConflictError.Stored", conflict.Stored, tc.first)
			wantSame(t, "what stands", everything(t, acts), tc.first)
		})
	}
}

func TestRecordAllRefusesWhatIsNoSet(t *testing.T) {
	t.Parallel()
	two := setOf(t, 7, 2)
	elsewhere, otherwise := two[1], two[1]
	elsewhere.Scope = "-200"
	otherwise.Event = recordtest.Nth(t, newEvent(t, monday, home, 8), 2)
	large := setOf(t, 7, 11)
	for i := range large {
		large[i].ActorName = strings.Repeat("x", 390<<10)
	}
	for want, set := range map[string][]activity.Activity{
		"activities must have 1 to 100 elements, has 0":               nil,
		"activities must have 1 to 100 elements, has 101":             setOf(t, 7, 101),
		"activities[1].Scope must be the same as activities[0].Scope": {two[0], elsewhere},
		"activities[1].Event must come from the same":                 {two[0], otherwise},
		"activities[2].Event is the same as":                          {two[0], two[1], two[0]},
		"activities must include one with the Event Nth(1)":           two[1:],
		"activities have 4395460 bytes together":                      large,
	} {
		_, err := silent(t).RecordAll(t.Context(), set)
		wantInputError(t, err, want)
	}
	_, acts := open(t, nil)
	if out, err := acts.RecordAll(t.Context(), setOf(t, 9, 100)); out != event.Created || err != nil {
		t.Errorf("a hundred: %v, %v", out, err)
	}
}

// The SDK sends a transaction again under its token and learns that it took
// effect; a caller that calls again gets Duplicate.
func TestRecordAllLostReply(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "TransactWriteItems"})
	if out, err := acts.RecordAll(t.Context(), setOf(t, 7, 2)); out != event.Created || err != nil {
		t.Errorf("one reply lost: %v, %v", out, err)
	}
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "TransactWriteItems", Times: 3})
	if out, err := acts.RecordAll(t.Context(), setOf(t, 8, 2)); out != 0 || err == nil {
		t.Errorf("all replies lost: %v, %v", out, err)
	}
	if out, err := acts.RecordAll(t.Context(), setOf(t, 8, 2)); out != event.Duplicate || err != nil {
		t.Errorf("again: %v, %v", out, err)
	}
	wantSame(t, "what stands", everything(t, acts), append(setOf(t, 7, 2), setOf(t, 8, 2)...))
}

// cancelled answers transactions as DynamoDB does while another one is under way on
// the same items: with the reasons' codes.
func cancelled(times int, codes ...string) dynamotest.Fault {
	reasons := `{"Code": "` + strings.Join(codes, `"}, {"Code": "`) + `"}`
	body := `{"__type": "TransactionCanceledException", "CancellationReasons": [` + reasons + `]}`
	return dynamotest.Fault{Do: dynamotest.Answer(400, body), Op: "TransactWriteItems", Times: times}
}

func TestRecordAllWaitsForAnother(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	set := setOf(t, 7, 2)
	for name, answers := range map[string][][]string{
		"conflicts":               {{"TransactionConflict", "None"}, {"None", "ProvisionedThroughputExceeded"}},
		"half of the first shows": {{"ConditionalCheckFailed", "TransactionConflict"}},
	} {
		for _, codes := range answers {
			db.Inject(cancelled(1, codes...))
		}
		before := len(everything(t, acts))
		ctx, meter := dynamotest.WithMeter(t.Context())
		out, err := acts.RecordAll(ctx, set)
		if want := map[bool]event.Outcome{true: event.Created, false: event.Duplicate}[before == 0]; out != want || err != nil {
			t.Errorf("%s: %v, %v, want %v", name, out, err, want)
		}
		if calls := meter.Cost().ByOp["TransactWriteItems"]; calls != len(answers)+1 {
			t.Errorf("%s: %d calls, want %d", name, calls, len(answers)+1)
		}
	}
	db.Inject(cancelled(-1, "ConditionalCheckFailed", "TransactionConflict"))
	ctx, meter := dynamotest.WithMeter(t.Context())
	out, err := acts.RecordAll(ctx, set)
	var conflict *activity.ConflictError
	if out != 0 || err == nil || errors.As(err, &conflict) {
		t.Errorf("a conflict that never ends: %v, %v, want an error to try again for", out, err)
	}
	if calls := meter.Cost().ByOp["TransactWriteItems"]; calls >= 20 {
		t.Errorf("%d calls: the retries are not bounded", calls)
	}
}

// If many different sets of one event arrive at once, exactly one is created as
// a whole; all others get a conflict.
func TestRecordAllRace(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	sets := make([][]activity.Activity, 8)
	outcomes := make([]event.Outcome, len(sets))
	var wg sync.WaitGroup
	for i := range sets {
		sets[i] = setOf(t, 7, 1+i%4)
		sets[i][0].Kind = fmt.Sprint("made by ", i)
		wg.Go(func() {
			var err error
			outcomes[i], err = acts.RecordAll(t.Context(), sets[i])
			if _, conflict := errors.AsType[*activity.ConflictError](err); conflict != (outcomes[i] == 0) {
				t.Errorf("set %d: %v, %v", i, outcomes[i], err)
			}
		})
	}
	wg.Wait()
	winner := slices.Index(outcomes, event.Created)
	if winner < 0 || slices.Contains(outcomes[winner+1:], event.Created) {
		t.Fatal(outcomes)
	}
	wantSame(t, "the winner's set", everything(t, acts), sets[winner])
}
