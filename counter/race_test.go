package counter_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
)

// Many callers, every event delivered by three of them at once, replies and
// requests lost on the way: the cap is met exactly.
func TestCapUnderContention(t *testing.T) {
	t.Parallel()
	const callers, events, deliveries, most = 24, 24, 3, 3
	for round := range 5 {
		e := open(t, counter.Config{})
		e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: 1, Times: 3})
		e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "UpdateItem", Nth: 5, Times: 2})
		e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: 9, Times: 4})

		work := make(chan event.Event, events*deliveries)
		for _, i := range rand.Perm(events * deliveries) {
			work <- message(t, noon, i/deliveries)
		}
		close(work)

		var mu sync.Mutex // guards what follows
		created, granted := map[event.Event]int{}, map[event.Event]bool{}
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				for ev := range work {
					grant, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Weight: 1, Cap: most})
					if err != nil {
						t.Error(err)
						return
					}
					if grant.Used > most || grant.OK == (grant.Outcome == 0) {
						t.Errorf("grant %+v", grant)
					}
					mu.Lock()
					if grant.Outcome == event.Created {
						created[ev]++
					}
					if grant.OK {
						granted[ev] = true
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()

		if len(granted) != most || len(created) != most {
			t.Errorf("round %d: %d events granted, %d of them created, want %d", round, len(granted), len(created), most)
		}
		for ev, times := range created {
			if times != 1 {
				t.Errorf("round %d: %s was created %d times", round, ev, times)
			}
		}
		if count := e.get(t, day); count.Used != most || count.Recorded != most {
			t.Errorf("round %d: %v", round, count)
		}
		if held, n := sum(t, e.row(t, day)); held != most || n != most {
			t.Errorf("round %d: the row holds %d of %d events", round, held, n)
		}
	}
}

// Takes and refunds side by side: what is held never passes the cap, and at
// the end the count is what the row holds.
func TestRefundsUnderContention(t *testing.T) {
	t.Parallel()
	const callers, most = 8, 3
	e := open(t, counter.Config{})
	e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: 2, Times: 5})
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := range 12 {
				ev := message(t, noon, fmt.Sprint(c, "/", i))
				grant, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Weight: 1, Cap: most})
				if err != nil {
					t.Error(err)
					return
				}
				if grant.Used > most {
					t.Errorf("%d used of %d", grant.Used, most)
				}
				if !grant.OK {
					continue
				}
				total, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: 1})
				// After a lost reply Used is that of the second try: others may
				// have taken the room by then.
				if err != nil || total.Outcome != event.Created || total.Used < 0 || total.Used > most {
					t.Errorf("Refund = %+v, %v", total, err)
				}
			}
		})
	}
	wg.Wait()
	count := e.get(t, day)
	if held, n := sum(t, e.row(t, day)); count.Used != 0 || held != 0 || count.Recorded != n || n == 0 {
		t.Errorf("Get = %v, the row holds %d of %d events", count, held, n)
	}
}
