package engine

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// An itemID tells one item from another.
type itemID struct{ table, key string }

func compareIDs(a, b itemID) int {
	return cmp.Or(strings.Compare(a.table, b.table), strings.Compare(a.key, b.key))
}

// latches are held by those who write items. There is one for each item that
// somebody writes, or waits to write, now.
type latches struct {
	mu    sync.Mutex // guards what follows, and how many want each latch
	items map[itemID]*latch
}

type latch struct {
	sync.Mutex
	wanted int
}

// hold waits until nobody else holds any of the items, and returns what lets go
// of them.
func (l *latches) hold(ids ...itemID) (release func()) {
	slices.SortFunc(ids, compareIDs)
	ids = slices.Compact(ids)
	taken := make([]*latch, len(ids))
	for i, id := range ids {
		taken[i] = l.want(id)
	}
	lockAll(taken)
	return func() {
		for i, id := range ids {
			l.release(id, taken[i])
		}
	}
}

// holdOne is hold for one item, which most writes are about.
func (l *latches) holdOne(id itemID) *latch {
	h := l.want(id)
	h.Lock()
	return h
}

// release lets go of an item. The last one who wanted its latch forgets it.
func (l *latches) release(id itemID, h *latch) {
	h.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.wanted--; h.wanted == 0 {
		delete(l.items, id)
	}
}

// patience is how often lockAll lets go of what it has before it does so no more.
const patience = 2

// lockAll locks latches that are in order. At first it holds none while it waits
// for one, so that a slow writer holds nobody up through somebody else who waits
// for it. Where one item after the other is busy it would have to begin again for
// ever: then it locks one after the other, in the order that all have in common.
func lockAll(taken []*latch) {
	if len(taken) == 0 {
		return
	}
	busy := 0
	for range patience {
		taken[busy].Lock()
		next := lockOthers(taken, busy)
		if next == busy {
			return
		}
		busy = next
	}
	for _, h := range taken {
		h.Lock()
	}
}

// lockOthers locks all latches but that which is locked already, or lets go of
// that, too, and returns which it could not have.
func lockOthers(taken []*latch, locked int) (busy int) {
	for i, h := range taken {
		if i == locked || h.TryLock() {
			continue
		}
		for j, h := range taken[:i] {
			if j != locked {
				h.Unlock()
			}
		}
		taken[locked].Unlock()
		return i
	}
	return locked
}

// want returns the latch of an item, which stays while anybody wants it.
func (l *latches) want(id itemID) *latch {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.items[id]
	if h == nil {
		if l.items == nil {
			l.items = map[itemID]*latch{}
		}
		h = &latch{}
		l.items[id] = h
	}
	h.wanted++
	return h
}
