package counter_test

import (
	"errors"
	"testing"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
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
		if count, err := e.Get(t.Context(), key, day); err != nil || count.Used != 1 {
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

// Writers go on meanwhile: what they write is a row of its own, with nothing in
// it of what stood before.
func TestEraseBesideWriters(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	old := message(t, noon, "old")
	e.take(t, old, 100)
	e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "BatchWriteItem"})
	e.db.Inject(dynamotest.Fault{Op: "BatchWriteItem", Do: dynamotest.After(func() { e.take(t, message(t, noon, "lost"), 100) })})
	e.db.Inject(dynamotest.Fault{Op: "BatchWriteItem", Nth: 2, Do: dynamotest.After(func() { e.take(t, message(t, noon, "new"), 100) })})
	if n, err := e.Erase(t.Context(), chat); err != nil || n == 0 {
		t.Errorf("Erase = %d, %v", n, err)
	}
	row := e.row(t, day)
	if len(row) != 7 || row["e_"+message(t, noon, "new").String()] == nil {
		t.Errorf("the row is %v", row)
	}
	if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: old, Weight: 1}); !errors.Is(err, counter.ErrNotFound) {
		t.Errorf("Refund of what was erased: %v, want ErrNotFound", err)
	}
	e.erase(t, chat, 1)
}
