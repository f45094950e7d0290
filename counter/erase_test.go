package counter_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/counter"
)

// erase wants so many rows to have gone.
func (e *env) erase(t testing.TB, key string, want int) {
	t.Helper()
	if n, err := e.Erase(t.Context(), key); err != nil || n != want {
		t.Errorf("Erase(%q) = %d, %v, want %d", key, n, err, want)
	}
}

// All days of the key go, and nothing of its neighbours'.
func TestErase(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	for back := range 5 {
		e.take(t, message(t, noon.AddDate(0, 0, -back), 1), 3)
	}
	for _, key := range []string{chat + "4", "-10012", chat + "#2026-03-29"} {
		if _, err := e.Take(t.Context(), counter.Take{Key: key, Event: message(t, noon, 1), Weight: 1, Cap: 3}); err != nil {
			t.Fatal(err)
		}
	}
	e.erase(t, chat, 5)
	if row := e.row(t, day); row != nil {
		t.Errorf("left: %v", row)
	}
	e.erase(t, chat, 0)
	for _, key := range []string{chat + "4", "-10012", chat + "#2026-03-29"} {
		if count, err := e.Get(t.Context(), key, noon); err != nil || count.Used != 1 {
			t.Errorf("%s: %+v, %v", key, count, err)
		}
	}
	// What was erased is forgotten.
	if grant := e.take(t, message(t, noon, 1), 3); !grant.First() || grant.Used != 1 {
		t.Errorf("the event again: %+v", grant)
	}
	if row := e.row(t, day); len(row) != 7 {
		t.Errorf("what stood before the erasure is in %v", row)
	}
}
