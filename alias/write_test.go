package alias_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
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

func newWriter(t testing.TB) writer { return writer{t, open(t)} }

func TestPutRefusesToHijack(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	do(t, event.Created)(w.put("diskning", 60))
	owner(t, "diskning")(w.put("städning", 50))
	owner(t, "diskning")(w.put("städning", 70))
	do(t, event.Duplicate)(w.put("diskning", 60))
	do(t, event.Duplicate)(w.put("diskning", 50))
	means(t, w.f, "diskning", 0)
}

// The event that named a phrase is known, so that earlier messages can be read
// without the phrase.
func TestNamedBy(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	namedBy := func(want event.Event) {
		t.Helper()
		if got, ok, err := w.f.Resolve(t.Context(), chat, "ta disken"); err != nil || !ok || got.NamedBy != want {
			t.Errorf("named by %v, want %v: %v, %v", got.NamedBy, want, ok, err)
		}
	}
	if _, err := w.f.Seed(t.Context(), chat, map[string]string{"ta disken": "diskning"}); err != nil {
		t.Fatal(err)
	}
	namedBy(event.Event{})
	do(t, event.Created)(w.confirm("diskning", 60))
	namedBy(event.Event{})
	do(t, event.Created)(w.correct("städning", 50))
	do(t, event.Created)(w.confirm("städning", 40))
	namedBy(eventAt(t, 50))
	do(t, event.Created)(w.forget(30))
	do(t, event.Created)(w.put("diskning", 20))
	namedBy(eventAt(t, 20))
}

func TestPutKeepsWhatWasConfirmed(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	do(t, event.Created)(w.put("diskning", 60))
	do(t, event.Created)(w.confirm("diskning", 50))
	do(t, event.Duplicate)(w.put("diskning", 40))
	means(t, w.f, "diskning", 1)
}

func TestConfirmOfTheOldNameIsNotCounted(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	do(t, event.Created)(w.put("diskning", 60))
	do(t, event.Created)(w.correct("torkning", 40))
	refused(t, event.ErrSuperseded)(w.confirm("diskning", 50)) // it confirmed the name before
	refused(t, event.ErrSuperseded)(w.confirm("torkning", 50)) // the phrase did not have that name then
	owner(t, "torkning")(w.confirm("diskning", 30))            // an answer to an old question
	means(t, w.f, "torkning", 0)
	do(t, event.Created)(w.confirm("torkning", 30))
	means(t, w.f, "torkning", 1)
}

// A confirmation that was counted for the name before is not counted again.
func TestConfirmRedeliveredAfterACorrection(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	do(t, event.Created)(w.put("diskning", 60))
	do(t, event.Created)(w.confirm("diskning", 50))
	do(t, event.Created)(w.confirm("diskning", 30))
	do(t, event.Created)(w.correct("torkning", 40))
	refused(t, event.ErrSuperseded)(w.confirm("diskning", 50))
	owner(t, "torkning")(w.confirm("diskning", 30))
	means(t, w.f, "torkning", 0)
}

func TestCorrectLaterEventWins(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	do(t, event.Created)(w.put("diskning", 60))
	do(t, event.Created)(w.confirm("diskning", 55))
	do(t, event.Created)(w.correct("torkning", 40))
	means(t, w.f, "torkning", 0) // the confirmations were for another name
	do(t, event.Duplicate)(w.correct("torkning", 40))
	owner(t, "torkning")(w.correct("städning", 40)) // one event, two names: the first stays
	refused(t, event.ErrSuperseded)(w.correct("städning", 50))
	refused(t, event.ErrSuperseded)(w.correct("torkning", 50))
	do(t, event.Created)(w.correct("diskning", 30))
	means(t, w.f, "diskning", 0)
	owner(t, "diskning")(w.put("torkning", 20))
}

func TestCorrectToTheNameThatStandsKeepsConfirmations(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	do(t, event.Created)(w.put("diskning", 60))
	do(t, event.Created)(w.confirm("diskning", 55))
	do(t, event.Created)(w.correct("diskning", 40))
	do(t, event.Duplicate)(w.correct("diskning", 40))
	means(t, w.f, "diskning", 1)
	refused(t, event.ErrSuperseded)(w.correct("torkning", 50)) // the event is noted
	means(t, w.f, "diskning", 1)
}

