package engine

import (
	"slices"
	"time"
)

// read sets the stored state from which changes begin.
func (e *Engine) read(changes ...*change) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for _, c := range changes {
		c.read()
	}
}

// current reports whether the stored state from which changes begin is still
// the same.
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

// commit applies changes that take effect together, at the given time.
func (e *Engine) commit(at time.Time, changes []*change) {
	for _, c := range changes {
		e.keepPast(c.table, at)
		c.commit(at)
	}
	if e.journal != nil && len(changes) > 0 {
		e.logChanges(at, changes)
	}
}
