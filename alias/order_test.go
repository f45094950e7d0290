package alias_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/event"
)

// step is one write of one phrase. A later minute is a later event.
type step struct {
	verb   string // put, correct, confirm or forget
	name   string
	minute int
}

func (s step) String() string { return fmt.Sprintf("%s %s %d", s.verb, s.name, s.minute) }

// make makes the write.
func (s step) make(t *testing.T, f fixture, phrase string) (event.Outcome, error) {
	t.Helper()
	ev := eventAt(t, 60-s.minute)
	switch s.verb {
	case "put":
		return f.Put(t.Context(), alias.Put{Scope: chat, Phrase: phrase, Name: s.name, Event: ev})
	case "correct":
		return f.Correct(t.Context(), alias.Correct{Scope: chat, Phrase: phrase, Name: s.name, Event: ev})
	case "confirm":
		return f.Confirm(t.Context(), alias.Confirm{Scope: chat, Phrase: phrase, Name: s.name, Event: ev})
	}
	return f.Forget(t.Context(), alias.Forget{Scope: chat, Phrase: phrase, Event: ev})
}

// answered returns the answer of a write in one word.
func answered(out event.Outcome, err error) string {
	var taken *alias.TakenError
	switch {
	case err == nil:
		return out.String()
	case errors.As(err, &taken):
		return "taken by " + taken.Owner
	case errors.Is(err, event.ErrSuperseded):
		return "superseded"
	case errors.Is(err, event.ErrTooOld):
		return "too old"
	case errors.Is(err, alias.ErrNotFound):
		return "not found"
	}
	return err.Error()
}

// model is a phrase that follows the table in the package's documentation.
type model struct {
	name          string
	namedBy       int   // minute, 0 for never
	confirmers    []int // the 8 greatest minutes that were counted, in order
	confirmations int64
}

func (m *model) make(s step) string {
	switch s.verb {
	case "put":
		return m.put(s)
	case "correct":
		return m.correct(s)
	case "confirm":
		return m.confirm(s)
	}
	return m.forget(s)
}

func (m *model) put(s step) string {
	switch {
	case m.name == s.name:
		return "duplicate"
	case m.name != "":
		return "taken by " + m.name
	case m.namedBy >= s.minute:
		return "superseded"
	}
	*m = model{name: s.name, namedBy: s.minute}
	return "created"
}

func (m *model) correct(s step) string {
	switch {
	case m.namedBy > s.minute, m.namedBy == s.minute && m.name == "":
		return "superseded"
	case m.namedBy == s.minute && m.name == s.name:
		return "duplicate"
	case m.namedBy == s.minute:
		return "taken by " + m.name
	}
	if m.name != s.name {
		*m = model{name: s.name}
	}
	m.namedBy = s.minute
	return "created"
}

func (m *model) confirm(s step) string {
	switch {
	case slices.Contains(m.confirmers, s.minute):
		return "duplicate"
	case m.namedBy > s.minute:
		return "superseded"
	case m.name == "":
		return "not found"
	case m.name != s.name:
		return "taken by " + m.name
	case len(m.confirmers) == 8 && s.minute < m.confirmers[0]:
		return "too old"
	}
	m.confirmers = slices.Sorted(slices.Values(append(m.confirmers, s.minute)))
	m.confirmers = m.confirmers[max(0, len(m.confirmers)-8):]
	m.confirmations++
	return "created"
}

func (m *model) forget(s step) string {
	switch {
	case m.namedBy == s.minute && m.name == "":
		return "duplicate"
	case m.namedBy >= s.minute:
		return "superseded"
	}
	before := m.name
	*m = model{namedBy: s.minute}
	if before == "" {
		return "not found"
	}
	return "created"
}

// stands fails the test unless the stored phrase is that of the model.
func (m *model) stands(t *testing.T, f fixture, phrase string, after any) {
	t.Helper()
	got, ok, err := f.Get(t.Context(), chat, phrase)
	if err != nil || got.Name != m.name || ok != (m.name != "") || got.Confirmations != m.confirmations {
		t.Errorf("%v: it stands for %q, %d times confirmed (%v, %v); want %q, %d",
			after, got.Name, got.Confirmations, ok, err, m.name, m.confirmations)
	}
}

// Every answer and every final state is that of the table, for any writes in
// any order.
func TestWritesFollowTheTable(t *testing.T) {
	t.Parallel()
	f := open(t)
	verbs := []string{"put", "correct", "correct", "confirm", "confirm", "forget"}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		phrase := fmt.Sprint("fras ", seed)
		var m model
		var steps []step
		for range 12 {
			s := step{verbs[r.IntN(len(verbs))], string(rune('a' + r.IntN(2))), 1 + r.IntN(8)}
			steps = append(steps, s)
			if want, got := m.make(s), answered(s.make(t, f, phrase)); got != want {
				t.Errorf("%v: the last answered %q, want %q", steps, got, want)
			}
		}
		m.stands(t, f, phrase, steps)
	}
}

