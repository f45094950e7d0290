package alias_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
)

// olderFixture is a table in which only a row of an older system has a phrase,
// under the name pantning and a sort key that is not in normal form.
type olderFixture struct {
	fixture
	t      *testing.T
	phrase string
}

func eachSpelling(t *testing.T, test func(t *testing.T, o olderFixture)) {
	t.Helper()
	t.Parallel()
	for name, c := range map[string]struct{ older, phrase string }{
		"two spaces":           {"ta  disken", "ta disken"},
		"a capital letter":     {"Ta disken", "ta disken"},
		"a variation selector": {"❤\ufe0f", "❤"},
		"decomposed":           {"tva\u0308tt", "tvätt"},
		"folded longer":        {"STRASSE", "Straße"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := olderFixture{open(t), t, c.phrase}
			o.write(t, with(golden(t, "older"), map[string]any{"sk": s(c.older)}))
			test(t, o)
		})
	}
}

func (o olderFixture) put(name string, minutesAgo int) (event.Outcome, error) {
	return o.Put(o.t.Context(), alias.Put{Scope: chat, Phrase: o.phrase, Name: name, Event: eventAt(o.t, minutesAgo)})
}

func (o olderFixture) correct(s *alias.Store, name string, minutesAgo int) (event.Outcome, error) {
	return s.Correct(o.t.Context(), alias.Correct{Scope: chat, Phrase: o.phrase, Name: name, Event: eventAt(o.t, minutesAgo)})
}

func (o olderFixture) confirm(name string, minutesAgo int) (event.Outcome, error) {
	return o.Confirm(o.t.Context(), alias.Confirm{Scope: chat, Phrase: o.phrase, Name: name, Event: eventAt(o.t, minutesAgo)})
}

func (o olderFixture) forget(minutesAgo int) (event.Outcome, error) {
	return o.Forget(o.t.Context(), alias.Forget{Scope: chat, Phrase: o.phrase, Event: eventAt(o.t, minutesAgo)})
}

// means fails the test unless for every reader of a new process the phrase, and
// nothing else, stands for the name. "" means no name.
func (o olderFixture) means(name string) {
	o.t.Helper()
	store := o.another(o.t, nil)
	var want []string
	if name != "" {
		want = []string{name}
	}
	for ask, names := range map[string]func() ([]string, error){
		"Resolve": func() ([]string, error) {
			a, ok, err := store.Resolve(o.t.Context(), chat, o.phrase)
			if !ok {
				return nil, err
			}
			return []string{a.Name}, err
		},
		"Match": func() (names []string, err error) {
			found, err := store.Match(o.t.Context(), chat, "nu "+o.phrase+"!")
			for _, m := range found {
				names = append(names, m.Name)
			}
			return names, err
		},
		"All": func() (names []string, err error) {
			all, err := store.All(o.t.Context(), chat)
			for _, a := range all {
				names = append(names, a.Name)
			}
			return names, err
		},
	} {
		got, err := names()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			o.t.Errorf("%s: %v (-want +got)\n%s", ask, err, diff)
		}
	}
}

func TestPutRefusesToHijackAnOlderSpelling(t *testing.T) {
	eachSpelling(t, func(t *testing.T, o olderFixture) {
		owner(t, "pantning")(o.put("diskning", 60))
		owner(t, "pantning")(o.put("diskning", 60))
		o.means("pantning")
		if stored := o.stored(t, "ALIAS#-100123", o.phrase); len(stored) != 0 {
			t.Errorf("stored: %v", stored)
		}
	})
}

// Put of the name that the older row has changes nothing. A write that changes
// something adopts the row.
func TestPutOfTheNameOfAnOlderSpelling(t *testing.T) {
	eachSpelling(t, func(t *testing.T, o olderFixture) {
		do(t, event.Duplicate)(o.put("pantning", 60))
		owner(t, "pantning")(o.put("diskning", 50))
		if stored := o.stored(t, "ALIAS#-100123", o.phrase); len(stored) != 0 {
			t.Errorf("stored: %v", stored)
		}
		do(t, event.Created)(o.confirm("pantning", 40))
		do(t, event.Duplicate)(o.confirm("pantning", 40))
		o.means("pantning")
		do(t, event.Created)(o.forget(30))
		o.means("")
		do(t, event.Created)(o.put("diskning", 20)) // the older row no longer owns the phrase
		o.means("diskning")
	})
}

