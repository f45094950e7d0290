package engine

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/latch"
)

// Writes are planned without the engine's lock, so that others do not wait for
// a slow condition. The steps of a write:
//
//  1. locate its item, under the lock for readers;
//  2. hold the item's latch, so that writes of one item take turns, as in
//     DynamoDB, and each sees the result of the one before;
//  3. read the stored item and work out the change, without the lock;
//  4. take the lock, and check that no change without a latch came between (an
//     expiry, an UpdateTable, a Restore). If one did, begin again; otherwise
//     commit.

// A plan is the changes and errors of the writes of one request.
type plan struct {
	writes  []*write
	changes []change
	errs    []*api.Error // the error of each write, or nil
}

// locateAll finds the items of writes. twice is the error of a write to an item
// that an earlier write names, too.
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

// hold holds the items, and reads their stored records.
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

// evaluate works out the changes of the writes that have no error so far.
func (p *plan) evaluate() {
	for i, w := range p.writes {
		if p.errs[i] == nil {
			p.errs[i] = p.changes[i].evaluate(w)
		}
	}
}
