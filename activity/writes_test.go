package activity_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// keptRow is a row in the model of writes.
type keptRow struct {
	activity.Activity
	tombstone bool
	expires   time.Time // zero is never
}

// writes is a plain model of the rows that writes leave of one event.
type writes struct {
	rows map[int]keptRow // by N
	now  time.Time
}

func (w *writes) stands(n int) bool {
	row, ok := w.rows[n]
	return ok && (row.expires.IsZero() || w.now.Before(row.expires))
}

// shown returns the visible activities, by N.
func (w *writes) shown() (all []activity.Activity) {
	for n, row := range w.rows {
		if w.stands(n) && !row.tombstone {
			all = append(all, row.Activity)
		}
	}
	slices.SortFunc(all, func(a, b activity.Activity) int { return a.Event.Compare(b.Event) })
	return all
}

// alike reports whether both are the same activity, with data compared by
// value.
func alike(a, b activity.Activity) bool {
	x, y := a.Data["cents"], b.Data["cents"]
	a.Data, b.Data = nil, nil
	return reflect.DeepEqual(a, b) && worth(x) == worth(y)
}

// lacksIn returns a function that reports whether an activity is not among
// these.
func lacksIn(all []activity.Activity) func(activity.Activity) bool {
	return func(a activity.Activity) bool {
		return !slices.ContainsFunc(all, func(b activity.Activity) bool { return alike(a, b) })
	}
}

// priced gives an activity its data: mostly the same in different forms, seldom
// other data.
func priced(r *rand.Rand, a *activity.Activity) {
	five := []any{5, 5.0, attributevalue.Number("5"), attributevalue.Number("5e0"), attributevalue.Number("05.00")}
	a.Data = map[string]any{"cents": five[r.IntN(len(five))]}
	if r.IntN(16) == 0 {
		a.Data["cents"] = []any{"5", 6, true}[r.IntN(3)]
	}
}

// The answers of the model, in addition to the outcomes.
const (
	wasCreated = "created"
	duplicate  = "duplicate"
	conflict   = "conflict"
	withdrawn  = "retracted"
	tooOld     = "too old"
	notFound   = "not found"
	others     = "others stand"
	done       = "done"
)

func answer(out event.Outcome, err error) string {
	_, differs := errors.AsType[*activity.ConflictError](err)
	switch {
	case differs:
		return conflict
	case errors.Is(err, activity.ErrRetracted):
		return withdrawn
	case errors.Is(err, event.ErrTooOld):
		return tooOld
	case errors.Is(err, activity.ErrNotFound):
		return notFound
	case errors.Is(err, activity.ErrOthersStand):
		return others
	case err != nil:
		return err.Error()
	case out == 0:
		return done
	}
	return out.String()
}

const skew = 5 * time.Minute

func expiry(at time.Time, retention time.Duration) time.Time {
	if retention == 0 {
		return time.Time{}
	}
	return at.Add(retention)
}

func (w *writes) record(set []activity.Activity, retention time.Duration, single bool) string {
	expires := expiry(set[0].Event.Time(), retention)
	if !expires.IsZero() && !w.now.Before(expires.Add(-skew)) {
		return tooOld
	}
	free := true
	for _, a := range set {
		free = free && !w.stands(a.Event.N())
	}
	if free {
		for _, a := range set {
			w.rows[a.Event.N()] = keptRow{Activity: a, expires: expires}
		}
		return wasCreated
	}
	for _, a := range set {
		if w.stands(a.Event.N()) && w.rows[a.Event.N()].tombstone {
			return withdrawn
		}
	}
	shown := w.shown()
	if single {
		shown = []activity.Activity{w.rows[set[0].Event.N()].Activity}
	}
	if slices.EqualFunc(shown, set, alike) {
		return duplicate
	}
	return conflict
}

func (w *writes) retract(ev event.Event, retention time.Duration, tombstone bool) string {
	row, any := w.rows[ev.N()]
	switch stands := w.stands(ev.N()); {
	case row.tombstone && (stands || !tombstone):
		return duplicate
	case !tombstone && (!any || !stands):
		return notFound
	}
	w.rows[ev.N()] = keptRow{tombstone: true, expires: expiry(ev.Time(), retention)}
	return wasCreated
}

func (w *writes) delete(n int) string {
	if _, any := w.rows[n]; !any {
		return notFound
	}
	if n == 1 {
		for _, a := range w.shown() {
			if a.Event.N() != 1 {
				return others
			}
		}
	}
	delete(w.rows, n)
	return done
}

func (w *writes) deleteEvent() string {
	if len(w.rows) == 0 {
		return notFound
	}
	clear(w.rows)
	return done
}

// write is one call on a store, and what the model answers to it.
type write struct {
	name string
	op   string // the request that writes
	ask  func() string
	want string
}

