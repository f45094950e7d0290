package latch_test

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/latch"
)

// Many callers that want the same items in different orders all get them.
func TestManyWantManyItems(t *testing.T) {
	t.Parallel()
	var l latch.Set
	var all sync.WaitGroup
	holding := make(map[string]int)
	for i := range 8 {
		all.Go(func() {
			for n := range 2000 {
				first, second := latch.ID{Table: "users", Key: string(rune('a' + (i+n)%5))}, latch.ID{Table: "users", Key: string(rune('a' + (i*n)%5))}
				release := l.Hold(first, second, latch.ID{Table: "users", Key: "all"})
				holding["now"]++ // the race detector, and the runtime, watch the map
				release()
			}
		})
	}
	all.Wait()
	if l.Wanted() != 0 || holding["now"] != 8*2000 {
		t.Errorf("%d latches are wanted, %d holds were counted", l.Wanted(), holding["now"])
	}
}

// A caller that wants several items soon gets them, even if others want each of
// them all the time.
func TestAWideHoldAmongBusyItems(t *testing.T) {
	t.Parallel()
	var l latch.Set
	var single atomic.Int64
	var stop atomic.Bool
	var all sync.WaitGroup
	items := []latch.ID{{Table: "users", Key: "a"}, {Table: "users", Key: "b"}, {Table: "users", Key: "c"}, {Table: "users", Key: "d"}}
	for i := range 2 * len(items) {
		all.Go(func() {
			for !stop.Load() {
				release := l.Hold(items[i%len(items)])
				single.Add(1)
				for range 50 {
					runtime.Gosched()
				}
				release()
			}
		})
	}
	for single.Load() < 100 {
		runtime.Gosched()
	}
	for range 50 {
		l.Hold(slices.Clone(items)...)()
	}
	stop.Store(true)
	all.Wait()
	if n := l.Wanted(); n != 0 {
		t.Errorf("%d latches are still wanted", n)
	}
}

// An item has one latch while anybody wants it, and none afterwards.
func TestAnItemHasOneLatch(t *testing.T) {
	t.Parallel()
	var l latch.Set
	id := latch.ID{Table: "users", Key: "a"}
	held := l.HoldOne(id)
	if n := l.Wanted(); n != 1 {
		t.Fatalf("%d want a latch, one holds it", n)
	}
	second := make(chan *latch.Latch)
	go func() { second <- l.HoldOne(id) }()
	for l.Wanted() < 2 {
		runtime.Gosched()
	}
	select {
	case <-second:
		t.Error("two hold one item")
	default:
	}
	l.Release(id, held)
	l.Release(id, <-second)
	if n := l.Wanted(); n != 0 {
		t.Errorf("%d still want a latch", n)
	}
}
