package alias_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
)

// newOlder has a table in which only a row of an older system has the phrase,
// under the name pantning and a sort key that is not in normal form.
func newOlder(t testing.TB) writer {
	w := newWriter(t)
	w.f.write(t, with(golden(t, "older"), map[string]any{"sk": s("TA  disken")}))
	return w
}

// readAs fails the test unless for every reader of a new process the phrase, and
// nothing else, stands for the name. "" means no name.
func (w writer) readAs(name string) {
	w.t.Helper()
	reader := fixture{w.f.another(w.t, nil), w.f.db, w.f.table}
	reader.resolves(w.t, chat, "ta disken", name)
	all, errAll := reader.All(w.t.Context(), chat)
	found, errMatch := reader.Match(w.t.Context(), chat, "nu ta disken!")
	var names []string
	if name != "" {
		names = []string{name, name}
	}
	var got []string
	for _, a := range all {
		got = append(got, a.Name)
	}
	for _, m := range found {
		got = append(got, m.Name)
	}
	if err := errors.Join(errAll, errMatch); err != nil || !slices.Equal(got, names) {
		w.t.Errorf("All and Match: %q, %v; want %q", got, err, name)
	}
}

// Put of the name that the older row has changes nothing. A write that changes
// something adopts the row.
func TestPutOfTheNameOfAnOlderSpelling(t *testing.T) {
	t.Parallel()
	w := newOlder(t)
	do(t, event.Duplicate)(w.put("pantning", 60))
	owner(t, "pantning")(w.put("diskning", 50))
	if stored := w.f.stored(t, "ALIAS#-100123", "ta disken"); len(stored) != 0 {
		t.Errorf("stored: %v", stored)
	}
	owner(t, "pantning")(w.confirm("diskning", 45))
	do(t, event.Created)(w.confirm("pantning", 40))
	do(t, event.Duplicate)(w.confirm("pantning", 40))
	w.readAs("pantning")
	do(t, event.Created)(w.forget(30))
	do(t, event.Created)(w.put("diskning", 20)) // the older row no longer owns the phrase
	w.readAs("diskning")
}

func TestForgetTakesOverAnOlderSpelling(t *testing.T) {
	t.Parallel()
	w := newOlder(t)
	do(t, event.Created)(w.forget(60))
	do(t, event.Duplicate)(w.forget(60))
	w.readAs("")
	refused(t, event.ErrSuperseded)(w.put("pantning", 60))
	refused(t, alias.ErrNotFound)(w.forget(50)) // it is forgotten already
}

// A book in memory may be out of date: a write that would be refused because of
// it reads again first.
func TestPutBehindItsTimes(t *testing.T) {
	t.Parallel()
	w := newOlder(t)
	if got, err := w.f.All(t.Context(), chat); err != nil || len(got) != 1 {
		t.Fatalf("All: %v, %v", got, err)
	}
	other := writer{t, fixture{w.f.another(t, nil), w.f.db, w.f.table}}
	do(t, event.Created)(other.correct("diskning", 60))
	do(t, event.Duplicate)(w.put("diskning", 50))
	owner(t, "diskning")(w.put("pantning", 50))
}

// Older spellings say nothing beside a row in normal form, even a forgotten one.
func TestTheNormalFormHidesOlderSpellings(t *testing.T) {
	t.Parallel()
	w := newOlder(t)
	w.f.write(t, golden(t, "put"))
	owner(t, "diskning")(w.put("pantning", 30))
	w.readAs("diskning")
	w.f.write(t, golden(t, "forgotten"))
	w.readAs("")
}

// Consulting the book costs nothing while it is in memory, also after writes of
// this store.
func TestPriceOfOlderSpellings(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write(t, with(golden(t, "older"), map[string]any{"sk": s("TA DISKEN")}))
	put := func(phrase string) func() {
		return func() {
			do(t, event.Created)(f.Put(t.Context(), alias.Put{Scope: chat, Phrase: phrase, Name: "x", Event: eventAt(t, 60)}))
		}
	}
	f.db.Meter(put("a")).Want(t, price(2, 0.5, 2))
	f.db.Meter(put("b")).Want(t, price(1, 0, 2))
	f.db.Meter(put("c")).Want(t, price(1, 0, 2))
	f.db.Meter(func() { owner(t, "pantning")(writer{t, f}.put("x", 60)) }).Want(t, price(1, 1, 0))
	f.db.Meter(func() {
		refused(t, alias.ErrNotFound)(f.Forget(t.Context(), alias.Forget{Scope: chat, Phrase: "d", Event: eventAt(t, 50)}))
	}).
		Want(t, price(1, 0, 1))
}

// A write adopts all spellings of its phrase that have its owner's name; one with
// another name stays, and Adopt reports it.
func TestWritesAdoptAllSpellings(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	for spelling, name := range map[string]string{"TA DISKEN": "pantning", "Ta disken": "torkning", "ta   disken": "pantning"} {
		w.f.write(t, with(golden(t, "older"), map[string]any{"sk": s(spelling), "canonicalActivity": s(name), "gsi1sk": s(name)}))
	}
	do(t, event.Created)(w.confirm("pantning", 60))
	if got, _, err := w.f.Get(t.Context(), chat, "ta disken"); err != nil || got.Name != "pantning" || got.Confirmations != 2+2+1 {
		t.Errorf("Get: %+v, %v", got, err)
	}
	if rows := w.f.rows(t, "TA DISKEN", "Ta disken", "ta   disken", "ta disken"); len(rows) != 2 || rows["Ta disken"] == nil {
		t.Errorf("rows: %v", rows)
	}
}

// A write that cannot adopt does not write.
func TestWritesThatCannotAdopt(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(w writer) (event.Outcome, error){
		"Confirm": func(w writer) (event.Outcome, error) { return w.confirm("pantning", 60) },
		"Correct": func(w writer) (event.Outcome, error) { return w.correct("x", 60) },
		"Forget":  func(w writer) (event.Outcome, error) { return w.forget(60) },
	} {
		for _, effect := range []dynamotest.Effect{dynamotest.LoseRequest, dynamotest.LoseReply} {
			t.Run(fmt.Sprint(name, effect), func(t *testing.T) {
				t.Parallel()
				w := newOlder(t)
				w.f.db.Inject(dynamotest.Fault{Do: effect, Op: "TransactWriteItems"})
				single := writer{t, fixture{w.f.through(t, once(w.f.db.Client()), nil), w.f.db, w.f.table}}
				if out, err := write(single); err == nil || !strings.HasPrefix(err.Error(), "alias: "+name+" on table") {
					t.Errorf("%v, %v", out, err)
				}
				do(t, event.Created)(write(single))
				do(t, event.Duplicate)(write(single))
				if rows := w.f.rows(t, "TA  disken", "ta disken"); len(rows) != 1 {
					t.Errorf("rows: %v", rows)
				}
			})
		}
	}
}

// A spelling that was forgotten does not take the name from another one.
func TestANameBesideAForgottenSpelling(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.f.write(t, with(golden(t, "forgotten"), map[string]any{"sk": s("TA DISKEN"), "namedBy": s(eventAt(t, 50).String())}))
	w.f.write(t, with(golden(t, "older"), map[string]any{"sk": s("ta  disken")}))
	owner(t, "pantning")(w.put("diskning", 60))
	w.f.adopts(t, 2)
	w.readAs("pantning")
}
