package promise_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/promise"
)

// world is what a history is made of: what people promised, did, and what the
// job found overdue, in the order that it happened.
type world struct {
	makes []promise.Make
	deeds []promise.Deed
	ends  []end
}

// end lets the promise of the i-th Make expire.
type end struct {
	of int
	at event.Event
}

func newWorld(t *testing.T, r *rand.Rand) world {
	t.Helper()
	var w world
	// Whole seconds, as Telegram's: ties are normal. Some deeds are much too late.
	when := func() time.Time {
		if r.IntN(8) == 0 {
			return noon.Add(time.Duration(r.IntN(40*24)) * time.Hour)
		}
		return noon.Add(time.Duration(r.IntN(8)) * time.Second)
	}
	user := func() string { return pick(r, "42", "43") }
	activity := func() string { return pick(r, "diskning", "diskning", "tvätt") }
	household := func() string { return pick(r, home, home, home, "-99") }
	for i := range 8 {
		m := dishes(at(t, when(), fmt.Sprint("promise", i)), time.Time{})
		m.User, m.Activity, m.Household, m.Source = user(), activity(), household(), int64(i)
		m.Deadline = m.Event.Time().Add(time.Duration(r.IntN(4)) * 10 * time.Hour)
		w.makes = append(w.makes, m)
	}
	for i := range 8 {
		ev := at(t, when(), fmt.Sprint("deed", i))
		if r.IntN(6) == 0 { // said in one message with a promise
			ev, _ = w.makes[r.IntN(8)].Event.Nth(2 + i)
		}
		w.deeds = append(w.deeds, promise.Deed{User: user(), Household: household(), Activity: activity(), Event: ev})
	}
	for i := range 4 {
		w.ends = append(w.ends, end{r.IntN(8), at(t, when(), fmt.Sprint("end", i))})
	}
	return w
}

func pick(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }

// model is what should come of it.
type model map[event.Event]*promise.Promise

func (m model) make(in promise.Make) event.Outcome {
	if m[in.Event] != nil {
		return event.Duplicate
	}
	m[in.Event] = &promise.Promise{
		User: in.User, ID: idOf(in.Event), Description: in.Description, Activity: in.Activity, Household: in.Household,
		Chat: in.Chat, Source: in.Source, MadeAt: in.Event.Time(), Deadline: in.Deadline, Status: promise.Active,
	}
	return event.Created
}

func idOf(ev event.Event) string {
	return ev.Time().Format("2006-01-02T15:04:05.000Z07:00") + "#" + ev.String()
}

func (m model) keep(d promise.Deed) *promise.Promise {
	var best *promise.Promise
	for made, p := range m {
		if p.Status == promise.Fulfilled && p.Settled == d.Event && p.User == d.User {
			return p
		}
		if m.eligible(d, made) && (best == nil || cmp.Or(p.Deadline.Compare(best.Deadline), cmp.Compare(p.ID, best.ID)) < 0) {
			best = p
		}
	}
	if best != nil {
		best.Status, best.Settled = promise.Fulfilled, d.Event
	}
	return best
}

// eligible reports whether the deed may keep what was promised in the event.
func (m model) eligible(d promise.Deed, made event.Event) bool {
	p := m[made]
	return p != nil && p.Status == promise.Active && p.User == d.User && (p.Household == d.Household || p.Chat == d.Household) && p.Activity == d.Activity &&
		made.Time().Before(d.Event.Time()) && d.Event.Time().Sub(p.Deadline) <= 24*time.Hour
}

func (m model) end(w world, e end) event.Outcome {
	p := m[w.makes[e.of].Event]
	if p == nil || p.Status != promise.Active {
		return event.Duplicate
	}
	p.Status, p.Settled = promise.Expired, e.at
	return event.Created
}

func (m model) want(t *testing.T, s *promise.Store) {
	t.Helper()
	byUser, late := map[string][]promise.Promise{"42": nil, "43": nil}, []promise.Promise(nil)
	judged := noon.Add(10 * time.Hour)
	for _, p := range m {
		byUser[p.User] = append(byUser[p.User], *p)
		if p.Status == promise.Active && !p.Deadline.After(judged) {
			late = append(late, *p)
		}
	}
	for user, want := range byUser {
		slices.SortFunc(want, func(a, b promise.Promise) int { return cmp.Compare(a.ID, b.ID) })
		got, err := s.Of(t.Context(), user, time.Time{})
		if diff := gocmp.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("Of(%s): %v (-want +got):\n%s", user, err, diff)
		}
	}
	slices.SortFunc(late, func(a, b promise.Promise) int {
		return cmp.Or(a.Deadline.Compare(b.Deadline), cmp.Compare(a.User+a.ID, b.User+b.ID))
	})
	got, err := s.Overdue(t.Context(), judged)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(got, func(a, b promise.Promise) int { // the index has no order of its own among equal deadlines
		return cmp.Or(a.Deadline.Compare(b.Deadline), cmp.Compare(a.User+a.ID, b.User+b.ID))
	})
	if diff := gocmp.Diff(late, got); diff != "" {
		t.Fatalf("Overdue (-want +got):\n%s", diff)
	}
}

func settle(t *testing.T, s *promise.Store, w world, e end) (event.Outcome, error) {
	t.Helper()
	m := w.makes[e.of]
	return s.Expire(t.Context(), promise.Promise{User: m.User, ID: idOf(m.Event)}, e.at)
}

// Deliveries in any order and more than once, by processes that die before or after
// any request: each is delivered until it is done, and the rows are always what the
// model says.
func TestHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(80) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			db := dynamotest.New(t, nil)
			s := store(t, once(db), "homeops")
			db.Create(s.Table())
			db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Chance: 0.2, Seed: seed})
			db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Chance: 0.2, Seed: seed + 1000})
			w, m := newWorld(t, r), model{}
			for range 60 {
				m.step(t, r, s, w)
			}
			db.Heal()
			m.want(t, s)
		})
	}
}

// once is a client that sends each request once, as a process that then dies.
func once(db *dynamotest.DB) *dynamodb.Client {
	return dynamodb.New(db.Client().Options(), func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
}

// step delivers something until it is done.
func (m model) step(t *testing.T, r *rand.Rand, s *promise.Store, w world) {
	t.Helper()
	var do func() error
	var got, want event.Outcome
	switch r.IntN(3) {
	case 0:
		in := w.makes[r.IntN(len(w.makes))]
		want = m.make(in)
		do = func() (err error) { _, got, err = s.Make(t.Context(), in); return err }
	case 1:
		d := w.deeds[r.IntN(len(w.deeds))]
		p := m.keep(d)
		do = func() error {
			kept, ok, err := s.Keep(t.Context(), d)
			if err == nil && (ok != (p != nil) || ok && kept != *p) {
				t.Fatalf("Keep = %+v, %v, want %+v", kept, ok, p)
			}
			return err
		}
	default:
		e := w.ends[r.IntN(len(w.ends))]
		want = m.end(w, e)
		do = func() (err error) { got, err = settle(t, s, w, e); return err }
	}
	tries := 0
	err := do()
	for ; err != nil; tries++ {
		err = do()
	}
	if tries > 0 && got == event.Duplicate && want == event.Created { // its own, whose reply was lost
		got = want
	}
	if got != want {
		t.Fatalf("%v after %d tries, want %v", got, tries, want)
	}
}
