package limit_test

import (
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/limit"
)

// A full bucket gives Burst, and then one each interval.
func TestTake(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	want(t, "at once", granted(t, e.Store, 8, ask(1)), 5)
	g := take(t, e.Store, ask(1))
	want(t, "after the burst", g.RetryAfter, 100*time.Millisecond)
	want(t, "left", g.Remaining[0], int64(0))
	e.now = e.now.Add(250 * time.Millisecond)
	want(t, "a quarter of a second later", granted(t, e.Store, 8, ask(1)), 2)
	e.now = e.now.Add(time.Hour)
	want(t, "after an hour of rest", granted(t, e.Store, 8, ask(1)), 5)
}

// The figures of a memory are those of the row: a store that remembers nothing has the
// same answer. What RetryAfter says is granted, also of all of Burst, and a nanosecond
// before it is not.
func TestRetryAfterIsExact(t *testing.T) {
	t.Parallel()
	for _, weight := range []int64{1, 3, 5} {
		e := open(t, limit.Config{})
		for step := range 20 {
			e.now = e.now.Add(time.Duration(step*step) * 7 * time.Millisecond)
			g := take(t, e.Store, ask(weight))
			if g.OK {
				continue
			}
			fresh := take(t, e.other(t), ask(weight))
			want(t, "a store without memory", fresh.RetryAfter, g.RetryAfter)
			want(t, "left without memory", fresh.Remaining[0], g.Remaining[0])
			e.now = e.now.Add(g.RetryAfter - 1)
			want(t, "before", take(t, e.other(t), ask(weight)).OK, false)
			e.now = e.now.Add(1)
			want(t, "then", take(t, e.Store, ask(weight)).OK, true)
		}
	}
}

// A weight that never fits is refused without a time, and without a request.
func TestWeightAboveBurst(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	cost := e.db.Meter(func() {
		for _, weight := range []int64{6, 1_000_000_000_000} {
			if g := take(t, e.Store, ask(weight)); g.OK || g.RetryAfter != 0 {
				t.Errorf("%d: %+v", weight, g)
			}
		}
	})
	cost.Want(t, dynamotest.Price{})
	want(t, "with a wait", take(t, e.Store, ask(6, waiting(100*time.Millisecond))).OK, true)
}

// All limits or none.
func TestSeveralLimits(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	both := func(tokens int64) limit.Take {
		return limit.Take{Key: tenant, Limits: []limit.Limit{
			{Name: "tpm", N: 1000, Per: time.Minute, Burst: 1000, Weight: tokens},
			{Name: "rpm", N: 60, Per: time.Minute, Burst: 3, Weight: 1},
		}}
	}
	want(t, "first", take(t, e.Store, both(900)).OK, true)
	g := take(t, e.Store, both(900))
	want(t, "too many tokens", g.OK, false)
	want(t, "requests left", g.Remaining[0], int64(2)) // in the order of names: rpm, tpm
	want(t, "tokens left", g.Remaining[1], int64(100))
	want(t, "small ones", granted(t, e.other(t), 5, both(10)), 2)
}

// An event takes once while 16 writes at most have followed, and then again.
func TestEventIsTakenOnce(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	if g := take(t, e.Store, ask(1, of(ev(t, 0)))); g.Outcome != event.Created {
		t.Errorf("%+v", g)
	}
	for range 15 {
		e.now = e.now.Add(time.Second)
		take(t, e.Store, ask(1))
	}
	if g := take(t, e.other(t), ask(1, of(ev(t, 0)))); !g.OK || g.Outcome != event.Duplicate {
		t.Errorf("after 15 writes: %+v", g)
	}
	take(t, e.Store, ask(1))
	if g := take(t, e.Store, ask(1, of(ev(t, 0)))); !g.OK || g.Outcome != event.Created {
		t.Errorf("after 16 writes: %+v", g)
	}
}

// A lost reply is known by the entry: the SDK's second request takes nothing.
func TestLostReply(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Times: 2})
	if g := take(t, e.Store, ask(1)); !g.OK || g.Outcome != event.Created || g.Remaining[0] != 4 {
		t.Errorf("a random event: %+v", g)
	}
	if g := take(t, e.Store, ask(1, of(ev(t, 0)))); !g.OK || g.Remaining[0] != 3 {
		t.Errorf("an event that was given: %+v", g)
	}
	want(t, "left", granted(t, e.Store, 9, ask(1)), 3)
}