// A correction to the name that the phrase has is two updates, and another
// write may come between them.
func TestCorrectMeetsAnother(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		otherName  string
		otherEvent int
		wantErr    error
		want       string
	}{
		"an earlier one":                {"torkning", 40, nil, "diskning"},
		"a later one":                   {"torkning", 20, event.ErrSuperseded, "torkning"},
		"a later one to the same name":  {"diskning", 20, event.ErrSuperseded, "diskning"},
		"an earlier one, the same name": {"diskning", 40, nil, "diskning"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			do(t, event.Created)(w.put("diskning", 60))
			other := func() { do(t, event.Created)(w.correct(c.otherName, c.otherEvent)) }
			w.f.db.Inject(dynamotest.Fault{Do: dynamotest.Before(other), Op: "UpdateItem", Nth: 2})
			_, err := w.f.another(t, nil).Correct(t.Context(), alias.Correct{Scope: chat, Phrase: "ta disken", Name: "diskning", Event: eventAt(t, 30)})
			if !errors.Is(err, c.wantErr) {
				t.Errorf("Correct: %v, want %v", err, c.wantErr)
			}
			means(t, w.f, c.want, 0)
			refused(t, event.ErrSuperseded)(w.correct("städning", 35))
			if c.otherEvent == 20 {
				refused(t, event.ErrSuperseded)(w.correct("städning", 25))
			}
		})
	}
}

func TestCorrectTeachesAFreePhrase(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	do(t, event.Created)(w.correct("diskning", 60))
	do(t, event.Duplicate)(w.correct("diskning", 60))
	means(t, w.f, "diskning", 0)
}

func TestCorrectTakesSeedsToo(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	if _, err := w.f.Seed(t.Context(), chat, map[string]string{"ta disken": "diskning"}); err != nil {
		t.Fatal(err)
	}
	do(t, event.Created)(w.correct("torkning", 60))
	got, _, err := w.f.Resolve(t.Context(), chat, "ta disken")
	if err != nil || got.Name != "torkning" || got.Source != alias.Learned {
		t.Errorf("Resolve: %+v, %v", got, err)
	}
}

func TestForget(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	refused(t, alias.ErrNotFound)(w.forget(70))
	do(t, event.Created)(w.put("diskning", 60))
	refused(t, event.ErrSuperseded)(w.forget(65))
	refused(t, event.ErrSuperseded)(w.forget(60))
	do(t, event.Created)(w.forget(50))
	do(t, event.Duplicate)(w.forget(50))
	refused(t, alias.ErrNotFound)(w.forget(40))
	refused(t, event.ErrSuperseded)(w.forget(55))
	means(t, w.f, "", 0)
	for name, ask := range map[string]func() ([]alias.Alias, error){
		"All":       func() ([]alias.Alias, error) { return w.f.All(t.Context(), chat) },
		"PhrasesOf": func() ([]alias.Alias, error) { return w.f.PhrasesOf(t.Context(), chat, "diskning") },
	} {
		if got, err := ask(); err != nil || len(got) != 0 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, err := w.f.Match(t.Context(), chat, "ta disken"); err != nil || len(got) != 0 {
		t.Errorf("Match: %v, %v", got, err)
	}
}

// A forgotten phrase stays forgotten for all events that happened before.
func TestForgottenStaysForgotten(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	do(t, event.Created)(w.put("diskning", 60))
	do(t, event.Created)(w.confirm("diskning", 55))
	do(t, event.Created)(w.forget(50))

	refused(t, event.ErrSuperseded)(w.put("diskning", 60))
	refused(t, event.ErrSuperseded)(w.put("diskning", 50))
	refused(t, event.ErrSuperseded)(w.correct("torkning", 55))
	refused(t, event.ErrSuperseded)(w.correct("torkning", 50))
	refused(t, event.ErrSuperseded)(w.confirm("diskning", 55))
	refused(t, alias.ErrNotFound)(w.confirm("diskning", 45))
	if done, err := w.f.Seed(t.Context(), chat, map[string]string{"ta disken": "diskning"}); err != nil || done.Kept != 1 {
		t.Errorf("Seed: %+v, %v", done, err)
	}
	means(t, w.f, "", 0)

	do(t, event.Created)(w.put("städning", 40))
	means(t, w.f, "städning", 0)
	refused(t, event.ErrSuperseded)(w.forget(50)) // its redelivery takes nothing away
	means(t, w.f, "städning", 0)
	do(t, event.Created)(w.forget(30))
	do(t, event.Created)(w.correct("torkning", 20))
	means(t, w.f, "torkning", 0)
}

// Law: in any order of arrival, and with every event delivered twice, the last
// event decides the name.
func TestCorrectionsConverge(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			do(t, event.Created)(w.put("seven", 60))
			order := []int{10, 20, 30, 40, 50, 10, 20, 30, 40, 50}
			rand.New(rand.NewPCG(seed, 0)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			for _, minutesAgo := range order {
				var err error
				if minutesAgo%20 == 0 {
					_, err = w.forget(minutesAgo)
				} else {
					_, err = w.correct(fmt.Sprint(minutesAgo), minutesAgo)
				}
				if err != nil && !errors.Is(err, event.ErrSuperseded) && !errors.Is(err, alias.ErrNotFound) {
					t.Fatal(err)
				}
			}
			means(t, w.f, "10", 0)
		})
	}
}

