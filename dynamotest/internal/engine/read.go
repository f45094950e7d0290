package engine

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/bind"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
	"github.com/homeops/ddbpatterns/dynamotest/internal/throughput"
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
		items, _ = e.views(t, nil)
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

// admitRead admits the read of one item. It locks the engine.
func (e *Engine) admitRead(r *read, t *table, u capacity.Units) *api.Error {
	if e.throughput == nil {
		return nil
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.throughput.Admit([]throughput.Demand{r.demand(t, u)})
}

// demand returns the demand of reading an item.
func (r *read) demand(t *table, u capacity.Units) throughput.Demand {
	hash, _ := keys.Values(t.key.Hash, r.key.Map)
	return throughput.Demand{Table: &t.def, Hash: hash, Units: u}
}

func (e *Engine) getItem(call *Call, req *api.GetItem) (reply, *api.Error) {
	r, err := prepareRead(&req.Get)
	if err != nil {
		return nil, err
	}

	r.late = !req.ConsistentRead
	e.mu.RLock()
	t, rec, err := e.get(r)
	e.mu.RUnlock()
	if err != nil {
		return nil, err
	}

	cost := capacity.RateOf(req.ConsistentRead).Cost(sizeOf(rec))
	if err := e.admitRead(r, t, cost); err != nil {
		return nil, err
	}

	call.Cost = capacity.Cost{{Table: t.name, Base: cost}}
	report := capacity.ReportOf(req.ReturnCapacity, call.Cost)
	return func(w *api.Writer) {
		if rec != nil {
			w.Item("Item", r.shown(rec))
		}
		report.WriteOne(w)
	}, nil
}