// After an error, the take may have had its effect: the store reckons with it until it
// hears more. Throttling is an error, too.
func TestErrorsAreNotRefusals(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{Timeout: time.Second})
	take(t, e.Store, ask(1))
	e.db.Inject(dynamotest.Fault{Do: dynamotest.Answer(400, `{"__type": "ThrottlingException"}`), Times: -1})
	for i := range 6 {
		g, err := e.Take(t.Context(), ask(1))
		if g.OK || (err == nil) != (i >= 4) {
			t.Errorf("%d: %+v, %v", i, g, err)
		}
	}
	e.db.Heal()
	e.now = e.now.Add(time.Second)
	want(t, "a second later", granted(t, e.Store, 9, ask(1)), 5)
}

// A time that no writer of today can have put there is replaced at once, by equality.
// A late duplicate of the request that did it changes nothing, although what it finds
// lies ahead of its own clock.
func TestHeal(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	ahead := e.process(t, e.db.Client(), limit.Config{Now: recordtest.Clock(noon.Add(time.Hour))})
	take(t, ahead, ask(5))
	var k kept
	healing, err := limit.New(record{e.db.Client(), &k}, e.table, &limit.Config{Now: func() time.Time { return e.now }, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "healed", granted(t, healing, 9, ask(1)), 5)
	heal := k.sent[1]
	for _, later := range []time.Duration{0, 40 * time.Minute} {
		e.now = noon.Add(later)
		for range 16 { // until its event is forgotten
			e.now = e.now.Add(time.Second)
			take(t, e.Store, ask(1))
		}
		before := granted(t, e.Store, 9, ask(1))
		if _, err := e.db.Client().UpdateItem(t.Context(), heal); err == nil {
			t.Error("the late duplicate took effect")
		}
		want(t, "after a late duplicate", before+granted(t, e.other(t), 9, ask(1)), before)
	}
}

// What another program wrote in place of a time is an error, and nothing passes.
func TestUnreadableTime(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	take(t, e.Store, ask(1))
	for _, bad := range []string{"soon", "1e3", "1.1234567"} {
		row := e.row(t)
		row["t_rps"] = item.S(bad)
		recordtest.Put(t, e.db.Client(), e.table, row)
		if g, err := e.other(t).Take(t.Context(), ask(1)); err == nil || g.OK {
			t.Errorf("%s: %+v, %v", bad, g, err)
		}
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{MaxWait: time.Minute})
	cost := e.db.Meter(func() {
		for field, change := range map[string]func(*limit.Take){
			"Take.Key":     func(t *limit.Take) { t.Key = "" },
			"Take.Limits":  func(t *limit.Take) { t.Limits = append(t.Limits, t.Limits[0]) },
			"Take.Wait":    waiting(2 * time.Minute),
			"Take.Event":   of(recordtest.Bound(ev(t, 0))),
			"Limit.Name":   func(t *limit.Take) { t.Limits[0].Name = "Rps" },
			"Limit.N":      func(t *limit.Take) { t.Limits[0].N = 0 },
			"Limit.Per":    func(t *limit.Take) { t.Limits[0].Per = time.Microsecond },
			"Limit.Burst":  func(t *limit.Take) { t.Limits[0].Burst = 1 << 40 },
			"Limit.Weight": func(t *limit.Take) { t.Limits[0].Weight = 0 },
		} {
			_, err := e.Take(t.Context(), ask(1, change))
			recordtest.WantBad(t, err, "limit", field)
		}
		_, err := e.Settle(t.Context(), ask(1), nil)
		recordtest.WantBad(t, err, "limit", "Take.Event")
		for _, to := range []map[string]int64{{"rps": -1}, {"rps": 2e12}, {"rpm": 1}} {
			_, err = e.Settle(t.Context(), ask(1, of(ev(t, 0))), to)
			recordtest.WantBad(t, err, "limit", "to")
		}
	})
	cost.Want(t, dynamotest.Price{})
	for field, cfg := range map[string]limit.Config{
		"Config.Timeout": {Timeout: -1}, "Config.MaxWait": {MaxWait: 367 * 24 * time.Hour}, `Config.Names["pk"]`: {Names: map[string]string{"pk": "t_x"}},
	} {
		_, err := limit.New(e.db.Client(), "limits", &cfg)
		recordtest.WantBad(t, err, "limit", field)
	}
}
