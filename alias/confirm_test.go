package alias_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
)

func TestConfirmCountsAnEventOnceInAnyOrder(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	refused(t, alias.ErrNotFound)(w.confirm("diskning", 65))
	do(t, event.Created)(w.put("diskning", 60))
	do(t, event.Created)(w.confirm("diskning", 60)) // "ja" teaches and confirms
	do(t, event.Duplicate)(w.confirm("diskning", 60))
	do(t, event.Created)(w.confirm("diskning", 40))
	do(t, event.Created)(w.confirm("diskning", 50)) // arrives late
	for _, minutesAgo := range []int{60, 40, 50} {
		do(t, event.Duplicate)(w.confirm("diskning", minutesAgo))
	}
	refused(t, event.ErrSuperseded)(w.confirm("diskning", 61)) // the phrase was not taught yet
	means(t, w.f, "diskning", 3)
}

// confirmed has a phrase that was confirmed 8 times, 11 to 18 minutes ago.
func confirmed(t testing.TB) writer { return confirmedIn(newWriter(t)) }

func confirmedIn(w writer) writer {
	w.t.Helper()
	do(w.t, event.Created)(w.put("diskning", 60))
	for _, minutesAgo := range []int{14, 11, 18, 12, 17, 13, 16, 15} {
		do(w.t, event.Created)(w.confirm("diskning", minutesAgo))
	}
	return w
}

func TestConfirmRemembersTheEightGreatest(t *testing.T) {
	t.Parallel()
	w := confirmed(t)
	refused(t, event.ErrTooOld)(w.confirm("diskning", 19)) // may have been counted
	do(t, event.Duplicate)(w.confirm("diskning", 18))
	do(t, event.Created)(w.confirm("diskning", 10))
	refused(t, event.ErrTooOld)(w.confirm("diskning", 18)) // was evicted from the set
	do(t, event.Duplicate)(w.confirm("diskning", 17))
	means(t, w.f, "diskning", 9)
	var want []event.Event
	for minutesAgo := 10; minutesAgo < 18; minutesAgo++ {
		want = append(want, eventAt(t, minutesAgo))
	}
	if diff := cmp.Diff(events(want...), w.f.stored(t, "ALIAS#-100123", "ta disken")["confirmers"]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	owner(t, "diskning")(w.confirm("torkning", 5))
	owner(t, "diskning")(w.confirm("torkning", 40)) // in spite of the remembered events
}

// Another name is counted from 0, by its own events; the same name keeps its
// count.
func TestCorrectAndTheConfirmations(t *testing.T) {
	t.Parallel()
	w := confirmed(t)
	do(t, event.Created)(w.correct("diskning", 30))
	do(t, event.Duplicate)(w.confirm("diskning", 14))
	refused(t, event.ErrTooOld)(w.confirm("diskning", 20))
	means(t, w.f, "diskning", 8)
	do(t, event.Created)(w.correct("torkning", 29))
	if row := w.f.stored(t, "ALIAS#-100123", "ta disken"); row["confirmers"] != nil {
		t.Errorf("stored: %v", row)
	}
	do(t, event.Created)(w.confirm("torkning", 20))
	do(t, event.Created)(w.confirm("torkning", 14)) // it also confirmed another name
	means(t, w.f, "torkning", 2)
}

// A row of format 1 knows only the last event it counted: earlier ones may have
// been counted.
func TestConfirmedByOfFormat1(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	old := with(golden(t, "put"), map[string]any{"confirmations": n("3"), "confirmedBy": s(eventAt(t, 40).String()), "namedBy": s(eventAt(t, 90).String())})
	w.f.write(t, old)
	do(t, event.Duplicate)(w.confirm("diskning", 40))
	refused(t, event.ErrTooOld)(w.confirm("diskning", 50))
	owner(t, "diskning")(w.confirm("torkning", 50))       // which the row cannot have counted
	for minutesAgo := 30; minutesAgo > 20; minutesAgo-- { // past a full set
		do(t, event.Created)(w.confirm("diskning", minutesAgo))
		do(t, event.Duplicate)(w.confirm("diskning", minutesAgo))
		do(t, event.Duplicate)(w.confirm("diskning", 40))
		refused(t, event.ErrTooOld)(w.confirm("diskning", 50))
	}
	means(t, w.f, "diskning", 13)
	do(t, event.Created)(w.correct("torkning", 60))
	if row := w.f.stored(t, "ALIAS#-100123", "ta disken"); row["confirmedBy"] != nil {
		t.Errorf("stored: %v", row)
	}
	do(t, event.Created)(w.confirm("torkning", 50))
	means(t, w.f, "torkning", 1)
}

// A writer of format 1 beside this one moves confirmedBy, and its Forget leaves
// the set of events.
func TestConfirmBesideFormat1(t *testing.T) {
	t.Parallel()
	w := confirmed(t)
	row := w.f.stored(t, "ALIAS#-100123", "ta disken")
	w.f.write(t, with(row, map[string]any{"confirmedBy": s(eventAt(t, 9).String()), "confirmations": n("9")}))
	do(t, event.Duplicate)(w.confirm("diskning", 9))
	refused(t, event.ErrTooOld)(w.confirm("diskning", 10))
	do(t, event.Created)(w.confirm("diskning", 8))
	means(t, w.f, "diskning", 10)

	left := with(golden(t, "forgotten"), map[string]any{"confirmers": row["confirmers"], "namedBy": s(eventAt(t, 59).String())})
	w.f.write(t, left)
	do(t, event.Created)(w.put("torkning", 50))
	do(t, event.Created)(w.confirm("torkning", 14))
	means(t, w.f, "torkning", 1)
}

func TestConfirmsSideBySideCountOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open func(testing.TB) writer
		most int64
	}{
		"fewer than are remembered": {func(t testing.TB) writer {
			w := newWriter(t)
			do(t, event.Created)(w.put("diskning", 60))
			return w
		}, 6},
		"a full set": {confirmed, 14},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := c.open(t)
			before, _, err := w.f.Get(t.Context(), chat, "ta disken")
			if err != nil {
				t.Fatal(err)
			}
			counted := make([]int64, 18)
			sideBySide(18, func(i int) { // each of 6 events three times
				out, err := w.confirm("diskning", 1+i%6)
				if err != nil {
					t.Error(err)
				}
				if out == event.Created {
					counted[i] = 1
				}
			})
			sum := before.Confirmations
			for _, c := range counted {
				sum += c
			}
			if sum != c.most {
				t.Errorf("%d were counted, want %d", sum, c.most)
			}
			means(t, w.f, "diskning", c.most)
		})
	}
}

