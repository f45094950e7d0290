package alias_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/event"
)

// The items of testdata are the format, to the letter.
func TestGoldenItems(t *testing.T) {
	t.Parallel()
	at60, at50, at40 := eventAt(t, 60), eventAt(t, 50), eventAt(t, 40)
	put := golden(t, "put")
	for _, c := range []struct {
		name  string
		write func(t *testing.T, f fixture)
		want  map[string]any
	}{
		{"Put", func(t *testing.T, f fixture) { putDisken(t, f, at60) }, put},
		{"Put without an actor", func(t *testing.T, f fixture) {
			do(t, event.Created)(f.Put(t.Context(), alias.Put{Scope: chat, Phrase: "ta disken", Name: "diskning", Event: at60}))
		}, with(put, map[string]any{"learnedFrom": nil})},
		{"Seed", func(t *testing.T, f fixture) {
			if _, err := f.Seed(t.Context(), chat, map[string]string{"Ta  disken": "diskning"}); err != nil {
				t.Fatal(err)
			}
		}, golden(t, "seed")},
		{"Confirm", func(t *testing.T, f fixture) {
			putDisken(t, f, at60)
			do(t, event.Created)(f.Confirm(t.Context(), alias.Confirm{Scope: chat, Phrase: "ta disken", Name: "diskning", Event: at40}))
			do(t, event.Created)(f.Confirm(t.Context(), alias.Confirm{Scope: chat, Phrase: "ta disken", Name: "diskning", Event: at50}))
		}, golden(t, "confirmed")},
		{"Correct", func(t *testing.T, f fixture) {
			putDisken(t, f, at60)
			do(t, event.Created)(f.Confirm(t.Context(), alias.Confirm{Scope: chat, Phrase: "ta disken", Name: "diskning", Event: at50}))
			do(t, event.Created)(f.Correct(t.Context(), alias.Correct{Scope: chat, Phrase: "ta disken", Name: "torkning", Event: at40, Actor: "43"}))
		}, with(put, map[string]any{
			"canonicalActivity": s("torkning"), "gsi1sk": s("torkning"), "learnedFrom": s("43"),
			"namedBy": s(at40.String()),
		})},
		{"Correct of a free phrase", func(t *testing.T, f fixture) {
			do(t, event.Created)(f.Correct(t.Context(), alias.Correct{Scope: chat, Phrase: "ta disken", Name: "diskning", Event: at60, Actor: "42"}))
		}, put},
		{"Forget", func(t *testing.T, f fixture) {
			putDisken(t, f, at60)
			do(t, event.Created)(f.Confirm(t.Context(), alias.Confirm{Scope: chat, Phrase: "ta disken", Name: "diskning", Event: at50}))
			do(t, event.Created)(f.Forget(t.Context(), alias.Forget{Scope: chat, Phrase: "ta disken", Event: at40}))
		}, golden(t, "forgotten")},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			c.write(t, f)
			if diff := cmp.Diff(c.want, f.stored(t, "ALIAS#-100123", "ta disken")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAnotherPrefixIsAnotherBook(t *testing.T) {
	t.Parallel()
	f := open(t)
	people := f.another(t, func(c *alias.Config) { c.Prefix = "NAME" })
	do(t, event.Created)(people.Put(t.Context(), alias.Put{Scope: chat, Phrase: "Ta disken", Name: "diskning", Event: eventAt(t, 60), Actor: "42"}))

	want := with(golden(t, "put"), map[string]any{
		"pk": s("NAME#-100123"), "type": s("NAME"), "gsi1pk": s("NAME_BY_TARGET#-100123"),
	})
	if diff := cmp.Diff(want, f.stored(t, "NAME#-100123", "ta disken")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got, err := f.PhrasesOf(t.Context(), chat, "diskning"); err != nil || len(got) != 0 {
		t.Errorf("PhrasesOf the other book: %v, %v", got, err)
	}
}

// older is the alias that is read from the item of the TypeScript system.
var older = alias.Alias{
	Scope: chat, Phrase: "pant", Name: "pantning", Confirmations: 2, Source: alias.Learned, LearnedFrom: "42",
	CreatedAt: time.Date(2026, 2, 17, 10, 30, 0, 0, time.UTC),
}

func TestOlderItemsInEveryForm(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 17, 10, 30, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		change map[string]any
		want   func(*alias.Alias)
	}{
		"as it was":        {nil, func(*alias.Alias) {}},
		"no confirmations": {map[string]any{"confirmations": nil}, func(a *alias.Alias) { a.Confirmations = 0 }},
		"no times": {map[string]any{"createdAt": nil, "updatedAt": nil}, func(a *alias.Alias) {
			a.CreatedAt = time.Time{}
		}},
		"a number for the actor": {map[string]any{"learnedFrom": n("42")}, func(*alias.Alias) {}},
		"milliseconds":           {map[string]any{"createdAt": n("1771324200000")}, func(a *alias.Alias) { a.CreatedAt = at }},
		"seconds":                {map[string]any{"createdAt": n("1771324200")}, func(a *alias.Alias) { a.CreatedAt = at }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			f.write(t, with(golden(t, "older"), c.change))
			want := older
			c.want(&want)
			if got, err := f.All(t.Context(), chat); err != nil || !cmp.Equal(got, []alias.Alias{want}) {
				t.Errorf("All: %v, %v", got, err)
			}
			if got, ok, err := f.Get(t.Context(), chat, "Pant"); err != nil || !ok || !cmp.Equal(got, want) {
				t.Errorf("Get: %v, %v, %v", got, ok, err)
			}
		})
	}
}

// The content of an older item stays, except what the write changes.
func TestOlderItemsAreUpdatedWithoutLoss(t *testing.T) {
	t.Parallel()
	now, ev := s("2026-03-02T17:30:00.000Z"), s(eventAt(t, 60).String())
	for name, c := range map[string]struct {
		write func(t *testing.T, f fixture) (event.Outcome, error)
		want  map[string]any
	}{
		"Confirm": {func(t *testing.T, f fixture) (event.Outcome, error) {
			return f.Confirm(t.Context(), alias.Confirm{Scope: chat, Phrase: "pant", Name: "pantning", Event: eventAt(t, 60)})
		}, map[string]any{"type": s("ALIAS"), "confirmations": n("3"), "confirmers": events(eventAt(t, 60)), "updatedAt": now}},
		"Correct": {func(t *testing.T, f fixture) (event.Outcome, error) {
			return f.Correct(t.Context(), alias.Correct{Scope: chat, Phrase: "pant", Name: "återvinning", Event: eventAt(t, 60), Actor: "43"})
		}, map[string]any{
			"type": s("ALIAS"), "canonicalActivity": s("återvinning"), "gsi1sk": s("återvinning"),
			"confirmations": n("0"), "learnedFrom": s("43"), "namedBy": ev, "updatedAt": now,
		}},
		"Correct to the same": {func(t *testing.T, f fixture) (event.Outcome, error) {
			return f.Correct(t.Context(), alias.Correct{Scope: chat, Phrase: "pant", Name: "pantning", Event: eventAt(t, 60), Actor: "43"})
		}, map[string]any{"type": s("ALIAS"), "learnedFrom": s("43"), "namedBy": ev, "updatedAt": now}},
		"Forget": {func(t *testing.T, f fixture) (event.Outcome, error) {
			return f.Forget(t.Context(), alias.Forget{Scope: chat, Phrase: "pant", Event: eventAt(t, 60)})
		}, map[string]any{
			"type": s("ALIAS"), "canonicalActivity": nil, "gsi1pk": nil, "gsi1sk": nil, "confirmations": nil,
			"source": nil, "learnedFrom": nil, "namedBy": ev, "updatedAt": now,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			f.write(t, golden(t, "older"))
			do(t, event.Created)(c.write(t, f))
			if diff := cmp.Diff(with(golden(t, "older"), c.want), f.stored(t, "ALIAS#-100123", "pant")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A Put of a forgotten phrase keeps attributes that it does not know.
func TestPutKeepsWhatAForgottenItemHolds(t *testing.T) {
	t.Parallel()
	for name, actor := range map[string]string{"with an actor": "43", "without": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t)
			f.write(t, golden(t, "older"))
			do(t, event.Created)(f.Forget(t.Context(), alias.Forget{Scope: chat, Phrase: "pant", Event: eventAt(t, 60)}))
			forgotten := f.stored(t, "ALIAS#-100123", "pant")
			f.write(t, with(forgotten, map[string]any{"learnedFrom": s("of another writer"), "confirmers": events(eventAt(t, 70))}))
			put := alias.Put{Scope: chat, Phrase: "pant", Name: "återvinning", Event: eventAt(t, 50), Actor: actor}
			do(t, event.Created)(f.Put(t.Context(), put))
			want := with(golden(t, "older"), map[string]any{
				"type": s("ALIAS"), "canonicalActivity": s("återvinning"), "gsi1sk": s("återvinning"), "confirmations": n("0"),
				"namedBy": s(eventAt(t, 50).String()), "updatedAt": s("2026-03-02T17:30:00.000Z"), "learnedFrom": s(actor),
			})
			if actor == "" {
				want = with(want, map[string]any{"learnedFrom": nil})
			}
			if diff := cmp.Diff(want, f.stored(t, "ALIAS#-100123", "pant")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
