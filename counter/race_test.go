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
					grant, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Cap: most})
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
				grant, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Cap: most})
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
				total, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev})
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

// A random history gives what a model of it gives, whatever is lost on the
// way; at the end the count is the sum of what the row holds.
func TestHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		e := open(t, counter.Config{MaxRecorded: 6})
		random := rand.New(rand.NewPCG(seed, 1))
		m := model{events: map[int]held{}, cap: 5, most: 6}
		for step := range 60 {
			if random.IntN(4) == 0 {
				do := dynamotest.LoseReply
				if random.IntN(2) == 0 {
					do = dynamotest.LoseRequest
				}
				e.db.Inject(dynamotest.Fault{Do: do, Op: "UpdateItem", Times: 1 + random.IntN(3)})
			}
			id := random.IntN(9)
			ev, weight := message(t, noon, id), int64(id%3+1)
			var got, want string
			switch random.IntN(3) {
			case 0:
				grant, err := e.Take(t.Context(), counter.Take{Key: chat, Event: ev, Cap: m.cap, Weight: weight})
				got = fmt.Sprint("take ", grant.OK, grant.Outcome, grant.Refunded, grant.Used, err)
				want = m.take(id, weight)
			case 1:
				total, err := e.Add(t.Context(), counter.Add{Key: chat, Event: ev, Weight: weight})
				got = fmt.Sprint("add ", total.Outcome, total.Refunded, total.Used, err)
				want = m.add(id, weight)
			case 2:
				total, err := e.Refund(t.Context(), counter.Refund{Key: chat, Event: ev, Weight: weight})
				got = fmt.Sprint("refund ", total.Outcome, total.Used, err)
				want = m.refund(id, weight)
			}
			if got != want {
				t.Fatalf("seed %d, step %d, event %d of weight %d: got %s, want %s", seed, step, id, weight, got, want)
			}
			e.db.Heal() // a refusal may have left a part of a fault unspent
		}
		count := e.get(t, day)
		if held, n := sum(t, e.row(t, day)); held != m.used || count.Used != m.used || count.Recorded != n || n != int64(len(m.events)) {
			t.Errorf("seed %d: Get = %v, the row holds %d of %d events; the model %d of %d", seed, count, held, n, m.used, len(m.events))
		}
	}
}

// model is what the package promises, without loss, repetition or haste.
type model struct {
	events    map[int]held
	used, cap int64
	most      int
}

type held struct {
	weight   int64
	refunded bool
}

func (m *model) take(id int, weight int64) string {
	e, known := m.events[id]
	switch {
	case known:
		return fmt.Sprint("take ", !e.refunded, event.Duplicate, e.refunded, m.used, nil)
	case m.used+weight > m.cap:
		return fmt.Sprint("take ", false, event.Outcome(0), false, m.used, nil)
	case len(m.events) == m.most:
		return fmt.Sprint("take ", false, event.Outcome(0), false, 0, counter.ErrFull)
	}
	m.events[id] = held{weight: weight}
	m.used += weight
	return fmt.Sprint("take ", true, event.Created, false, m.used, nil)
}

func (m *model) add(id int, weight int64) string {
	e, known := m.events[id]
	switch {
	case known:
		return fmt.Sprint("add ", event.Duplicate, e.refunded, m.used, nil)
	case len(m.events) == m.most:
		return fmt.Sprint("add ", event.Outcome(0), false, 0, counter.ErrFull)
	}
	m.events[id] = held{weight: weight}
	m.used += weight
	return fmt.Sprint("add ", event.Created, false, m.used, nil)
}

func (m *model) refund(id int, weight int64) string {
	e, known := m.events[id]
	switch {
	case !known:
		return fmt.Sprint("refund ", event.Outcome(0), 0, counter.ErrNotFound)
	case e.refunded:
		return fmt.Sprint("refund ", event.Duplicate, m.used, nil)
	}
	m.events[id] = held{weight: weight, refunded: true}
	m.used -= weight
	return fmt.Sprint("refund ", event.Created, m.used, nil)
}