// A confirmation of a full set is two updates, and another write may come between.
func TestConfirmMeetsAnother(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		other func(w writer)
		want  string
		name  string
		count int64
	}{
		"another confirmation":    {func(w writer) { do(w.t, event.Created)(w.confirm("diskning", 4)) }, "created", "diskning", 10},
		"the same":                {func(w writer) { do(w.t, event.Created)(w.confirm("diskning", 5)) }, "duplicate", "diskning", 9},
		"a correction":            {func(w writer) { do(w.t, event.Created)(w.correct("torkning", 50)) }, "taken by torkning", "torkning", 0},
		"a later correction":      {func(w writer) { do(w.t, event.Created)(w.correct("diskning", 4)) }, "superseded", "diskning", 8},
		"a Forget":                {func(w writer) { do(w.t, event.Created)(w.forget(50)) }, "not found", "", 0},
		"there and back":          {func(w writer) { thereAndBack(w) }, "created", "diskning", 1},
		"all that is remembered":  {func(w writer) { many(w, 4, 3, 2, 1, 0, -1, -2, -3) }, "too old", "diskning", 16},
		"all but one":             {func(w writer) { many(w, 4, 3, 2, 1, 0, -1, -2) }, "created", "diskning", 16},
		"a count by format 1":     {func(w writer) { format1(w, 5) }, "duplicate", "diskning", 9},
		"a later one by format 1": {func(w writer) { format1(w, 4) }, "too old", "diskning", 9},
		"an earlier by format 1":  {func(w writer) { format1(w, 6) }, "created", "diskning", 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := confirmed(t)
			w.f.db.Inject(dynamotest.Fault{Do: dynamotest.Before(func() { c.other(w) }), Op: "UpdateItem", Nth: 2})
			got := answered(w.f.another(t, nil).Confirm(t.Context(), alias.Confirm{Scope: chat, Phrase: "ta disken", Name: "diskning", Event: eventAt(t, 5)}))
			if got != c.want {
				t.Errorf("answered %q, want %q", got, c.want)
			}
			means(t, w.f, c.name, c.count)
		})
	}
}

