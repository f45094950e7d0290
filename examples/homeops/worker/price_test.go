package worker_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/trips"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
)

const tick = 10 * time.Millisecond

// seeds are 80 phrases, none of which stands in the test's messages.
func seeds() map[string]string {
	seeds := map[string]string{}
	for i := range 80 {
		seeds[fmt.Sprintf("ordet nummer %d", i)] = "diskning"
	}
	return seeds
}

// What a message costs is part of what the example promises.
func TestPriceOfAMessage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text  string
		cold  bool
		kind  worker.Kind
		price dynamotest.Price
		depth int
	}{
		"an activity with a reply, warm": {"Jag har diskat", false, worker.KindActivity, dynamotest.Price{Requests: 8, RCU: 2.5, WCU: 8}, 4},
		"an activity with a reply, cold": {"Jag har diskat", true, worker.KindActivity, dynamotest.Price{Requests: 9, RCU: 5, WCU: 8}, 4},
		"nothing of interest, warm":      {"God morgon", false, worker.KindNone, dynamotest.Price{Requests: 1, WCU: 1}, 1},
		"nothing of interest, cold":      {"God morgon", true, worker.KindNone, dynamotest.Price{Requests: 2, RCU: 2.5, WCU: 1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, tick)
				if err := b.Seed(t.Context(), map[string]map[string]string{"-1002123456789": seeds()}); err != nil {
					t.Fatal(err)
				}
				if tc.cold {
					b.restart()
				} else {
					b.say(bo, "Hej")
				}
				began := time.Now()
				var report worker.Report
				b.now = b.now.Add(2 * time.Minute)
				m := b.message(anna, tc.text)
				cost := b.db.Meter(func() { report = b.handle(m) })
				cost.Want(t, tc.price)
				if report.Kind != tc.kind || cost.Depth != tc.depth || time.Since(began) != time.Duration(tc.depth)*tick {
					t.Errorf("%s, %d deep in %v\n%v", report.Kind, cost.Depth, time.Since(began), cost)
				}
			})
		})
	}
}

// The round trips that are counted without a clock are those that a clock
// shows where each request takes a while.
func TestTripsAreThoseOfTheClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, tick)
		for _, m := range conversation(b) {
			for n := range 2 {
				ctx, meter := dynamotest.WithMeter(t.Context())
				ctx, count := trips.Counted(ctx)
				if err := b.Worker.Handle(ctx, delivery(t, m, n+1)); err != nil {
					t.Error(err)
				}
				if depth := meter.Cost().Depth; count.Longest() != depth || depth == 0 {
					t.Errorf("%q, delivery %d: counted %d, the clock shows %d", m.Text, n+1, count.Longest(), depth)
				}
			}
		}
	})
}

// What the message's table refuses is poison, and has read the phrases beside
// it: whoever is first, the price is one.
func TestPriceOfPoison(t *testing.T) {
	t.Parallel()
	b := newBench(t, 0)
	for range 20 {
		b.restart() // the phrases are not in memory
		ahead := b.message(anna, "Jag har diskat")
		ahead.Date = b.now.AddDate(1, 0, 0).Unix() // which the worker sees before it asks anything
		b.db.Meter(func() { b.handle(ahead) }).Want(t, dynamotest.Price{})
		old := b.message(anna, "Jag har diskat")
		old.Date = 1_000_000 // in 1970
		cost := b.db.Meter(func() { b.handle(old) })
		cost.Want(t, dynamotest.Price{Requests: 1, RCU: 0.5})
		if b.last.Kind != worker.KindPoison || cost.Unpriced != 0 {
			t.Errorf("%s\n%v", b.last.Kind, cost)
		}
	}
}
