// Package latch serializes the writers of one item.
package latch

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// An ID identifies an item.
type ID struct{ Table, Key string }

func compareIDs(a, b ID) int {
	return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(a.Key, b.Key))
}

// A Set has a latch for each item that somebody writes now, or waits to write.
type Set struct {
	mu    sync.Mutex // guards what follows, and the counts in the latches
	items map[ID]*Latch
}

// A Latch is held by the writer of an item.
type Latch struct {
	sync.Mutex
	wanted int
}

// Hold waits until nobody else holds any of the items, and returns the function
// that releases them.
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

// HoldOne is Hold for one item: most writes have only one.
func (l *Set) HoldOne(id ID) *Latch {
	h := l.want(id)
	h.Lock()
	return h
}

// Release releases an item. Its latch is forgotten when nobody wants it any
// more.
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

// lockAll locks latches that are in order. At first it holds no latch while it
// waits for one, so that a writer that waits for a slow one does not hold up
// others. If one item after the other is busy, that could go on for ever. So
// after some tries it locks one after the other, in the order that all callers
// share.
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

// lockOthers locks all latches except the one that is locked already. If one of
// them is busy, it releases all, and returns the index of the busy one.
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

// want returns the latch of an item, which is kept while anybody wants it.
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
