package engine

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// Writes are planned without the engine's lock, for a condition may take its
// time and nobody else shall wait for it. A write goes like this:
//
//  1. locate its item, under the lock for readers;
//  2. hold the item's latch, so that writes of one item take turns, as
//     DynamoDB's do, and each sees what the one before it left;
//  3. read what is stored and work out the change, with no lock at all;
//  4. take the lock, see that nothing but writes has come between (an expiry,
//     an UpdateTable, a Restore), and commit. If something has, begin again.

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

// A plan is what the writes of one request come to.
type plan struct {
	writes  []*write
	changes []change
	errs    []*api.Error // what each write met, or nil
}

// locateAll finds the items of writes. Writes that name an item which one before
// them names meet twice.
func (e *Engine) locateAll(writes []*write, twice *api.Error) *plan {
	p := &plan{writes: writes, changes: make([]change, len(writes)), errs: make([]*api.Error, len(writes))}
	seen := make(map[itemID]bool, len(writes))
	e.mu.RLock()
	defer e.mu.RUnlock()
	for i, w := range writes {
		c, err := e.locate(w)
		if err == nil && seen[c.id()] {
			err = twice
		}
		p.changes[i], p.errs[i] = c, err
		if err == nil {
			seen[c.id()] = true
		}
	}
	return p
}

// located lists the changes whose items were found.
func (p *plan) located() []*change {
	out := make([]*change, 0, len(p.changes))
	for i := range p.changes {
		if p.changes[i].key != "" {
			out = append(out, &p.changes[i])
		}
	}
	return out
}

// hold holds the items and reads what is stored of them.
func (p *plan) hold(e *Engine) (release func()) {
	located := p.located()
	ids := make([]itemID, len(located))
	for i, c := range located {
		ids[i] = c.id()
	}
	release = e.latches.hold(ids...)
	e.read(located...)
	return release
}

// evaluate works out what the writes do that have met nothing so far.
func (p *plan) evaluate() {
	for i, w := range p.writes {
		if p.errs[i] == nil {
			p.errs[i] = p.changes[i].evaluate(w)
		}
	}
}

// read takes what is stored for what changes begin from.
func (e *Engine) read(changes ...*change) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for _, c := range changes {
		c.read()
	}
}

func (c *change) read() {
	c.old, _ = c.table.items.Get(c.key)
	c.indexes = c.table.indexes
}

// current tells whether what changes begin from is still so.
func (e *Engine) current(changes ...*change) bool {
	for _, c := range changes {
		now := change{table: c.table, key: c.key}
		now.read()
		if e.tables[c.table.name] != c.table || now.old != c.old || !slices.EqualFunc(now.indexes, c.indexes, sameIndex) {
			return false
		}
	}
	return true
}

// sameIndex tells whether two indexes are one, perhaps with other settings.
func sameIndex(x, y *index) bool { return x.items == y.items }
