package alias_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

func putDisken(t testing.TB, f fixture, ev event.Event) {
	t.Helper()
	do(t, event.Created)(f.Put(t.Context(), alias.Put{Scope: chat, Phrase: "Ta  DISKEN", Name: "diskning", Event: ev, Actor: "42"}))
}

// owner fails the test unless the error names the phrase's owner.
func owner(t testing.TB, want string) func(event.Outcome, error) {
	t.Helper()
	return func(out event.Outcome, err error) {
		t.Helper()
		var taken *alias.TakenError
		if !errors.As(err, &taken) || taken.Owner != want || out != 0 {
			t.Fatalf("got %v, %v; want it to be %s's", out, err, want)
		}
		if strings.Contains(err.Error(), want) {
			t.Errorf("the message names the owner: %v", err)
		}
	}
}

// refused fails the test unless the error is the one wanted.
func refused(t testing.TB, want error) func(event.Outcome, error) {
	t.Helper()
	return func(out event.Outcome, err error) {
		t.Helper()
		if !errors.Is(err, want) || out != 0 {
			t.Fatalf("got %v, %v; want %v", out, err, want)
		}
	}
}

// means fails the test unless the phrase stands for the name and was confirmed
// that many times. "" means no name.
func means(t testing.TB, f fixture, name string, confirmations int64) {
	t.Helper()
	got, ok, err := f.Get(t.Context(), chat, "ta disken")
	if err != nil || got.Name != name || ok != (name != "") || got.Confirmations != confirmations {
		t.Fatalf("it stands for %q, %d times confirmed (%v, %v); want %q, %d", got.Name, got.Confirmations, ok, err, name, confirmations)
	}
}

// writer makes the four writes of one phrase shorter to read.
type writer struct {
	t testing.TB
	f fixture
}

func (w writer) put(name string, minutesAgo int) (event.Outcome, error) {
	return w.f.Put(w.t.Context(), alias.Put{Scope: chat, Phrase: "ta disken", Name: name, Event: eventAt(w.t, minutesAgo)})
}

func (w writer) confirm(name string, minutesAgo int) (event.Outcome, error) {
	return w.f.Confirm(w.t.Context(), alias.Confirm{Scope: chat, Phrase: "ta disken", Name: name, Event: eventAt(w.t, minutesAgo)})
}

func (w writer) correct(name string, minutesAgo int) (event.Outcome, error) {
	return w.f.Correct(w.t.Context(), alias.Correct{Scope: chat, Phrase: "ta disken", Name: name, Event: eventAt(w.t, minutesAgo)})
}

func (w writer) forget(minutesAgo int) (event.Outcome, error) {
	return w.f.Forget(w.t.Context(), alias.Forget{Scope: chat, Phrase: "ta disken", Event: eventAt(w.t, minutesAgo)})
}

