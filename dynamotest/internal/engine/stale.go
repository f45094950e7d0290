package engine

import (
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// lag returns how far late readers of an index are behind, or of the table if x
// is nil. A local index is part of its table.
func (e *Engine) lag(x *index) time.Duration {
	if x != nil && !x.Local {
		return e.opt.IndexLag
	}
	return e.opt.ReadLag
}

// lags reports whether the result of a read depends on the clock.
func (e *Engine) lags() bool { return e.opt.ReadLag > 0 || e.opt.IndexLag > 0 }

// keepPast keeps the data of a table and its indexes before a change.
func (e *Engine) keepPast(t *table, now time.Time) {
	if !e.lags() {
		return
	}
	t.past.keep(&t.items, now, e.lag(nil))
	for _, x := range t.indexes {
		x.past.keep(x.items, now, e.lag(x))
	}
}

// views returns what an eventually consistent read sees of a table and of an
// index, or of the table again if x is nil. It reads the clock once, so that a
// local index has no entry of an item that its table lacks.
func (e *Engine) views(t *table, x *index) (base, entries *data) {
	var now time.Time
	if e.lags() {
		now = e.now()
	}
	base = t.past.view(&t.items, now, e.lag(nil))
	if x == nil {
		return base, base
	}
	return base, x.past.view(x.items, now, e.lag(x))
}

// Hold freezes what is seen of a global index. If its name is empty, Hold
// freezes what eventually consistent reads see of the table and its local
// indexes. The release is for that table or index only, not for one that is
// made or restored in its place.
func (e *Engine) Hold(tableName, indexName string) (release func(), err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, missing := e.wholeTable(tableName)
	if missing != nil {
		return nil, missing
	}

	now := e.now()
	var held []*past
	if indexName == "" {
		t.past.hold(&t.items, now, e.lag(nil))
		held = append(held, t.past)
	} else if x := t.index(indexName); x == nil || x.Local {
		return nil, api.Invalid("The table does not have the specified index: %s", indexName)
	}

	for _, x := range t.indexes {
		if x.Name == indexName || indexName == "" && x.Local {
			x.past.hold(x.items, now, e.lag(x))
			held = append(held, x.past)
		}
	}
	return func() { e.release(held) }, nil
}

func (e *Engine) release(held []*past) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range held {
		p.held = nil
	}
}
