package engine

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/bind"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

// A read is the part of a request for one item, with its projection bound.
type read struct {
	table string
	key   api.Item
	late  bool // eventually consistent: may see an older version
	expr.Bound
}

// prepareReads prepares to read several items of a table in the same way.
func prepareReads(table string, keys []api.Item, projection api.Opt[string], e *api.Expressions) ([]*read, *api.Error) {
	src := bind.Sources{Projection: projection}
	if err := src.Check(e); err != nil {
		return nil, err
	}
	b, err := src.Bind(e)
	if err != nil {
		return nil, err
	}
	reads := make([]*read, len(keys))
	for i, key := range keys {
		if err := key.Wrong(); err != nil {
			return nil, err
		}
		reads[i] = &read{table: table, key: key, Bound: b}
	}
	return reads, nil
}

func prepareRead(g *api.Get) (*read, *api.Error) {
	reads, err := prepareReads(g.TableName.Value, []api.Item{g.Key}, g.Projection, &g.Expressions)
	if err != nil {
		return nil, err
	}
	return reads[0], nil
}

// get returns the item that r names.
func (e *Engine) get(r *read) (*table, *record, *api.Error) {
	t, err := e.tableNamed(r.table)
	if err != nil {
		return nil, nil, err
	}
	if err := t.key.CheckKey(r.key.Map); err != nil {
		return t, nil, err
	}
	if err := t.def.CheckScalars(r.Nested()); err != nil {
		return t, nil, err
	}
	key, _ := t.key.Key(r.key.Map)
	items := &t.items
	if r.late {
		items = e.view(t)
	}
	rec, _ := items.Get(string(key))
	return t, rec, nil
}

// shown returns the attributes of an item that r asks for.
func (r *read) shown(rec *record) attr.Map {
	if rec == nil || r.Selection == nil {
		return itemOf(rec)
	}
	return r.Selection.Apply(rec.item)
}
