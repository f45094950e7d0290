package engine

import "github.com/homeops/ddbpatterns/dynamotest/internal/catalog"

// A build fills a new index from the items of its table at its beginning, while
// others use the table. At its end it catches up with their changes.
type build struct {
	index  *index
	items  data // of the table
	missed []missed
}

// A missed change was made while the index was filled.
type missed struct{ old, new *record }

// newBuild returns a build of a new index of a table with the items.
func newBuild(items data, def catalog.Index) *build {
	return &build{index: newIndex(def), items: items}
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
func (b *build) miss(old, new *record) { b.missed = append(b.missed, missed{old, new}) }

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
