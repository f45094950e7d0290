package counter_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
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

// Many rows, and each request loses its reply or is lost: what is answered is
// what is gone, and calling again finds the rest.
func TestEraseOfManyRows(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"Query", "BatchWriteItem"} {
		for nth := 1; nth <= 3; nth++ {
			for _, do := range []dynamotest.Effect{dynamotest.LoseReply, dynamotest.LoseRequest} {
				if op == "Query" && nth > 1 {
					continue // it sends one
				}
				e := open(t, counter.Config{})
				const days = 60
				for back := range days {
					e.put(t, ddb.Item{"chatId": item.S(chat), "date": item.S(day.AddDays(-back).String()), "count": item.N(1)})
				}
				e.db.Inject(dynamotest.Fault{Do: do, Op: op, Nth: nth, Times: -1})
				name := fmt.Sprintf("%v of %s %d", do, op, nth)
				first, err := e.Erase(t.Context(), chat)
				if err == nil {
					t.Errorf("%s: no reply, no error", name)
				}
				e.db.Heal()
				gone := 0
				for back := range days {
					if e.row(t, day.AddDays(-back)) == nil {
						gone++
					}
				}
				if first > gone || do == dynamotest.LoseRequest && first != gone {
					t.Errorf("%s: %d answered, %d gone", name, first, gone)
				}
				e.erase(t, chat, days-gone)
			}
		}
	}
}

// Writers go on meanwhile: what they write is a row of its own, with nothing in
// it of what stood before.
func TestEraseBesideWriters(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	old := make([]event.Event, 10)
	for i := range old {
		old[i] = message(t, noon, fmt.Sprint("old ", i))
		e.take(t, old[i], 100)
	}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 20 {
				if _, err := e.Take(t.Context(), counter.Take{Key: chat, Event: message(t, noon, fmt.Sprint(w, i)), Weight: 1, Cap: 100}); err != nil {
					t.Error(err)
				}
				// An old event is not touched again, except by a refund that finds
				// nothing.
				if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: old[0], Weight: 7}); err == nil {
					t.Error("a refund of another weight")
				}
			}
		})
	}
	wg.Go(func() {
		for {
			n, err := e.Erase(t.Context(), chat)
			if err != nil {
				t.Error(err)
			}
			if n > 0 {
				return
			}
		}
	})
	wg.Wait()
	row := e.row(t, day)
	for _, ev := range old {
		if _, there := row["e_"+ev.String()]; there {
			t.Errorf("%s is still recorded", ev)
		}
	}
	count := e.get(t, day)
	if held, n := sum(t, row); count.Used != held || count.Recorded != n {
		t.Errorf("Get = %+v, the row holds %d of %d events", count, held, n)
	}
	for count.Recorded > 0 { // and erased once more it is empty
		if _, err := e.Erase(t.Context(), chat); err != nil {
			t.Fatal(err)
		}
		count = e.get(t, day)
	}
	if _, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: old[0], Weight: 1}); !errors.Is(err, counter.ErrNotFound) {
		t.Errorf("Refund of what was erased: %v, want ErrNotFound", err)
	}
}
