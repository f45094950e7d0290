package worker_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
)

const tick = 10 * time.Millisecond

// seeds are 80 phrases that do not occur in the test's messages.
func seeds() map[string]string {
	seeds := map[string]string{}
	for i := range 80 {
		seeds[fmt.Sprintf("ordet nummer %d", i)] = "diskning"
	}
	return seeds
}

// The price of a message is part of what the example promises.
func TestPriceOfAMessage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text  string
		cold  bool
		kind  worker.Kind
		price dynamotest.Price
		depth int
	}{
		"an activity with a reply, warm": {"Jag har diskat", false, worker.KindActivity, dynamotest.Price{Requests: 10, RCU: 4, WCU: 8}, 4},
		"an activity with a reply, cold": {"Jag har diskat", true, worker.KindActivity, dynamotest.Price{Requests: 13, RCU: 7.5, WCU: 8}, 4},
		"nothing of interest, warm":      {"God morgon", false, worker.KindNone, dynamotest.Price{Requests: 2, RCU: 0.5, WCU: 1}, 1},
		"nothing of interest, cold":      {"God morgon", true, worker.KindNone, dynamotest.Price{Requests: 5, RCU: 4, WCU: 1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, tick)
				if err := b.Seed(t.Context(), map[string]map[string]string{"-1002123456789": seeds()}); err != nil {
					t.Fatal(err)
				}
				b.meet()
				at := b.now.Add(4 * time.Minute)
				b.say(bo, "Hej") // has the phrases in memory
				if tc.cold {
					b.restart()
				}
				began := time.Now()
				var report worker.Report
				b.now = at
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

// Waiting costs praise two requests and an answer one. What is sent at once
// pays nothing for that.
func TestPriceOfWaiting(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][3]int{ // at once; a delivery that waits; the next
		"diskat":              {10, 12, 10},
		"Vem diskade senast?": {6, 7, 8},
	} {
		var got [3]int
		for i, first := range [][]error{nil, {wait40}} {
			b := newBench(t, 0)
			b.meet()
			b.handle(b.message(bo, "Hej")) // the phrases and names are in memory
			b.now = b.now.Add(2 * time.Minute)
			b.sender.first = first
			m := b.message(anna, text)
			for n := range 1 + i {
				got[i+n] = b.db.Meter(func() { _ = b.Worker.Handle(t.Context(), delivery(t, m, n+1)) }).Requests
			}
			wantSent(t, b.last, said[text])
		}
		if got != want {
			t.Errorf("%q: %v requests, want %v", text, got, want)
		}
	}
}

// In private the worker also asks whether the person has blocked the bot, and
// counts that they wrote to it, beside the other requests.
func TestPriceOfAPrivateMessage(t *testing.T) {
	b := start(t)
	b.sayIn(private, 1, anna, "Hej")
	b.db.Meter(func() { b.sayIn(private, 2, anna, "God morgon") }).Want(t, dynamotest.Price{Requests: 4, RCU: 1, WCU: 2})
}
