package engine

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
)

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

// checkIndexes checks an item against the keys of indexes.
func checkIndexes(indexes []*index, item attr.Map) *api.Error {
	for _, x := range indexes {
		if err := x.CheckItem(item); err != nil {
			return err
		}
	}
	return nil
}

// sameIndex reports whether two indexes are the same one, perhaps with other
// settings.
func sameIndex(x, y *index) bool { return x.items == y.items }
