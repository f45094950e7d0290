package alias_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/event"
)

// step is one write of one phrase, at a minute of its own. The later the
// minute, the later the event.
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

// answered is what a write answered, in a word.
func answered(out event.Outcome, err error) string {
	var taken *alias.TakenError
	switch {
	case err == nil:
		return out.String()
	case errors.As(err, &taken):
		return "taken by " + taken.Owner
	case errors.Is(err, event.ErrTooOld):
		return "too old"
	case errors.Is(err, alias.ErrNotFound):
		return "not found"
	}
	return err.Error()
}

// model is a phrase as the table of the package's documentation has it.
type model struct {
	name                 string
	namedBy, confirmedBy int // minutes, 0 for never
	confirmations        int64
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
		return "too old"
	}
	m.name, m.namedBy, m.confirmations = s.name, s.minute, 0
	return "created"
}

func (m *model) correct(s step) string {
	switch {
	case m.namedBy > s.minute, m.namedBy == s.minute && m.name == "":
		return "too old"
	case m.namedBy == s.minute && m.name == s.name:
		return "duplicate"
	case m.namedBy == s.minute:
		return "taken by " + m.name
	}
	if m.name != s.name {
		m.confirmations = 0
	}
	m.name, m.namedBy = s.name, s.minute
	return "created"
}

func (m *model) confirm(s step) string {
	switch {
	case m.confirmedBy == s.minute:
		return "duplicate"
	case m.confirmedBy > s.minute, m.namedBy > s.minute:
		return "too old"
	case m.name == "":
		return "not found"
	case m.name != s.name:
		return "taken by " + m.name
	}
	m.confirmedBy = s.minute
	m.confirmations++
	return "created"
}

func (m *model) forget(s step) string {
	switch {
	case m.namedBy == s.minute && m.name == "":
		return "duplicate"
	case m.namedBy >= s.minute:
		return "too old"
	}
	before := m.name
	*m = model{namedBy: s.minute}
	if before == "" {
		return "not found"
	}
	return "created"
}

// stands fails the test unless the phrase is as the model says.
func (m *model) stands(t *testing.T, f fixture, phrase string, after any) {
	t.Helper()
	got, ok, err := f.Get(t.Context(), chat, phrase)
	if err != nil || got.Name != m.name || ok != (m.name != "") || got.Confirmations != m.confirmations {
		t.Errorf("%v: it stands for %q, %d times confirmed (%v, %v); want %q, %d",
			after, got.Name, got.Confirmations, ok, err, m.name, m.confirmations)
	}
}

// Every answer and every end is the table's, whatever the writes and their
// order.
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

// Law: the last event decides, in whatever order they arrive, if it is a Correct
// or a Forget.
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

// A Forget of what is forgotten already is noted, and so is one of what was
// never taught: an earlier event that arrives later does not undo it.
func TestForgetIsNotedWhateverStands(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	do(t, event.Created)(w.put("diskning", 60))
	do(t, event.Created)(w.forget(50))
	refused(t, alias.ErrNotFound)(w.forget(20))
	do(t, event.Duplicate)(w.forget(20))
	refused(t, event.ErrTooOld)(w.correct("torkning", 30))
	refused(t, event.ErrTooOld)(w.put("torkning", 30))
	means(t, w.f, "", 0)

	w = newWriter(t)
	refused(t, alias.ErrNotFound)(w.forget(20))
	do(t, event.Duplicate)(w.forget(20))
	refused(t, event.ErrTooOld)(w.put("diskning", 30))
	refused(t, event.ErrTooOld)(w.forget(30))
	do(t, event.Created)(w.put("diskning", 10))
	means(t, w.f, "diskning", 0)
}
