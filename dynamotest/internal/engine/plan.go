package engine

import (
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/latch"
)

// Writes are planned without the engine's lock, for a condition may take its
// time and nobody else shall wait for it. A write goes like this:
//
//  1. locate its item, under the lock for readers;
//  2. hold the item's latch, so that writes of one item take turns, as
//     DynamoDB's do, and each sees what the one before it left;
//  3. read what is stored and work out the change, with no lock at all;
//  4. take the lock, see that nothing has come between which takes no latch (an
//     expiry, an UpdateTable, a Restore), and commit. If something has, begin
//     again.

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
	seen := make(map[latch.ID]bool, len(writes))
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
	ids := make([]latch.ID, len(located))
	for i, c := range located {
		ids[i] = c.id()
	}
	release = e.latches.Hold(ids...)
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

// current reports whether what changes begin from is still so.
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

// sameIndex reports whether two indexes are one, perhaps with other settings.
func sameIndex(x, y *index) bool { return x.items == y.items }
