package limit_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/limit"
)

func settle(t testing.TB, s *limit.Store, a limit.Take, to int64) event.Outcome {
	t.Helper()
	out, err := s.Settle(t.Context(), a, map[string]int64{"rps": to})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What is settled to less is given back, once. After a settlement to nothing the event
// holds nothing.
func TestSettleToLess(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	a := take(t, e.Store, ask(4, of(ev(t, 0)))).Take
	e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply})
	settle(t, e.Store, a, 1)
	want(t, "again", settle(t, e.other(t), a, 1), event.Duplicate)
	if _, err := e.Settle(t.Context(), a, map[string]int64{"rps": 2}); !errors.Is(err, limit.ErrSettled) {
		t.Errorf("to another weight: %v", err)
	}
	if g := take(t, e.Store, a); !g.OK || g.Outcome != event.Duplicate || g.Remaining[0] != 4 {
		t.Errorf("delivered again: %+v", g)
	}
	want(t, "left", granted(t, e.Store, 9, ask(1)), 4)
	e.now = e.now.Add(time.Minute)
	b := take(t, e.Store, ask(4, of(ev(t, 1)))).Take
	want(t, "to nothing", settle(t, e.Store, b, 0), event.Created)
	if g := take(t, e.Store, b); g.OK || g.Outcome != event.Duplicate {
		t.Errorf("delivered again: %+v", g)
	}
	want(t, "all is back", granted(t, e.Store, 9, ask(1)), 5)
}

// More than was taken is a debt, whether the key is busy or not.
func TestSettleToMore(t *testing.T) {
	t.Parallel()
	for _, rest := range []time.Duration{0, time.Minute} {
		e := open(t, limit.Config{})
		a := take(t, e.Store, ask(1)).Take
		e.now = e.now.Add(rest)
		want(t, "settle", settle(t, e.Store, a, 1001), event.Created)
		g := take(t, e.other(t), ask(5))
		used := 1001 * 100 * time.Millisecond
		if rest > 0 {
			used -= 100 * time.Millisecond
		}
		want(t, "the debt", g.RetryAfter, used)
	}
}

// After 16 other writes, or with other weights, nothing is settled.
func TestSettleForgotten(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	a := take(t, e.Store, ask(2)).Take
	other := ask(1, of(a.Event))
	for range 16 {
		if _, err := e.Settle(t.Context(), other, nil); !errors.Is(err, limit.ErrForgotten) {
			t.Errorf("with other weights: %v", err)
		}
		e.now = e.now.Add(time.Second)
		take(t, e.Store, ask(1))
	}
	before := e.row(t)["t_rps"]
	if _, err := e.Settle(t.Context(), a, map[string]int64{"rps": 0}); !errors.Is(err, limit.ErrForgotten) {
		t.Errorf("after 16 writes: %v", err)
	}
	if after := e.row(t)["t_rps"]; !same(before, after) {
		t.Errorf("%v became %v", before, after)
	}
}

// A turn that is reserved comes at its time. Later turns come after it.
func TestTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := inBubble(t, limit.Config{})
		began := time.Now()
		granted(t, e.Store, 5, ask(1))
		for turn := range 3 {
			g, err := e.Take(t.Context(), ask(1, waiting(time.Minute), of(recordtest.Event(t, began, "turn", string(rune('a'+turn))))))
			if at := began.Add(time.Duration(turn+1) * 100 * time.Millisecond); err != nil || !g.OK || !time.Now().Equal(at) {
				t.Errorf("turn %d: %+v, %v at %v", turn, g, err, time.Since(began))
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if g, err := e.Take(ctx, ask(1, waiting(time.Minute))); g.OK || err != nil || g.RetryAfter != 50*time.Millisecond {
			t.Errorf("the turn is after the end of the context: %+v, %v", g, err)
		}
	})
}

// A wait that is cancelled gives its turn back, although its context is over, unless the
// turn is that of another call with the same event.
func TestCancelledWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := inBubble(t, limit.Config{})
		granted(t, e.Store, 5, ask(1))
		cancelled := func(a limit.Take) {
			t.Helper()
			stands := e.row(t)["t_rps"]
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(10*time.Millisecond, cancel)
			if g, err := e.Take(ctx, a); g.OK || !errors.Is(err, context.Canceled) {
				t.Errorf("%+v, %v", g, err)
			}
			if after := e.row(t)["t_rps"]; !same(stands, after) {
				t.Errorf("%v became %v", stands, after)
			}
		}
		for _, ev := range []event.Event{{}, recordtest.Event(t, time.Now(), "turn")} {
			cancelled(ask(3, waiting(time.Minute), of(ev)))
		}
		other := ask(3, waiting(time.Minute), of(recordtest.Event(t, time.Now(), "other")))
		waits := make(chan error)
		go func() {
			_, err := e.Take(t.Context(), other)
			waits <- err
		}()
		synctest.Wait()
		cancelled(other)
		if err := <-waits; err != nil {
			t.Error(err)
		}
	})
}
