package engine

import (
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
)

// A build fills a new index from the items of its table at its beginning, while
// others use the table. At its end it catches up with their changes.
type build struct {
	table  *table
	index  *index
	items  data // of the table
	missed []missed
}

// A missed change was made while the index was filled.
type missed struct{ old, new *record }

// startBuild begins to build the index that a request makes. It returns nil if
// the request makes no index, or will be refused.
func (e *Engine) startBuild(req *api.UpdateTable) *build {
	made := catalog.Created(req)
	if made == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	t, def, err := e.judgeUpdate(req)
	if err != nil {
		return nil
	}
	b := newBuild(t, *def.Index(made.Name))
	t.builds = append(t.builds, b)
	return b
}

// newBuild returns a build of a table's new index.
func newBuild(t *table, def catalog.Index) *build {
	return &build{table: t, index: newIndex(def), items: t.items.clone()}
}

// fill puts the items of the beginning into the index. It needs no lock.
func (b *build) fill() {
	for _, rec := range b.items.Ascend("") {
		b.add(rec)
	}
}

// add puts an item into the index. An item whose attributes do not fit the key
// of the index is left out: only later writes are checked against it.
func (b *build) add(rec *record) {
	if b.index.CheckItem(rec.item) != nil {
		return
	}
	if key, entry := b.index.entry(rec); entry != nil {
		b.index.items.put(key, entry)
	}
}

// miss keeps a change of the table.
func (b *build) miss(c *change) { b.missed = append(b.missed, missed{c.old, c.new}) }

// few is how many changes a build may catch up with while others wait. rounds
// is how often it tries to come down to that, because new changes may come as
// fast.
const (
	few    = 100
	rounds = 20
)

// catchUp applies most of the missed changes, while others go on.
func (e *Engine) catchUp(b *build) {
	for range rounds {
		e.mu.Lock()
		missed := b.missed
		if len(missed) > few {
			b.missed = nil
		}
		e.mu.Unlock()
		if len(missed) <= few {
			return
		}
		b.makeUp(missed)
	}
}

// finish applies the rest, and returns the content of the index.
func (b *build) finish() *data {
	b.makeUp(b.missed)
	return b.index.items
}

func (b *build) makeUp(changes []missed) {
	for _, m := range changes {
		if key, entry := b.index.entry(m.old); entry != nil {
			b.index.items.put(key, nil)
		}
		if m.new != nil {
			b.add(m.new)
		}
	}
}

// endBuild removes the build from its table.
func (e *Engine) endBuild(b *build) {
	if b == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	b.table.builds = slices.DeleteFunc(b.table.builds, func(other *build) bool { return other == b })
}