// writers is how many write at once.
const writers = 12

func TestPutsSideBySideHaveOneOwner(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	created, owners := make([]bool, writers), make([]string, writers)
	sideBySide(writers, func(i int) {
		out, err := w.put(fmt.Sprint(i), 60)
		var taken *alias.TakenError
		switch {
		case errors.As(err, &taken):
			owners[i] = taken.Owner
		case err != nil:
			t.Error(err)
		default:
			created[i], owners[i] = out == event.Created, fmt.Sprint(i)
		}
	})
	winners := 0
	for i := range writers {
		if created[i] {
			winners++
		}
		if owners[i] != owners[0] {
			t.Errorf("owners differ: %v", owners)
		}
	}
	if winners != 1 {
		t.Errorf("%d were Created", winners)
	}
	means(t, w.f, owners[0], 0)
}

func TestCorrectionsSideBySideEndInTheLast(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	sideBySide(writers, func(i int) {
		// Only two names, so that some correct to the current one.
		if _, err := w.correct(fmt.Sprint(i%2), 50-i); err != nil && !errors.Is(err, event.ErrSuperseded) {
			t.Error(err)
		}
	})
	means(t, w.f, fmt.Sprint((writers-1)%2), 0)
	refused(t, event.ErrSuperseded)(w.correct("x", 50-writers+2))
}

// sideBySide runs f that many times at once, and waits.
func sideBySide(times int, f func(i int)) {
	var group sync.WaitGroup
	for i := range times {
		group.Go(func() { f(i) })
	}
	group.Wait()
}

// A write whose reply was lost takes effect once; the second try only sees that
// it took effect before.
func TestLostReplies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, op      string
		before        func(writer)
		write         func(writer) (event.Outcome, error)
		want          string
		confirmations int64
	}{
		{"Put", "UpdateItem", func(writer) {}, func(w writer) (event.Outcome, error) { return w.put("diskning", 50) }, "diskning", 0},
		{
			"Confirm", "UpdateItem", func(w writer) { do(w.t, event.Created)(w.put("diskning", 60)) },
			func(w writer) (event.Outcome, error) { return w.confirm("diskning", 50) }, "diskning", 1,
		},
		{
			"Correct", "UpdateItem", func(w writer) { do(w.t, event.Created)(w.put("diskning", 60)) },
			func(w writer) (event.Outcome, error) { return w.correct("torkning", 50) }, "torkning", 0,
		},
		{
			"Forget", "UpdateItem", func(w writer) { do(w.t, event.Created)(w.put("diskning", 60)) },
			func(w writer) (event.Outcome, error) { return w.forget(50) }, "", 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			c.before(w)
			w.f.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: c.op})
			do(t, event.Duplicate)(c.write(w))
			means(t, w.f, c.want, c.confirmations)
			do(t, event.Duplicate)(c.write(w))
			means(t, w.f, c.want, c.confirmations)
		})
	}
}

// refusesAll fails the test for each call that is not refused before any
// request, or whose error names another field.
func refusesAll(t *testing.T, f fixture, field string, calls ...func() error) {
	t.Helper()
	for i, call := range calls {
		var err error
		cost := f.db.Meter(func() { err = call() })
		recordtest.WantBad(t, err, "alias", field, "call", i)
		if cost.Requests != 0 {
			t.Errorf("%s %d: sent %v", field, i, cost)
		}
	}
}

var long = strings.Repeat("x", 2049)

