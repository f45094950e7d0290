package engine

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
	"github.com/homeops/ddbpatterns/dynamotest/internal/stream"
)

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

func (t *table) index(name string) *index {
	for _, x := range t.indexes {
		if x.Name == name {
			return x
		}
	}
	return nil
}

func (t *table) clone() *table {
	out := *t
	out.past = new(past) // a copy begins with the present
	out.builds = nil
	out.items = t.items.clone()
	out.indexes = make([]*index, len(t.indexes))
	for i, x := range t.indexes {
		y := *x
		items := x.items.clone()
		y.items, y.past = &items, new(past)
		out.indexes[i] = &y
	}
	return &out
}

func (t *table) describe(w *api.Writer, status string) {
	now := catalog.State{Status: status, Held: t.items.held(), Stream: t.stream.Described()}
	for _, x := range t.indexes {
		now.Indexes = append(now.Indexes, x.items.held())
	}
	t.def.Describe(w, &now)
}

// weight returns the weight of the table without its items.
func (t *table) weight() int64 {
	var w api.Writer
	w.Element(func() { t.def.Define(&w, "") })
	return bodyWeight(len(w.Buf))
}
