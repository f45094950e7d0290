package limit_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/limit"
)

// A hundred callers at the moment of release send what the limit admits, also if nobody
// knows the key yet. Those that take its row to be at rest are sent again.
func TestManyCallersAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := inBubble(t, limit.Config{})
		e.db.Inject(dynamotest.Fault{Do: dynamotest.Delay(5 * time.Millisecond), Times: -1})
		for round := range 3 {
			var grants atomic.Int64
			cost := e.db.Meter(func() {
				var all sync.WaitGroup
				for range 100 {
					all.Go(func() {
						g, err := e.Take(t.Context(), ask(1))
						if err != nil {
							t.Error(err)
						}
						if g.OK {
							grants.Add(1)
						}
					})
				}
				all.Wait()
			})
			if n := int(grants.Load()); n != 5 || cost.Requests > 3*n {
				t.Errorf("round %d: %d grants with %d requests", round, n, cost.Requests)
			}
			time.Sleep(time.Second)
		}
		e.db.Heal()
	})
}

// Config.Timeout bounds a call with all its tries.
func TestTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := inBubble(t, limit.Config{Timeout: 200 * time.Millisecond})
		e.db.Inject(dynamotest.Fault{Do: dynamotest.Delay(time.Hour), Times: -1})
		began := time.Now()
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				if g, err := e.Take(context.Background(), ask(1)); err == nil || g.OK {
					t.Errorf("%+v, %v", g, err)
				}
			})
		}
		all.Wait()
		want(t, "all of them", time.Since(began), 200*time.Millisecond)
		e.db.Heal()
	})
}

// What a process remembers may be old: then it asks, and the row refuses.
func TestTakenElsewhere(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	want(t, "here", granted(t, e.Store, 1, ask(1)), 1)
	want(t, "in another process", granted(t, e.other(t), 6, ask(1)), 4)
	cost := e.db.Meter(func() { want(t, "none is left", take(t, e.Store, ask(1)).OK, false) })
	want(t, "requests", cost.Requests, 1)
}

// If room comes back while a refusal is on its way, the call asks once more, and not
// again: it does not chase turns that others take.
func TestRoomThatComesBackMeanwhile(t *testing.T) {
	t.Parallel()
	for turns, granted := range []bool{true, true, false} { // that another takes before the call's request
		e := open(t, limit.Config{})
		other := e.other(t)
		a := ask(1)
		a.Limits[0].Burst = 1
		for turn := range turns {
			nth := 2*turn + 1 // the other's requests count, too
			e.db.Inject(dynamotest.Fault{Op: "UpdateItem", Nth: nth, Do: dynamotest.Before(func() { want(t, "another", take(t, other, a).OK, true) })})
			e.db.Inject(dynamotest.Fault{Op: "UpdateItem", Nth: nth, Do: dynamotest.After(func() { e.now = e.now.Add(150 * time.Millisecond) })})
		}
		cost := e.db.Meter(func() {
			g := take(t, e.Store, a)
			want(t, "granted", g.OK, granted)
			want(t, "soon", granted || g.RetryAfter > 0 && g.RetryAfter < 100*time.Millisecond, true)
		})
		want(t, "requests", cost.Requests, min(2*turns+1, 4))
	}
}

// Where others take and calls are many, one request asks for all after a refusal by the
// row. Until its reply, the others are refused, but not those that wait, and not for long.
func TestOneRequestAfterARefusal(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		calls, pause int // refused without a request; milliseconds
		asks         bool
		nested       limit.Take
	}{
		"many calls": {8, 1000, false, ask(1)},
		"who waits":  {8, 1000, true, ask(1, waiting(time.Second))},
		"few calls":  {7, 1000, true, ask(1)},
		"long ago":   {8, 2000, true, ask(1)},
	} {
		e := open(t, limit.Config{})
		other := e.other(t)
		want(t, "at first", granted(t, e.Store, 5, ask(1)), 5)
		want(t, "without a request", granted(t, e.Store, test.calls, ask(1)), 0)
		e.now = e.now.Add(100 * time.Millisecond)
		want(t, "in another process", take(t, other, ask(1)).OK, true)
		want(t, "none is left", take(t, e.Store, ask(1)).OK, false)
		e.now = e.now.Add(time.Duration(test.pause) * time.Millisecond)
		e.db.Inject(dynamotest.Fault{Op: "UpdateItem", Nth: 1, Do: dynamotest.Before(func() {
			g := take(t, e.Store, test.nested)
			want(t, name+": meanwhile", g.OK, test.asks)
			want(t, name+": again", g.RetryAfter, map[bool]time.Duration{false: 100 * time.Millisecond}[test.asks])
			want(t, name+": remaining", len(g.Remaining), map[bool]int{true: 1}[test.asks])
		})})
		cost := e.db.Meter(func() { want(t, name+": then", take(t, e.Store, ask(1)).OK, true) })
		want(t, name+": requests", cost.Requests >= 2, test.asks)
	}
}