// readAs fails the test unless for every reader of a new process the phrase, and
// nothing else, stands for the name. "" means no name.
func (w writer) readAs(name string) {
	w.t.Helper()
	reader := w.f.beside(w.t)
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

func newWriter(t testing.TB) writer { return writer{t, open(t)} }

func TestPutRefusesToHijack(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	do(t, event.Created)(w.put("diskning", 60))
	owner(t, "diskning")(w.put("städning", 50))
	owner(t, "diskning")(w.put("städning", 70))
	do(t, event.Duplicate)(w.put("diskning", 60))
	do(t, event.Created)(w.confirm("diskning", 50))
	do(t, event.Duplicate)(w.put("diskning", 40))
	means(t, w.f, "diskning", 1)
}

// A forgotten phrase stays forgotten for all events that happened before.
func TestForgottenStaysForgotten(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	do(t, event.Created)(w.put("diskning", 60))
	do(t, event.Created)(w.confirm("diskning", 55))
	refused(t, event.ErrSuperseded)(w.forget(60))
	do(t, event.Created)(w.forget(50))
	do(t, event.Duplicate)(w.forget(50))
	refused(t, event.ErrSuperseded)(w.forget(55))
	w.readAs("")

	refused(t, event.ErrSuperseded)(w.put("diskning", 60))
	refused(t, event.ErrSuperseded)(w.put("diskning", 50))
	refused(t, event.ErrSuperseded)(w.correct("torkning", 55))
	refused(t, event.ErrSuperseded)(w.correct("torkning", 50))
	refused(t, event.ErrSuperseded)(w.confirm("diskning", 55))
	refused(t, alias.ErrNotFound)(w.confirm("diskning", 45))
	if done, err := w.f.Seed(t.Context(), chat, map[string]string{"ta disken": "diskning"}); err != nil || done != 0 {
		t.Errorf("Seed: %d, %v", done, err)
	}
	means(t, w.f, "", 0)

	do(t, event.Created)(w.put("städning", 40))
	refused(t, event.ErrSuperseded)(w.forget(50)) // its redelivery takes nothing away
	means(t, w.f, "städning", 0)
}

// A Forget of a phrase that is forgotten already is noted, and so is one of a
// phrase that was never taught: an earlier event that arrives later does not
// undo it.
func TestForgetIsNotedWhateverStands(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	do(t, event.Created)(w.put("diskning", 60))
	do(t, event.Created)(w.forget(50))
	refused(t, alias.ErrNotFound)(w.forget(20))
	do(t, event.Duplicate)(w.forget(20))
	refused(t, event.ErrSuperseded)(w.correct("torkning", 30))
	refused(t, event.ErrSuperseded)(w.put("torkning", 30))
	means(t, w.f, "", 0)

	w = newWriter(t)
	refused(t, alias.ErrNotFound)(w.forget(20))
	do(t, event.Duplicate)(w.forget(20))
	refused(t, event.ErrSuperseded)(w.put("diskning", 30))
	refused(t, event.ErrSuperseded)(w.forget(30))
	do(t, event.Created)(w.put("diskning", 10))
	means(t, w.f, "diskning", 0)
}

// DynamoDB must accept the largest input that is not refused here.
func TestLargestInput(t *testing.T) {
	t.Parallel()
	f := open(t)
	put := alias.Put{
		Scope:  strings.Repeat("s", 2048-len("ALIASES_BY_ACTIVITY#")),
		Phrase: strings.Repeat("å", 512), Name: strings.Repeat("ö", 512), Actor: strings.Repeat("a", 2048), Event: eventAt(t, 60),
	}
	do(t, event.Created)(f.Put(t.Context(), put))
	got, err := f.PhrasesOf(t.Context(), put.Scope, put.Name)
	want := []alias.Alias{{
		Scope: put.Scope, Phrase: put.Phrase, Name: put.Name, Source: alias.Learned, LearnedFrom: put.Actor,
		NamedBy: put.Event, CreatedAt: monday,
	}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// Bad input is refused before any request.
func TestBadInput(t *testing.T) {
	t.Parallel()
	f := open(t)
	ev, ahead := eventAt(t, 60), recordtest.Event(t, monday.Add(61*time.Minute), "telegram", "8")
	const all = "Put Correct Confirm Forget Seed All Refresh Resolve Get Match PhrasesOf"
	long := strings.Repeat("x", 2049)
	for _, c := range []struct {
		field, calls string
		spoil        func(*alias.Put)
	}{
		{"Scope", all, func(p *alias.Put) { p.Scope = "" }},
		{"Scope", all, func(p *alias.Put) { p.Scope = "\xff" }},
		{"Scope", all, func(p *alias.Put) { p.Scope = long }},
		{"Scope", "Put PhrasesOf", func(p *alias.Put) { p.Scope = long[:2040] }}, // too long for the index
		{"Phrase", "Put Correct Confirm Forget Resolve Get", func(p *alias.Put) { p.Phrase = " " }},
		{"Name", "Put Correct Confirm PhrasesOf", func(p *alias.Put) { p.Name = "" }},
		{"Name", "Put Correct Confirm PhrasesOf", func(p *alias.Put) { p.Name = "\xff" }},
		{"Name", "Put Correct Confirm PhrasesOf", func(p *alias.Put) { p.Name = long[:1025] }},
		{"Event", "Put Correct Confirm Forget", func(p *alias.Put) { p.Event = event.Event{} }},
		{"Event", "Put Correct Confirm Forget", func(p *alias.Put) { p.Event = ahead }},
		{"Event", "Put Correct Confirm Forget", func(p *alias.Put) { p.Event = ev; p.Event[event.Size-1] = 0 }},
		{"Actor", "Put Correct", func(p *alias.Put) { p.Actor = long }},
		{"Actor", "Put Correct", func(p *alias.Put) { p.Actor = "\xff" }},
	} {
		for _, method := range strings.Fields(c.calls) {
			p := alias.Put{Scope: chat, Phrase: "x", Name: "y", Event: ev}
			c.spoil(&p)
			var err error
			cost := f.db.Meter(func() { err = calls(t, f.Store)[method](p) })
			recordtest.WantBad(t, err, "alias", c.field, method)
			if cost.Requests != 0 {
				t.Errorf("%s of a bad %s: sent %v", method, c.field, cost)
			}
		}
	}
}
