package alias_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/event"
)

// noted returns a store that notes what it could not read, on a table with an
// unreadable row under the sort key.
func noted(t *testing.T, key string) (f fixture, reasons func() []string) {
	t.Helper()
	f = open(t)
	var mu sync.Mutex
	var all []string
	f.Store = f.another(t, func(c *alias.Config) {
		c.OnUnreadable = func(err error) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, err.Error())
		}
	})
	f.write(t, golden(t, "put"))
	f.write(t, with(golden(t, "older"), map[string]any{"sk": s(key), "createdAt": s("yesterday")}))
	return f, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

func TestUnreadableRowsAreSkipped(t *testing.T) {
	t.Parallel()
	f, reasons := noted(t, "pant")
	f.resolves(t, chat, "ta disken", "diskning")
	f.resolves(t, chat, "pant", "")
	if got := reasons(); len(got) != 1 || !strings.Contains(got[0], "a stored item cannot be read") {
		t.Errorf("reasons: %q", got)
	}
	for name, ask := range map[string]func() ([]alias.Alias, error){
		"All":     func() ([]alias.Alias, error) { return f.All(t.Context(), chat) },
		"Refresh": func() ([]alias.Alias, error) { return f.Refresh(t.Context(), chat) },
	} {
		if got, err := ask(); err != nil || len(got) != 1 || got[0].Name != "diskning" {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, err := f.Match(t.Context(), chat, "panta, pant och ta disken"); err != nil || len(got) != 1 {
		t.Errorf("Match: %v, %v", got, err)
	}
	if got, err := f.PhrasesOf(t.Context(), chat, "pantning"); err != nil || len(got) != 0 {
		t.Errorf("PhrasesOf: %v, %v", got, err)
	}
	do(t, event.Created)(f.Put(t.Context(), alias.Put{Scope: chat, Phrase: "torka", Name: "torkning", Event: eventAt(t, 60)}))
	if done, err := f.Seed(t.Context(), chat, map[string]string{"pant": "x", "diska": "diskning"}); err != nil || done != 1 {
		t.Errorf("Seed: %d, %v", done, err)
	}
	// A call about exactly that phrase fails.
	_, _, errGet := f.Get(t.Context(), chat, "pant")
	_, errPut := f.Put(t.Context(), alias.Put{Scope: chat, Phrase: "pant", Name: "x", Event: eventAt(t, 60)})
	for name, err := range map[string]error{"Get": errGet, "Put": errPut} {
		if err == nil || !strings.Contains(err.Error(), "a stored item cannot be read") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