// A process that takes alone loses no turn, also if its memory is older than a second.
func TestNoPauseAlone(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	a := ask(1)
	a.Limits[0].N, a.Limits[0].Per, a.Limits[0].Burst = 40, time.Minute, 1
	want(t, "at first", granted(t, e.Store, 9, a), 1)
	e.now = e.now.Add(1200 * time.Millisecond)
	want(t, "again", take(t, e.Store, a).RetryAfter, 300*time.Millisecond)
	e.now = e.now.Add(300 * time.Millisecond)
	want(t, "then", take(t, e.Store, a).OK, true)
}

// A clock that was far ahead for one call does not make each later call a request.
func TestAClockThatStepsBack(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	e.now = noon.Add(time.Hour)
	want(t, "ahead", take(t, e.Store, ask(1)).OK, true)
	e.now = noon
	want(t, "again", granted(t, e.Store, 6, ask(1)), 5)
	cost := e.db.Meter(func() { want(t, "then", granted(t, e.Store, 10, ask(1)), 0) })
	want(t, "requests", cost.Requests, 0)
}

// A turn is counted from the request, not from the reply.
func TestASlowReplyDelaysNoTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := inBubble(t, limit.Config{})
		want(t, "at first", granted(t, e.Store, 5, ask(1)), 5)
		e.db.Inject(dynamotest.Fault{Op: "UpdateItem", Do: dynamotest.DelayReply(60 * time.Millisecond)})
		began := time.Now()
		want(t, "granted", take(t, e.Store, ask(1, waiting(time.Second))).OK, true)
		want(t, "after", time.Since(began), 100*time.Millisecond)
	})
}

// What another process gives back is seen after a second, and what this one gives back at
// once.
func TestGivenBackElsewhere(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	slow := func(weight int64) limit.Take {
		a := ask(weight)
		a.Limits[0].Per = time.Hour
		return a
	}
	first := take(t, e.Store, slow(4)).Take
	second := take(t, e.Store, slow(1)).Take
	want(t, "none is left", take(t, e.Store, slow(1)).OK, false)
	settle(t, e.other(t), first, 0)
	cost := e.db.Meter(func() { want(t, "at once", take(t, e.Store, slow(1)).OK, false) })
	cost.Want(t, dynamotest.Price{})
	e.now = e.now.Add(time.Second)
	want(t, "after a second", take(t, e.Store, slow(4)).OK, true)
	want(t, "none is left", take(t, e.Store, slow(1)).OK, false)
	settle(t, e.Store, second, 0)
	want(t, "what was given back here", take(t, e.Store, slow(1)).OK, true)
}

// A store remembers 10,000 keys, and then begins anew.
func TestForgottenKeys(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	var k kept
	s, err := limit.New(record{e.db.Client(), &k}, e.table, &limit.Config{Now: func() time.Time { return e.now }, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	others := func(n int) (requests int) {
		k.silent = true
		for i := range n {
			a := ask(1)
			a.Key = strconv.Itoa(i)
			take(t, s, a)
		}
		k.silent, k.sent = false, nil
		take(t, s, ask(1))
		return len(k.sent)
	}
	granted(t, s, 5, ask(1))
	want(t, "after 9,999 others", others(9_999), 0)
	want(t, "after 10,000 others", others(10_000), 1)
}

// Two keys never share what is known of one, whatever the names of their limits.
func TestKeysWithSpaces(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	one, two := ask(5), ask(5)
	one.Key = "a rps"
	two.Key, two.Limits = "a", append(two.Limits, two.Limits[0])
	two.Limits[1].Name = "tps"
	one.Limits[0].Name = "tps"
	want(t, "a key with a space", take(t, e.Store, one).OK, true)
	want(t, "two limits", take(t, e.Store, two).OK, true)
}
