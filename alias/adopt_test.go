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

// adopts fails the test unless Adopt rewrites that many rows.
func (f fixture) adopts(t testing.TB, want int) {
	t.Helper()
	if got, err := f.Adopt(t.Context(), chat); got != want || err != nil {
		t.Fatalf("Adopt: %d, %v; want %d", got, err, want)
	}
}

// rows are all items of the chat, by sort key.
func (f fixture) rows(t testing.TB, phrases ...string) map[string]map[string]any {
	t.Helper()
	rows := map[string]map[string]any{}
	for _, phrase := range phrases {
		if row := f.stored(t, "ALIAS#-100123", phrase); len(row) > 0 {
			rows[phrase] = row
		}
	}
	return rows
}

func TestAdopt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ older, phrase string }{
		"a variation selector": {"❤\ufe0f", "❤"},
		"decomposed":           {"tva\u0308tt", "tvätt"},
		"folded longer":        {"STRAßE", "strasse"},
	} {
		f := open(t)
		f.write(t, with(golden(t, "older"), map[string]any{"sk": s(c.older)}))
		f.resolves(t, chat, c.phrase, "pantning")
		f.adopts(t, 1)
		f.adopts(t, 0)
		want := with(golden(t, "older"), map[string]any{
			"sk": s(c.phrase), "type": s("ALIAS"), "updatedAt": s("2026-03-02T17:30:00.000Z"),
		})
		if diff := cmp.Diff(want, f.stored(t, "ALIAS#-100123", c.phrase)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		if all, err := f.PhrasesOf(t.Context(), chat, "pantning"); err != nil || len(all) != 1 {
			t.Errorf("%s: PhrasesOf: %v, %v; the older spelling is gone", name, all, err)
		}
	}
}

func TestTheFirstOfTwoOlderSpellingsCounts(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write(t, with(golden(t, "older"), map[string]any{"sk": s("PANT")}))
	f.write(t, with(golden(t, "older"), map[string]any{"sk": s("Pant"), "canonicalActivity": s("diskning")}))
	f.resolves(t, chat, "pant", "pantning")
}

// Rows of normal form 1 that differ in normal form 2: they have events, and
// some were forgotten.
func TestAdoptRowsOfNormalForm1(t *testing.T) {
	t.Parallel()
	for _, invisible := range []string{
		"\u3164", "\u115f", "\u1160", "\uffa0", "\u2800", "\u180b", "\u180d", "\u180f",
		"\U000e0001", "\U000e0061", "\U000e007f", "\U000e0100", "\U000e01ef",
	} {
		for _, adopt := range []bool{false, true} {
			t.Run(fmt.Sprintf("%+q %v", invisible, adopt), func(t *testing.T) {
				t.Parallel()
				w := newWriter(t)
				w.f.write(t, with(golden(t, "put"), map[string]any{
					"sk": s("ta disken" + invisible), "confirmations": n("1"), "confirmedBy": s(eventAt(t, 40).String()),
				}))
				if adopt {
					w.f.adopts(t, 1)
				}
				w.readAs("diskning")
				owner(t, "diskning")(w.put("torkning", 30))
				do(t, event.Duplicate)(w.put("diskning", 30))
				refused(t, event.ErrSuperseded)(w.correct("torkning", 65))
				refused(t, event.ErrSuperseded)(w.forget(65))
				do(t, event.Duplicate)(w.confirm("diskning", 40))
				do(t, event.Created)(w.confirm("diskning", 30))
				do(t, event.Created)(w.correct("torkning", 20))
				w.readAs("torkning")
			})
		}
	}
}

func TestWhatWasForgottenUnderNormalForm1(t *testing.T) {
	t.Parallel()
	for _, adopt := range []bool{false, true} {
		w := newWriter(t)
		w.f.write(t, with(golden(t, "forgotten"), map[string]any{"sk": s("ta disken\U000e0100"), "namedBy": s(eventAt(t, 50).String())}))
		if adopt {
			w.f.adopts(t, 1)
		}
		if done, err := w.f.Seed(t.Context(), chat, map[string]string{"ta disken": "x"}); err != nil || done != 0 {
			t.Errorf("Seed: %d, %v", done, err)
		}
		refused(t, alias.ErrNotFound)(w.confirm("x", 20))
		refused(t, event.ErrSuperseded)(w.put("x", 60))
		do(t, event.Duplicate)(w.forget(50))
		w.readAs("")
		do(t, event.Created)(w.put("x", 40))
		w.readAs("x")
	}
}

