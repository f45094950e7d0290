package engine

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
	"github.com/homeops/ddbpatterns/dynamotest/internal/stream"
	"github.com/homeops/ddbpatterns/dynamotest/internal/tree"
)

// A record is one stored version of an item. It is never changed.
type record struct {
	item attr.Map
	size int
}

func newRecord(item attr.Map) *record { return &record{item: item, size: item.Size()} }

// data are records in the order of their keys.
type data struct {
	tree.Tree[*record]
	bytes int64
}

// put replaces the record under key. A nil record removes it.
func (d *data) put(key string, rec *record) {
	var old *record
	if rec != nil {
		old, _ = d.Set(key, rec)
		d.bytes += int64(rec.size)
	} else {
		old, _ = d.Delete(key)
	}
	if old != nil {
		d.bytes -= int64(old.size)
	}
}

// The engine's mutex guards a table, except its name and its key, which never
// change. Its definition and its indexes are replaced, never changed in place, so
// that a reply can be written from them after the mutex was released.
type table struct {
	name, arn string
	key       keys.Schema

	def     catalog.Table
	items   data
	indexes []*index       // in the order of the definition
	stream  *stream.Stream // the latest, open or closed; nil if the table never had one
	past    *past          // what late readers see
	builds  []*build       // of new indexes
}

// An index has an entry for every item that has all attributes of its key: the
// projected attributes of the item. Its definition is a copy of that in the
// table's, to save a pointer, because every write reads it.
type index struct {
	catalog.Index
	items *data // shared by the versions of an index that UpdateTable makes
	past  *past
}

// newIndex returns an empty index.
func newIndex(def catalog.Index) *index {
	return &index{Index: def, items: new(data), past: new(past)}
}

// newTable returns an empty table.
func newTable(def catalog.Table) *table {
	t := &table{name: def.Name, arn: def.ARN, key: def.Key, past: new(past)}
	t.define(def)
	return t
}

// define gives the table a definition. Existing indexes keep their entries; new
// ones are empty.
func (t *table) define(def catalog.Table) {
	indexes := make([]*index, len(def.Indexes))
	for i, x := range def.Indexes {
		if had := t.index(x.Name); had != nil {
			indexes[i] = &index{Index: x, items: had.items, past: had.past}
		} else {
			indexes[i] = newIndex(x)
		}
	}
	t.def, t.indexes = def, indexes
}

// entry returns the entry of the index for a record, with its key. It returns
// nil for a nil record, and for one that the index leaves out.
func (x *index) entry(rec *record) (string, *record) {
	if rec == nil {
		return "", nil
	}
	key, ok := x.Key.Key(rec.item)
	if !ok {
		return "", nil
	}
	for p := range x.Base.All() {
		v, _ := rec.item.Get(p.Name)
		key = attr.AppendKey(key, v)
	}
	return string(key), x.project(rec)
}

func (x *index) project(rec *record) *record {
	if x.All {
		return rec
	}
	out := make(attr.Map, 0, len(x.Projection.Include)+4)
	for _, f := range rec.item {
		if x.Holds(f.Name) {
			out = append(out, f)
		}
	}
	return newRecord(out)
}

func (t *table) index(name string) *index {
	for _, x := range t.indexes {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// checkIndexes checks an item against the keys of indexes.
func checkIndexes(indexes []*index, item attr.Map) *api.Error {
	for _, x := range indexes {
		if err := x.CheckItem(item); err != nil {
			return err
		}
	}
	return nil
}