func TestBadScope(t *testing.T) {
	t.Parallel()
	f := open(t)
	ctx, ev := t.Context(), eventAt(t, 60)
	refusesAll(t, f, "Scope",
		func() error { _, err := f.Put(ctx, alias.Put{Phrase: "x", Name: "y", Event: ev}); return err },
		func() error {
			_, err := f.Put(ctx, alias.Put{Scope: "\xff", Phrase: "x", Name: "y", Event: ev})
			return err
		},
		func() error {
			_, err := f.Put(ctx, alias.Put{Scope: long[:2040], Phrase: "x", Name: "y", Event: ev})
			return err
		},
		func() error { _, err := f.Seed(ctx, "", map[string]string{"x": "y"}); return err },
		func() error { _, err := f.All(ctx, ""); return err },
		func() error { _, err := f.All(ctx, long); return err },
		func() error { _, err := f.Refresh(ctx, ""); return err },
		func() error { _, _, err := f.Resolve(ctx, "", "x"); return err },
		func() error { _, _, err := f.Get(ctx, "", "x"); return err },
		func() error { _, err := f.Match(ctx, "", "x"); return err },
		func() error { _, err := f.PhrasesOf(ctx, "", "x"); return err },
		func() error { _, err := f.Adopt(ctx, ""); return err },
		func() error { _, err := f.Erase(ctx, ""); return err },
		func() error { _, err := f.Erase(ctx, long); return err },
	)
}

func TestBadPhrase(t *testing.T) {
	t.Parallel()
	f := open(t)
	ctx, ev := t.Context(), eventAt(t, 60)
	refusesAll(t, f, "Phrase",
		func() error { _, err := f.Put(ctx, alias.Put{Scope: chat, Name: "y", Event: ev}); return err },
		func() error { _, err := f.Confirm(ctx, alias.Confirm{Scope: chat, Name: "y", Event: ev}); return err },
		func() error { _, err := f.Correct(ctx, alias.Correct{Scope: chat, Name: "y", Event: ev}); return err },
		func() error { _, err := f.Forget(ctx, alias.Forget{Scope: chat, Event: ev}); return err },
		func() error { _, _, err := f.Resolve(ctx, chat, " "); return err },
		func() error { _, _, err := f.Get(ctx, chat, " "); return err },
	)
}

func TestBadName(t *testing.T) {
	t.Parallel()
	f := open(t)
	ctx, ev := t.Context(), eventAt(t, 60)
	refusesAll(t, f, "Name",
		func() error { _, err := f.Put(ctx, alias.Put{Scope: chat, Phrase: "x", Event: ev}); return err },
		func() error {
			_, err := f.Put(ctx, alias.Put{Scope: chat, Phrase: "x", Name: long[:1025], Event: ev})
			return err
		},
		func() error { _, err := f.Confirm(ctx, alias.Confirm{Scope: chat, Phrase: "x", Event: ev}); return err },
		func() error {
			_, err := f.Correct(ctx, alias.Correct{Scope: chat, Phrase: "x", Name: "\xff", Event: ev})
			return err
		},
		func() error { _, err := f.PhrasesOf(ctx, chat, ""); return err },
	)
}

func TestBadEventOrActor(t *testing.T) {
	t.Parallel()
	f := open(t)
	ctx, ev := t.Context(), eventAt(t, 60)
	ahead, err := event.New(monday.Add(61*time.Minute), "telegram", "8")
	if err != nil {
		t.Fatal(err)
	}
	refusesAll(t, f, "Event",
		func() error { _, err := f.Put(ctx, alias.Put{Scope: chat, Phrase: "x", Name: "y"}); return err },
		func() error {
			_, err := f.Put(ctx, alias.Put{Scope: chat, Phrase: "x", Name: "y", Event: ahead})
			return err
		},
		func() error {
			_, err := f.Confirm(ctx, alias.Confirm{Scope: chat, Phrase: "x", Name: "y", Event: ahead})
			return err
		},
		func() error {
			_, err := f.Correct(ctx, alias.Correct{Scope: chat, Phrase: "x", Name: "y", Event: ahead})
			return err
		},
		func() error {
			_, err := f.Forget(ctx, alias.Forget{Scope: chat, Phrase: "x", Event: recordtest.Bound(ev)})
			return err
		},
	)
	refusesAll(t, f, "Actor",
		func() error {
			_, err := f.Put(ctx, alias.Put{Scope: chat, Phrase: "x", Name: "y", Event: ev, Actor: long})
			return err
		},
		func() error {
			_, err := f.Correct(ctx, alias.Correct{Scope: chat, Phrase: "x", Name: "y", Event: ev, Actor: "\xff"})
			return err
		},
	)
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
		NamedBy: put.Event, CreatedAt: monday, UpdatedAt: monday,
	}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}
