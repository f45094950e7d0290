// Package latch makes those who write one item take turns.
package latch

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// An ID tells one item from another.
type ID struct{ Table, Key string }

func compareIDs(a, b ID) int {
	return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(a.Key, b.Key))
}

// Set are held by those who write items. There is one for each item that
// somebody writes, or waits to write, now.
type Set struct {
	mu    sync.Mutex // guards what follows, and how many want each latch
	items map[ID]*Latch
}

// A Latch is held by the one who writes an item.
type Latch struct {
	sync.Mutex
	wanted int
}

// Hold waits until nobody else holds any of the items, and returns what lets go
// of them.
func (l *Set) Hold(ids ...ID) (release func()) {
	slices.SortFunc(ids, compareIDs)
	ids = slices.Compact(ids)
	taken := make([]*Latch, len(ids))
	for i, id := range ids {
		taken[i] = l.want(id)
	}
	lockAll(taken)
	return func() {
		for i, id := range ids {
			l.Release(id, taken[i])
		}
	}
}

// HoldOne is hold for one item, which most writes are about.
func (l *Set) HoldOne(id ID) *Latch {
	h := l.want(id)
	h.Lock()
	return h
}

// Release lets go of an item. The last one who wanted its latch forgets it.
func (l *Set) Release(id ID, h *Latch) {
	h.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.wanted--; h.wanted == 0 {
		delete(l.items, id)
	}
}

// maxBackoffs is how often lockAll releases everything and tries again before it
// waits for one latch after the other.
const maxBackoffs = 2

// lockAll locks latches that are in order. At first it holds none while it waits
// for one, so that a slow writer holds nobody up through somebody else who waits
// for it. Where one item after the other is busy it would have to begin again for
// ever: then it locks one after the other, in the order that all have in common.
func lockAll(taken []*Latch) {
	if len(taken) == 0 {
		return
	}
	busy := 0
	for range maxBackoffs {
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

// lockOthers locks all latches except the one that is locked already. If it cannot
// have one, it releases all, and returns which one it was.
func lockOthers(taken []*Latch, locked int) (busy int) {
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
func (l *Set) want(id ID) *Latch {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.items[id]
	if h == nil {
		if l.items == nil {
			l.items = map[ID]*Latch{}
		}
		h = &Latch{}
		l.items[id] = h
	}
	h.wanted++
	return h
}

// Wanted returns how many hold or want a latch.
func (l *Set) Wanted() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.items {
		n += h.wanted
	}
	return n
}