// The same if most writes are confirmations, of more events than a row
// remembers.
func TestConfirmationsFollowTheTable(t *testing.T) {
	t.Parallel()
	f := open(t)
	old, duplicate := 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		phrase := fmt.Sprint("fras ", seed)
		var m model
		steps := []step{{"put", "a", 1}}
		for range 40 {
			s := step{"confirm", "a", 1 + r.IntN(30)}
			switch r.IntN(40) {
			case 0:
				s = step{"correct", "b", 1 + r.IntN(10)}
			case 1:
				s = step{"correct", "a", 1 + r.IntN(20)}
			case 2:
				s.name = "b"
			}
			steps = append(steps, s)
		}
		for i, s := range steps {
			want, got := m.make(s), answered(s.make(t, f, phrase))
			if got != want {
				t.Fatalf("%v: the last answered %q, want %q", steps[:i+1], got, want)
			}
			if s.verb == "confirm" && want == "too old" && m.namedBy <= s.minute {
				old++
			} else if want == "duplicate" {
				duplicate++
			}
		}
		m.stands(t, f, phrase, steps)
	}
	if old < 100 || duplicate < 100 {
		t.Errorf("%d too old, %d duplicate: the steps try too little", old, duplicate)
	}
}

// Law: up to 8 confirmations count in any order of arrival, and the row is the
// same in the end.
func TestEveryOrderOfConfirmationsEndsAlike(t *testing.T) {
	t.Parallel()
	f := open(t)
	var want map[string]any
	orders := 0
	permute([]step{{"confirm", "a", 2}, {"confirm", "a", 3}, {"confirm", "a", 4}, {"confirm", "a", 5}, {"confirm", "b", 6}}, func(order []step) {
		orders++
		phrase := fmt.Sprint("fras ", orders)
		for _, s := range append([]step{{"put", "a", 1}}, order...) {
			for _, want := range []string{"created", "duplicate"} {
				if s.name == "b" {
					want = "taken by a"
				}
				if got := answered(s.make(t, f, phrase)); got != want {
					t.Errorf("%v: %v answered %q, want %q", order, s, got, want)
				}
			}
		}
		row := with(f.stored(t, "ALIAS#-100123", phrase), map[string]any{"sk": nil})
		if want == nil {
			want = row
		}
		if diff := cmp.Diff(want, row); diff != "" {
			t.Errorf("%v (-first order +this)\n%s", order, diff)
		}
	})
	if orders != 120 || want["confirmations"].(map[string]any)["N"] != "4" {
		t.Errorf("%d orders of %v", orders, want)
	}
}

// Law: the last event decides, in any order of arrival, if it is a Correct or a
// Forget.
func TestEveryOrderOfArrivalEndsAlike(t *testing.T) {
	t.Parallel()
	f := open(t)
	orders := 0
	for i, c := range []struct {
		events []step
		want   string
	}{
		{[]step{{"put", "a", 1}, {"forget", "", 2}, {"confirm", "a", 3}, {"correct", "b", 4}, {"forget", "", 5}}, ""},
		{[]step{{"put", "a", 1}, {"forget", "", 2}, {"put", "b", 3}, {"correct", "c", 4}, {"confirm", "b", 5}}, "c"},
		{[]step{{"forget", "", 1}, {"correct", "a", 2}, {"forget", "", 3}, {"put", "b", 4}, {"correct", "a", 5}}, "a"},
		{[]step{{"put", "a", 1}, {"put", "b", 2}, {"correct", "b", 3}, {"forget", "", 4}, {"forget", "", 5}}, ""},
	} {
		permute(c.events, func(order []step) {
			orders++
			phrase := fmt.Sprint("fras ", i, " ", orders)
			for _, s := range order {
				if got := answered(s.make(t, f, phrase)); len(got) > 40 {
					t.Errorf("%v: %s", s, got)
				}
			}
			if got, _, err := f.Get(t.Context(), chat, phrase); err != nil || got.Name != c.want {
				t.Errorf("%v: it stands for %q, %v; want %q", order, got.Name, err, c.want)
			}
		})
	}
	if orders != 480 {
		t.Errorf("%d orders", orders)
	}
}

// permute calls f with every order of the steps.
func permute(steps []step, f func([]step)) {
	var choose func(at int)
	choose = func(at int) {
		if at == len(steps) {
			f(steps)
			return
		}
		for i := at; i < len(steps); i++ {
			steps[at], steps[i] = steps[i], steps[at]
			choose(at + 1)
			steps[at], steps[i] = steps[i], steps[at]
		}
	}
	choose(0)
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