func thereAndBack(w writer) {
	do(w.t, event.Created)(w.correct("torkning", 50))
	do(w.t, event.Created)(w.correct("diskning", 45))
}

func many(w writer, minutesAgo ...int) {
	for _, m := range minutesAgo {
		do(w.t, event.Created)(w.confirm("diskning", m))
	}
}

// format1 confirms as a writer of format 1 does.
func format1(w writer, minutesAgo int) {
	row := w.f.stored(w.t, "ALIAS#-100123", "ta disken")
	w.f.write(w.t, with(row, map[string]any{"confirmations": n("9"), "confirmedBy": s(eventAt(w.t, minutesAgo).String())}))
}

// A row that changes during each try ends in an error, not in a guess.
func TestConfirmGivesUp(t *testing.T) {
	bubble(t, func(t *testing.T, w writer) {
		confirmedIn(w)
		at := 10
		w.f.db.Inject(dynamotest.Fault{Op: "UpdateItem", Times: -1, Do: dynamotest.Before(func() {
			do(t, event.Created)(w.confirm("diskning", at))
			at--
		})})
		out, err := w.f.another(t, nil).Confirm(t.Context(), alias.Confirm{Scope: chat, Phrase: "ta disken", Name: "diskning", Event: eventAt(t, -30)})
		want := "alias: Confirm on table " + w.f.table + ": the row kept changing"
		if out != 0 || err == nil || err.Error() != want {
			t.Errorf("got %v, %v; want %s", out, err, want)
		}
		means(t, w.f, "diskning", 18) // the ten others
	})
}

// Each of the two updates may lose its request or its reply, once or for good.
func TestConfirmOfAFullSetLosesReplies(t *testing.T) {
	t.Parallel()
	for nth := 1; nth <= 2; nth++ {
		for _, effect := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest} {
			t.Run(fmt.Sprint(effect, nth), func(t *testing.T) {
				t.Parallel()
				w := confirmed(t)
				w.f.db.Inject(dynamotest.Fault{Do: effect, Op: "UpdateItem", Nth: nth})
				want := event.Created
				if nth == 2 && effect == dynamotest.LoseReply {
					want = event.Duplicate // it cannot know that it was this call
				}
				do(t, want)(w.confirm("diskning", 5))
				do(t, event.Duplicate)(w.confirm("diskning", 5))
				means(t, w.f, "diskning", 9)
			})
		}
	}
}

// A caller that never gets the reply, and calls again.
func TestConfirmComesAgain(t *testing.T) {
	t.Parallel()
	for nth := 1; nth <= 2; nth++ {
		w := confirmed(t)
		w.f.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: nth})
		single := fixture{w.f.through(t, once(w.f.db.Client()), nil), w.f.db, w.f.table}
		if _, err := (writer{t, single}).confirm("diskning", 5); err == nil {
			t.Fatal("no error")
		}
		out, err := w.confirm("diskning", 5)
		if err != nil || (out == event.Created) != (nth == 1) {
			t.Errorf("%d: %v, %v", nth, out, err)
		}
		means(t, w.f, "diskning", 9)
	}
}

// A set that this package cannot have written is an error, too.
func TestUnreadableConfirmers(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]map[string]any{
		"no event": set([]byte("short")), "no set": s("x"),
	} {
		w := newWriter(t)
		w.f.write(t, with(golden(t, "put"), map[string]any{"confirmers": value, "confirmations": n("1")}))
		if got, err := w.f.All(t.Context(), chat); err == nil {
			t.Errorf("%s: All: %v", name, got)
		}
		if out, err := w.confirm("torkning", 5); err == nil || errors.Is(err, event.ErrTooOld) {
			t.Errorf("%s: Confirm: %v, %v", name, out, err)
		}
	}
}