// anyWrite makes one call of any kind.
func (w *writes) anyWrite(t *testing.T, r *rand.Rand, db *dynamotest.DB, acts *activity.Store, retention time.Duration, seq int64) write {
	nth := func() activity.Activity {
		a := setOf(t, seq, 4)[r.IntN(4)]
		if r.IntN(4) == 0 {
			a.Name = "annat"
		}
		priced(r, &a)
		return a
	}
	set := func() []activity.Activity {
		all := setOf(t, seq, 4)
		for i := range all {
			priced(r, &all[i])
		}
		if r.IntN(4) == 0 {
			all[r.IntN(4)].Name = "annat"
		}
		some := []activity.Activity{all[0]}
		for _, a := range all[1:] {
			if r.IntN(2) == 0 {
				some = append(some, a)
			}
		}
		return some
	}
	switch r.IntN(12) {
	case 0, 1:
		a := nth()
		ask := func() string { return answer(acts.Record(t.Context(), a)) }
		return write{fmt.Sprint("Record ", a.Event.N()), "PutItem", ask, w.record([]activity.Activity{a}, retention, true)}
	case 2, 3, 4, 5:
		some := set()
		op := map[bool]string{true: "PutItem", false: "TransactWriteItems"}[len(some) == 1]
		ask := func() string { return answer(acts.RecordAll(t.Context(), some)) }
		return write{fmt.Sprint("RecordAll of ", len(some)), op, ask, w.record(some, retention, false)}
	case 6:
		some := set()
		larger := len(w.shown()) > len(some) // is not shown to the caller of RecordItems
		want := w.record(some, retention, false)
		if shown := w.shown(); want == conflict && larger && !slices.ContainsFunc(some, lacksIn(shown)) {
			want = duplicate
		}
		return write{fmt.Sprint("RecordItems of ", len(some)), "", func() string {
			items, err := acts.RecordItems(some)
			if err != nil {
				return answer(0, err)
			}
			_, err = db.Client().TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: items.Items})
			if reasons, ok := ddb.Cancelled(err); ok {
				return answer(items.Outcome(reasons))
			}
			return answer(event.Created, err)
		}, want}
	case 7, 8:
		tombstone, ev := r.IntN(2) == 0, nth().Event
		ask := func() string {
			return answer(acts.Retract(t.Context(), activity.Retract{Scope: home, Event: ev, Tombstone: tombstone}))
		}
		return write{fmt.Sprint("Retract ", ev.N(), tombstone), "PutItem", ask, w.retract(ev, retention, tombstone)}
	case 9, 10:
		ev := nth().Event
		ask := func() string { return answer(0, acts.Delete(t.Context(), home, ev)) }
		return write{fmt.Sprint("Delete ", ev.N()), "DeleteItem", ask, w.delete(ev.N())}
	}
	op := map[bool]string{true: "DeleteItem", false: "TransactWriteItems"}[len(w.rows) == 1]
	ask := func() string { return answer(0, acts.DeleteEvent(t.Context(), home, nth().Event)) }
	return write{"DeleteEvent", op, ask, w.deleteEvent()}
}

// Random writes of stores with different retentions, and some lost replies:
// each write returns and leaves what a plain model says.
func TestWritesModel(t *testing.T) {
	t.Parallel()
	clock := monday
	retentions := []time.Duration{0, 3 * time.Hour, 6 * time.Hour}
	db, stores := kept(t, &clock, retentions...)
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 2))
		w := &writes{rows: map[int]keptRow{}}
		var history []string
		for range 25 {
			if clock = clock.Add(time.Duration(r.IntN(40)) * time.Minute); r.IntN(3) > 0 {
				clock = monday.Add(time.Duration(r.IntN(7*60)) * time.Minute) // clocks differ
			}
			w.now = clock
			i := r.IntN(len(stores))
			beside := len(w.shown())
			call := w.anyWrite(t, r, db, stores[i], retentions[i], int64(seed))
			lost := call.op != "" && (call.want == wasCreated || call.want == done) && r.IntN(3) == 0
			if lost {
				db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: call.op})
			}
			got := call.ask()
			history = append(history, fmt.Sprintf("%s by %v at %v, lost %v: %s", call.name, retentions[i], clock.Format("15:04"), lost, got))
			fair := got == call.want
			if lost { // the SDK's second try meets what the first did
				fair = fair || call.want == wasCreated && got == duplicate || call.want == done && got == notFound ||
					got == conflict && call.want == wasCreated && beside > 0
			}
			all, err := stores[0].OfEvent(t.Context(), home, newEvent(t, monday, home, int64(seed)))
			if err != nil {
				t.Fatal(err)
			}
			wantSame(t, "what stands", all, w.shown())
			if !fair || t.Failed() {
				t.Fatalf("want %s:\n%s", call.want, history)
			}
		}
	}
}

// The model's answers are those of the doc comments, written out once.
func TestWritesModelItself(t *testing.T) {
	t.Parallel()
	w := &writes{rows: map[int]keptRow{}, now: monday}
	set := setOf(t, 7, 3)
	for i, step := range []struct{ got, want string }{
		{w.record(set, 0, false), wasCreated},
		{w.record(set, 0, false), duplicate},
		{w.record(set[:2], 0, false), conflict},
		{w.delete(1), others},
		{w.retract(set[1].Event, 0, false), wasCreated},
		{w.retract(set[1].Event, 0, true), duplicate},
		{w.record(set, 0, false), withdrawn},
		{w.record(set, time.Minute, false), tooOld},
		{w.delete(3), done},
		{w.delete(1), done},
		{w.retract(recordtest.Nth(t, set[0].Event, 9), 0, false), notFound},
		{w.deleteEvent(), done},
		{w.deleteEvent(), notFound},
	} {
		if step.got != step.want {
			t.Errorf("[%d] %s, want %s", i, step.got, cmp.Or(step.want, "?"))
		}
	}
}
