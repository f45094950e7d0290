package alias_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// erased fails the test unless Erase deletes that many rows.
func erased(w writer, want int) {
	w.t.Helper()
	if got, err := w.f.Erase(w.t.Context(), chat); got != want || err != nil {
		w.t.Errorf("Erase: %d, %v; want %d", got, err, want)
	}
}

func TestErase(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	people := w.f.another(t, func(c *alias.Config) { c.Prefix = "NAME" })
	do(t, event.Created)(people.Put(t.Context(), alias.Put{Scope: chat, Phrase: "Åsa", Name: "42", Event: eventAt(t, 60)}))
	other := alias.Put{Scope: chat + "4", Phrase: "x", Name: "y", Event: eventAt(t, 60)}
	do(t, event.Created)(w.f.Put(t.Context(), other))
	for i := range 30 { // two pages
		w.f.write(t, with(golden(t, "older"), map[string]any{"sk": s(fmt.Sprint("pant ", i)), "note": s(strings.Repeat("x", 40<<10))}))
	}
	do(t, event.Created)(w.put("diskning", 60))
	refused(t, alias.ErrNotFound)(w.f.Forget(t.Context(), alias.Forget{Scope: chat, Phrase: "glömt", Event: eventAt(t, 60)}))
	w.f.resolves(t, chat, "ta disken", "diskning") // fills the cache
	w.f.write(t, with(golden(t, "older"), map[string]any{"sk": s("PANT")}))

	erased(w, 33)
	w.f.resolves(t, chat, "ta disken", "")
	erased(w, 0)
	if all, err := w.f.Refresh(t.Context(), chat); err != nil || len(all) != 0 {
		t.Errorf("Refresh: %v, %v", all, err)
	}
	if all, err := w.f.PhrasesOf(t.Context(), chat, "pantning"); err != nil || len(all) != 0 {
		t.Errorf("PhrasesOf: %v, %v", all, err)
	}
	if a, ok, err := people.Get(t.Context(), chat, "åsa"); err != nil || !ok || a.Name != "42" {
		t.Errorf("another prefix: %v, %v, %v", a, ok, err)
	}
	w.f.resolves(t, chat+"4", "x", "y")
	_, err := w.f.Erase(t.Context(), "")
	recordtest.WantBad(t, err, "alias", "scope")
	// Erase also removed the event of the forgotten phrase.
	do(t, event.Created)(w.f.Put(t.Context(), alias.Put{Scope: chat, Phrase: "glömt", Name: "x", Event: eventAt(t, 70)}))
}
