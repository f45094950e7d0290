package engine

import (
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
)

// A build fills a new index from what its table held when it began, while others
// use the table, and catches up with their changes at its end.
type build struct {
	table  *table
	index  *index
	items  data // of the table
	missed []missed
}

// A missed change was made while the index was filled.
type missed struct{ old, new *record }

// startBuild begins to build the index that a request makes. It returns nil when
// there is none, or when the request will be refused.
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

// newBuild returns a build of an index that a table will have.
func newBuild(t *table, def catalog.Index) *build {
	return &build{table: t, index: newIndex(def), items: t.items.clone()}
}

// fill puts into the index what there was. It needs no lock.
func (b *build) fill() {
	for _, rec := range b.items.Ascend("") {
		b.add(rec)
	}
}

// add puts an item into the index. One whose attributes do not suit its key is
// left out: only later writes are held to it.
func (b *build) add(rec *record) {
	if b.index.CheckItem(rec.item) != nil {
		return
	}
	if key, entry := b.index.entry(rec); entry != nil {
		b.index.items.put(key, entry)
	}
}

// miss remembers a change of the table.
func (b *build) miss(c *change) { b.missed = append(b.missed, missed{c.old, c.new}) }

// few is how many changes a build may make up for while others wait, and rounds
// how often it tries to come to that, for new ones may come as fast.
const (
	few    = 100
	rounds = 20
)

// catchUp makes up for most of what was missed, while others go on.
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

// finish makes up for the rest, and returns what the index holds.
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

// endBuild lets go of the table.
func (e *Engine) endBuild(b *build) {
	if b == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	b.table.builds = slices.DeleteFunc(b.table.builds, func(other *build) bool { return other == b })
}
