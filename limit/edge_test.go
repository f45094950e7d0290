package limit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/limit"
)

// Debts that each fit into MaxWait do not add up to a time that is taken for a wrong
// clock's, and forgiven.
func TestDebtsAddUpToABound(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{MaxWait: time.Minute})
	var held []limit.Take
	for range 5 {
		held = append(held, take(t, e.Store, ask(1)).Take)
	}
	want(t, "a year of debt", settle(t, e.Store, held[4], 300_000_000), event.Created)
	for _, a := range held[:4] { // 50 s of debt each
		want(t, "settle", settle(t, e.Store, a, 501), event.Created)
	}
	g := take(t, e.process(t, e.db.Client(), limit.Config{MaxWait: time.Minute}), ask(5))
	if g.OK || g.RetryAfter < time.Minute {
		t.Errorf("some 300,000,000 units were used of 10 a second: OK %v, RetryAfter %v", g.OK, g.RetryAfter)
	}
	behind := e.process(t, e.db.Client(), limit.Config{MaxWait: time.Minute, Now: func() time.Time { return e.now.Add(-30 * time.Second) }})
	want(t, "by a clock that is behind", take(t, behind, ask(5)).OK, false)
}

// The process's own clock was an hour ahead for a moment.
func TestOwnClockWasAhead(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	e.now = noon.Add(time.Hour)
	take(t, e.Store, ask(1))
	for _, after := range []time.Duration{0, 2 * time.Second, 10 * time.Minute, 50 * time.Minute} {
		e.now = noon.Add(after)
		g := take(t, e.Store, ask(1))
		f := take(t, e.other(t), ask(1))
		if !g.OK {
			t.Errorf("%v: refused for %v; a store without memory: %v", after, g.RetryAfter, f.OK)
		}
	}
}

// Another's clock was ahead; a settlement hears it.
func TestATimeThatASettlementHears(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	a := take(t, e.Store, ask(1)).Take
	ahead := e.process(t, e.db.Client(), limit.Config{Now: recordtest.Clock(noon.Add(time.Hour))})
	take(t, ahead, ask(1))
	settle(t, e.Store, a, 0)
	if g := take(t, e.Store, ask(1)); !g.OK {
		t.Errorf("refused for %v", g.RetryAfter)
	}
}

// A duplicate hears it.
func TestATimeThatADuplicateHears(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	take(t, e.Store, ask(1, of(ev(t, 0))))
	ahead := e.process(t, e.db.Client(), limit.Config{Now: recordtest.Clock(noon.Add(time.Hour))})
	take(t, ahead, ask(1))
	o := e.other(t)
	take(t, o, ask(1, of(ev(t, 0))))
	if g := take(t, o, ask(1)); !g.OK {
		t.Errorf("refused for %v", g.RetryAfter)
	}
}

// A redelivery with less time than is left until its turn.
func TestDuplicateBeforeItsTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := inBubble(t, limit.Config{})
		slow := func(wait time.Duration) limit.Take {
			a := ask(1, waiting(wait), of(recordtest.Event(t, time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), "message")))
			a.Limits[0].N, a.Limits[0].Burst, a.Limits[0].Per = 1, 1, 10*time.Second
			return a
		}
		first := slow(0)
		first.Event = event.Event{}
		take(t, e.Store, first)
		began := time.Now()
		go func() { _, _ = e.Take(context.Background(), slow(time.Minute)) }() // its turn is in 10 s
		time.Sleep(time.Second)
		for _, wait := range []time.Duration{0, time.Second} {
			g, err := e.process(t, e.db.Client(), limit.Config{Now: time.Now}).Take(t.Context(), slow(wait))
			if at := time.Since(began); g.OK && at < 10*time.Second {
				t.Errorf("wait %v: OK %v after %v, %v", wait, g.OK, at, err)
			}
		}
		time.Sleep(time.Minute)
	})
}

// Contexts that were over before the call send nothing, and take nothing.
func TestContextThatIsOver(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 5 {
		if _, err := e.Take(ctx, ask(1)); err == nil {
			t.Fatal("no error")
		}
	}
	g := take(t, e.Store, ask(1))
	f := take(t, e.other(t), ask(1))
	if !g.OK {
		t.Errorf("refused for %v; another process: %v, with %v left", g.RetryAfter, f.OK, f.Remaining)
	}
}

// A weight that fits with Wait, and a context that ends soon.
func TestWeightBeyondTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := inBubble(t, limit.Config{})
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		g, err := e.Take(ctx, ask(6, waiting(time.Minute)))
		if g.RetryAfter == 0 {
			t.Errorf("%+v, %v", g, err)
		}
	})
}

// A guess that a limit is busy is told as if it were known.
func TestRemainingOfAGuess(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	two := func() limit.Take {
		return limit.Take{Key: tenant, Limits: []limit.Limit{
			{Name: "a", N: 10, Per: time.Second, Burst: 5, Weight: 1}, {Name: "b", N: 12, Per: time.Hour, Burst: 12, Weight: 1},
		}}
	}
	other := e.other(t)
	for range 5 {
		e.now = e.now.Add(2 * time.Second)
		take(t, other, two())
		take(t, e.Store, two())
	}
	e.now = e.now.Add(2 * time.Second)
	granted(t, e.Store, 5, two()) // b is used up
	e.now = e.now.Add(700 * time.Millisecond)
	g, f := take(t, e.Store, two()), take(t, e.other(t), two())
	if g.OK || f.OK || g.Remaining[0] != f.Remaining[0] {
		t.Errorf("%v left, and by a store without memory %v", g.Remaining, f.Remaining)
	}
}