func TestConfirmAdoptsAnOlderSpelling(t *testing.T) {
	eachSpelling(t, func(t *testing.T, o olderFixture) {
		owner(t, "pantning")(o.confirm("diskning", 60))
		do(t, event.Created)(o.confirm("pantning", 50))
		got, ok, err := o.Get(t.Context(), chat, o.phrase)
		if err != nil || !ok || got.Confirmations != 3 || got.LearnedFrom != "42" {
			t.Errorf("Get: %+v, %v, %v", got, ok, err)
		}
	})
}

func TestSeedKeepsAnOlderSpelling(t *testing.T) {
	eachSpelling(t, func(t *testing.T, o olderFixture) {
		for _, name := range []string{"diskning", "pantning"} {
			done, err := o.Seed(t.Context(), chat, map[string]string{o.phrase: name})
			if want := (alias.Seeded{Kept: 1}); err != nil || done != want {
				t.Errorf("Seed: %+v, %v", done, err)
			}
		}
		o.means("pantning")
	})
}

func TestCorrectTakesOverAnOlderSpelling(t *testing.T) {
	eachSpelling(t, func(t *testing.T, o olderFixture) {
		do(t, event.Created)(o.correct(o.Store, "diskning", 60))
		o.means("diskning")
		do(t, event.Created)(o.forget(50))
		o.means("")
		refused(t, event.ErrSuperseded)(o.put("pantning", 60))
		if done, err := o.Seed(t.Context(), chat, map[string]string{o.phrase: "pantning"}); err != nil || done.Kept != 1 {
			t.Errorf("Seed: %+v, %v", done, err)
		}
		o.means("")
	})
}

func TestForgetTakesOverAnOlderSpelling(t *testing.T) {
	eachSpelling(t, func(t *testing.T, o olderFixture) {
		do(t, event.Created)(o.forget(60))
		do(t, event.Duplicate)(o.forget(60))
		o.means("")
		refused(t, alias.ErrNotFound)(o.forget(50)) // it is forgotten already
		o.means("")
	})
}

// A book in memory may be out of date: a write that would be refused because of
// it reads again first.
func TestPutBehindItsTimes(t *testing.T) {
	eachSpelling(t, func(t *testing.T, o olderFixture) {
		if got, err := o.All(t.Context(), chat); err != nil || len(got) != 1 {
			t.Fatalf("All: %v, %v", got, err)
		}
		other := o.another(t, nil)
		do(t, event.Created)(o.correct(other, "diskning", 60))
		do(t, event.Duplicate)(o.put("diskning", 50))
		owner(t, "diskning")(o.put("pantning", 50))
		o.means("diskning")
	})
}

// The first of two older spellings, by sort key, owns the phrase.
func TestOlderSpellingsOfOnePhrase(t *testing.T) {
	t.Parallel()
	o := olderFixture{open(t), t, "ta disken"}
	o.write(t, with(golden(t, "older"), map[string]any{"sk": s("ta   disken"), "canonicalActivity": s("torkning")}))
	o.write(t, with(golden(t, "older"), map[string]any{"sk": s("TA DISKEN")}))
	owner(t, "pantning")(o.put("torkning", 60))
	got, _, err := o.Resolve(t.Context(), chat, "ta disken")
	if err != nil || got.Name != "pantning" {
		t.Errorf("Resolve: %v, %v", got, err)
	}
	do(t, event.Duplicate)(o.put("pantning", 60))
}

// An older row that stands for nothing owns nothing.
func TestOlderSpellingWithoutAName(t *testing.T) {
	t.Parallel()
	o := olderFixture{open(t), t, "ta disken"}
	o.write(t, with(golden(t, "older"), map[string]any{
		"sk": s("TA DISKEN"), "canonicalActivity": nil, "gsi1pk": nil, "gsi1sk": nil,
	}))
	refused(t, alias.ErrNotFound)(o.forget(70))
	do(t, event.Created)(o.put("diskning", 60))
	o.means("diskning")
}