// How a row under an older spelling and the one in normal form are merged.
func TestAdoptMerges(t *testing.T) {
	t.Parallel()
	at := func(minutesAgo int) event.Event { return eventAt(t, minutesAgo) }
	named := func(name string, by int, changes map[string]any) map[string]any {
		row := with(golden(t, "put"), map[string]any{"canonicalActivity": s(name), "gsi1sk": s(name), "namedBy": s(at(by).String())})
		return with(row, changes)
	}
	forgotten := func(by int) map[string]any {
		return with(golden(t, "forgotten"), map[string]any{"namedBy": s(at(by).String())})
	}
	seed := golden(t, "seed")
	for name, c := range map[string]struct {
		older, normal map[string]any
		want          map[string]any // beside the times
	}{
		"the same name, learned later": {
			named("a", 40, map[string]any{"learnedFrom": s("43"), "note": s("x")}), named("a", 50, map[string]any{"other": s("y")}),
			named("a", 40, map[string]any{"learnedFrom": s("43"), "note": s("x"), "other": s("y")}),
		},
		"the same name, learned earlier": {
			named("a", 50, map[string]any{"learnedFrom": s("43"), "note": s("x")}), named("a", 40, map[string]any{"note": s("y")}),
			named("a", 40, map[string]any{"note": s("y")}),
		},
		"the same name by the same event": {
			named("a", 40, map[string]any{"learnedFrom": s("43")}), named("a", 40, nil),
			named("a", 40, nil),
		},
		"learned beats seeded": {
			with(golden(t, "older"), map[string]any{"canonicalActivity": s("diskning")}), seed,
			with(golden(t, "older"), map[string]any{"canonicalActivity": s("diskning"), "gsi1sk": s("diskning"), "type": s("ALIAS")}),
		},
		"confirmations": {
			named("a", 50, map[string]any{"confirmations": n("3"), "confirmers": events(at(30), at(20), at(10))}),
			named("a", 40, map[string]any{"confirmations": n("4"), "confirmers": events(at(25), at(20)), "confirmedBy": s(at(30).String())}),
			named("a", 40, map[string]any{
				"confirmations": n("5"), "confirmers": events(at(30), at(25), at(20), at(10)), "confirmedBy": s(at(30).String()),
			}),
		},
		"more confirmations than are remembered": {
			named("a", 50, map[string]any{"confirmations": n("6"), "confirmers": events(at(20), at(19), at(18), at(17), at(16), at(15))}),
			named("a", 40, map[string]any{"confirmations": n("5"), "confirmers": events(at(21), at(20), at(11), at(10), at(9))}),
			named("a", 40, map[string]any{
				"confirmations": n("10"),
				"confirmers":    events(at(19), at(18), at(17), at(16), at(15), at(11), at(10), at(9)),
			}),
		},
		"forgotten later":        {named("a", 50, map[string]any{"note": s("x")}), forgotten(40), with(forgotten(40), map[string]any{"note": s("x")})},
		"forgotten earlier":      {named("a", 40, nil), forgotten(50), named("a", 40, nil)},
		"forgotten in the older": {forgotten(40), named("a", 50, nil), named("a", 40, nil)},
		"forgotten twice":        {forgotten(50), forgotten(40), forgotten(40)},
		"an older system's name beside nothing": {
			with(golden(t, "older"), map[string]any{"canonicalActivity": s("a")}), with(forgotten(1), map[string]any{"namedBy": nil}),
			with(golden(t, "older"), map[string]any{"canonicalActivity": s("a"), "gsi1sk": s("a"), "type": s("ALIAS")}),
		},
		"nothing stood, forgotten by none": {named("a", 40, nil), with(forgotten(1), map[string]any{"namedBy": nil}), named("a", 40, nil)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			f.write(t, with(c.older, map[string]any{"sk": s("Ta disken")}))
			f.write(t, c.normal)
			f.adopts(t, 1)
			rows := f.rows(t, "Ta disken", "ta disken")
			want := map[string]map[string]any{"ta disken": with(c.want, map[string]any{
				"sk": s("ta disken"), "createdAt": rows["ta disken"]["createdAt"], "updatedAt": s("2026-03-02T17:30:00.000Z"),
			})}
			if diff := cmp.Diff(want, rows); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAdoptKeepsTheFirstCreatedAt(t *testing.T) {
	t.Parallel()
	early, late := s("2026-02-17T11:30:00+01:00"), s("2026-03-01T10:30:00.000Z")
	for _, c := range []struct{ older, normal, want any }{
		{early, late, early}, {late, early, early}, {nil, late, late}, {early, nil, early}, {nil, nil, nil},
	} {
		f := open(t)
		f.write(t, with(golden(t, "put"), map[string]any{"sk": s("Ta disken"), "createdAt": c.older}))
		f.write(t, with(golden(t, "put"), map[string]any{"createdAt": c.normal}))
		f.adopts(t, 1)
		if got := f.stored(t, "ALIAS#-100123", "ta disken")["createdAt"]; !cmp.Equal(got, c.want) {
			t.Errorf("%v and %v: %v", c.older, c.normal, got)
		}
	}
}

// Two names for one phrase are reported and neither is lost; the rest is adopted.
func TestAdoptReportsAnotherName(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write(t, with(golden(t, "older"), map[string]any{"sk": s("TA DISKEN")}))
	f.write(t, with(golden(t, "older"), map[string]any{"sk": s("Ta panten")}))
	f.write(t, with(golden(t, "older"), map[string]any{"sk": s("ta  panten"), "canonicalActivity": s("x"), "gsi1sk": s("x")}))
	f.write(t, golden(t, "put"))
	before := f.rows(t, "TA DISKEN", "ta disken", "ta  panten")

	adopted, err := f.Adopt(t.Context(), chat)
	var left *event.LeftoverError
	if !errors.As(err, &left) || adopted != 1 || len(left.Leftovers) != 2 {
		t.Fatalf("Adopt: %d, %v", adopted, err)
	}
	for i, want := range []struct{ key, owner string }{{"TA DISKEN", "diskning"}, {"ta  panten", "pantning"}} {
		var taken *alias.TakenError
		if got := left.Leftovers[i]; got.Key != want.key || !errors.As(got.Err, &taken) || taken.Owner != want.owner {
			t.Errorf("%d: %+v, want %v", i, got, want)
		}
	}
	if diff := cmp.Diff(before, f.rows(t, "TA DISKEN", "ta disken", "ta  panten")); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
}

// Rows without a normal form stay, and so do other scopes.
func TestAdoptLeavesTheRestAlone(t *testing.T) {
	t.Parallel()
	f := open(t)
	f.write(t, with(golden(t, "older"), map[string]any{"sk": s("di\x01sk")}))
	f.write(t, with(golden(t, "older"), map[string]any{"sk": s("\u3164")}))
	f.write(t, with(golden(t, "older"), map[string]any{"sk": s("PANT"), "pk": s("ALIAS#-1001234")}))
	f.write(t, with(golden(t, "older"), map[string]any{"sk": s("PANT"), "pk": s("NAME#-100123")}))
	f.adopts(t, 0)
	if rows := f.rows(t, "di\x01sk", "\u3164"); len(rows) != 2 {
		t.Errorf("rows: %v", rows)
	}
	if all, err := f.All(t.Context(), chat); err != nil || len(all) != 2 {
		t.Errorf("All: %v, %v", all, err)
	}
}

// Adopt notices what another writer changes between its reads and its
// transaction.
func TestAdoptMeetsAnother(t *testing.T) {
	t.Parallel()
	olderRow := func(changes map[string]any) map[string]any {
		return with(with(golden(t, "older"), map[string]any{"sk": s("TA DISKEN")}), changes)
	}
	for name, c := range map[string]struct {
		write        func(writer)
		adopted      int
		meaning      string
		transactions int
		taken        bool
	}{
		"an older writer renames it":   {func(w writer) { w.f.write(w.t, olderRow(map[string]any{"canonicalActivity": s("x")})) }, 1, "x", 2, false},
		"an older writer adds to it":   {func(w writer) { w.f.write(w.t, olderRow(map[string]any{"confirmedBy": s(eventAt(t, 9).String())})) }, 1, "pantning", 2, false},
		"it is adopted":                {func(w writer) { w.f.adopts(w.t, 1) }, 0, "pantning", 1, false},
		"it is adopted and corrected":  {func(w writer) { do(w.t, event.Created)(w.correct("x", 5)) }, 0, "x", 1, false},
		"the normal form is confirmed": {func(w writer) { w.f.write(w.t, golden(w.t, "put")) }, 0, "diskning", 1, true},
		"it is erased":                 {func(w writer) { erased(w, 1) }, 0, "", 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			w.f.write(t, olderRow(nil))
			w.f.db.Inject(dynamotest.Fault{Do: dynamotest.Before(func() { c.write(w) }), Op: "TransactWriteItems"})
			ctx, meter := dynamotest.WithMeter(t.Context())
			adopted, err := w.f.another(t, nil).Adopt(ctx, chat)
			if _, taken := errors.AsType[*alias.TakenError](err); adopted != c.adopted || taken != c.taken || err != nil && !taken {
				t.Errorf("Adopt: %d, %v", adopted, err)
			}
			if n := meter.Cost().ByOp["TransactWriteItems"]; n != c.transactions {
				t.Errorf("%d transactions", n)
			}
			if got, _, err := w.f.Get(t.Context(), chat, "ta disken"); err != nil || got.Name != c.meaning {
				t.Errorf("Get: %+v, %v; want %q", got, err, c.meaning)
			}
		})
	}
}

// A row that another call adopts and corrects between Adopt's reads is not a
// leftover: the two names never existed side by side.
func TestAdoptReadsWhatAnotherMakesOfIt(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(writer){
		"adopted and corrected": func(w writer) { do(w.t, event.Created)(w.correct("x", 5)) },
		"adopted":               func(w writer) { w.f.adopts(w.t, 1) },
	} {
		for nth := 1; nth <= 2; nth++ {
			t.Run(fmt.Sprint(name, " after read ", nth), func(t *testing.T) {
				t.Parallel()
				w := newWriter(t)
				w.f.write(t, with(golden(t, "older"), map[string]any{"sk": s("TA DISKEN")}))
				w.f.db.Inject(dynamotest.Fault{Do: dynamotest.After(func() { write(w) }), Op: "GetItem", Nth: nth})
				if adopted, err := w.f.another(t, nil).Adopt(t.Context(), chat); adopted != 0 || err != nil {
					t.Errorf("Adopt: %d, %v", adopted, err)
				}
			})
		}
	}
}

// The same with a row in normal form that changes.
func TestMergeMeetsAnother(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	w.f.write(t, golden(t, "put"))
	w.f.write(t, with(golden(t, "put"), map[string]any{"sk": s("TA DISKEN"), "confirmations": n("5")}))
	w.f.db.Inject(dynamotest.Fault{Do: dynamotest.Before(func() { do(t, event.Created)(w.confirm("diskning", 5)) }), Op: "TransactWriteItems"})
	ctx, meter := dynamotest.WithMeter(t.Context())
	adopted, err := w.f.another(t, nil).Adopt(ctx, chat)
	if n := meter.Cost().ByOp["TransactWriteItems"]; adopted != 1 || err != nil || n != 2 {
		t.Errorf("Adopt: %d, %v in %d transactions", adopted, err, n)
	}
	means(t, w.f, "diskning", 6)
}

// A Confirm that finds no row because another process is just adopting it
// counts. If only its book shows a row, which is deleted by now, it is not
// found.
func TestConfirmMeetsAnAdoption(t *testing.T) {
	t.Parallel()
	for name, warm := range map[string]bool{"cold": false, "warm": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWriter(t)
			w.f.write(t, with(golden(t, "older"), map[string]any{"sk": s("TA DISKEN")}))
			w.f.db.Inject(dynamotest.Fault{Do: dynamotest.After(func() { w.f.adopts(t, 1) }), Op: "UpdateItem"})
			reader := writer{t, fixture{w.f.another(t, nil), w.f.db, w.f.table}}
			if warm {
				reader.f.resolves(t, chat, "ta disken", "pantning")
			}
			do(t, event.Created)(reader.confirm("pantning", 60))
			means(t, w.f, "pantning", 3)
			erased(w, 1)
			cost := w.f.db.Meter(func() { refused(t, alias.ErrNotFound)(reader.confirm("pantning", 50)) })
			if cost.Requests != 2 { // the update, and the book for certain
				t.Errorf("%v", cost)
			}
			means(t, w.f, "", 0)
		})
	}
}

// Rows that change during each try end in an error.
func TestAdoptGivesUp(t *testing.T) {
	bubble(t, func(t *testing.T, w writer) {
		count := 0
		change := func() {
			count++
			w.f.write(t, with(golden(t, "older"), map[string]any{"sk": s("TA DISKEN"), "confirmations": n(fmt.Sprint(count))}))
		}
		change()
		w.f.db.Inject(dynamotest.Fault{Do: dynamotest.Before(change), Op: "TransactWriteItems", Times: -1})
		adopted, err := w.f.another(t, nil).Adopt(t.Context(), chat)
		want := "alias: Adopt on table " + w.f.table + ": the rows kept changing"
		if adopted != 0 || err == nil || err.Error() != want {
			t.Errorf("got %d, %v; want %s", adopted, err, want)
		}
	})
}