// Consulting the book costs nothing while it is in memory, also after writes of
// this store.
func TestPriceOfOlderSpellings(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write(t, with(golden(t, "older"), map[string]any{"sk": s("TA DISKEN")}))
	o := olderFixture{f, t, "ta disken"}
	put := func(phrase string) func() {
		return func() {
			do(t, event.Created)(f.Put(t.Context(), alias.Put{Scope: chat, Phrase: phrase, Name: "x", Event: eventAt(t, 60)}))
		}
	}
	f.db.Meter(put("a")).Want(t, price(2, 0.5, 2))
	f.db.Meter(put("b")).Want(t, price(1, 0, 2))
	f.db.Meter(put("c")).Want(t, price(1, 0, 2))
	f.db.Meter(func() { owner(t, "pantning")(o.put("x", 60)) }).Want(t, price(1, 1, 0))
	f.db.Meter(func() {
		refused(t, alias.ErrNotFound)(f.Forget(t.Context(), alias.Forget{Scope: chat, Phrase: "d", Event: eventAt(t, 50)}))
	}).
		Want(t, price(1, 0, 1))
	cold := f.another(t, nil)
	f.db.Meter(func() {
		refused(t, alias.ErrNotFound)(cold.Forget(t.Context(), alias.Forget{Scope: chat, Phrase: "d", Event: eventAt(t, 40)}))
	}).
		Want(t, price(2, 0.5, 1)) // the book was cold
	f.db.Meter(func() {
		refused(t, alias.ErrNotFound)(cold.Forget(t.Context(), alias.Forget{Scope: chat, Phrase: "e", Event: eventAt(t, 40)}))
	}).
		Want(t, price(1, 0, 1)) // and is in memory now
}

// A write adopts all spellings of its phrase that have its owner's name; one with
// another name stays, and Adopt reports it.
func TestWritesAdoptAllSpellings(t *testing.T) {
	t.Parallel()
	o := olderFixture{open(t), t, "ta disken"}
	for spelling, name := range map[string]string{"TA DISKEN": "pantning", "Ta disken": "torkning", "ta   disken": "pantning"} {
		o.write(t, with(golden(t, "older"), map[string]any{"sk": s(spelling), "canonicalActivity": s(name), "gsi1sk": s(name)}))
	}
	do(t, event.Created)(o.confirm("pantning", 60))
	if got, _, err := o.Get(t.Context(), chat, "ta disken"); err != nil || got.Name != "pantning" || got.Confirmations != 2+2+1 {
		t.Errorf("Get: %+v, %v", got, err)
	}
	if rows := o.rows(t, "TA DISKEN", "Ta disken", "ta   disken", "ta disken"); len(rows) != 2 || rows["Ta disken"] == nil {
		t.Errorf("rows: %v", rows)
	}
}

// A write that cannot adopt does not write.
func TestWritesThatCannotAdopt(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(o olderFixture) (event.Outcome, error){
		"Confirm": func(o olderFixture) (event.Outcome, error) { return o.confirm("pantning", 60) },
		"Correct": func(o olderFixture) (event.Outcome, error) { return o.correct(o.Store, "x", 60) },
		"Forget":  func(o olderFixture) (event.Outcome, error) { return o.forget(60) },
	} {
		for _, effect := range []dynamotest.Effect{dynamotest.LoseRequest, dynamotest.LoseReply} {
			t.Run(fmt.Sprint(name, effect), func(t *testing.T) {
				t.Parallel()
				o := olderFixture{open(t), t, "ta disken"}
				o.write(t, with(golden(t, "older"), map[string]any{"sk": s("TA DISKEN")}))
				o.db.Inject(dynamotest.Fault{Do: effect, Op: "TransactWriteItems"})
				single := o
				single.Store = o.through(t, once(o.db.Client()), nil)
				if out, err := write(single); err == nil || !strings.HasPrefix(err.Error(), "alias: "+name+" on table") {
					t.Errorf("%v, %v", out, err)
				}
				do(t, event.Created)(write(single))
				do(t, event.Duplicate)(write(single))
				if rows := o.rows(t, "TA DISKEN", "ta disken"); len(rows) != 1 {
					t.Errorf("rows: %v", rows)
				}
			})
		}
	}
}

// A spelling that was forgotten does not take the name from another one.
func TestANameBesideAForgottenSpelling(t *testing.T) {
	t.Parallel()
	o := olderFixture{open(t), t, "ta disken"}
	o.write(t, with(golden(t, "forgotten"), map[string]any{"sk": s("TA DISKEN"), "namedBy": s(eventAt(t, 50).String())}))
	o.write(t, with(golden(t, "older"), map[string]any{"sk": s("ta  disken")}))
	owner(t, "pantning")(o.put("diskning", 60))
	o.adopts(t, 2)
	o.means("pantning")
}
