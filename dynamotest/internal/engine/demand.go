package engine

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
	"github.com/homeops/ddbpatterns/dynamotest/internal/throughput"
)

// demands returns the demands of a planned write. The factor of the table's part is 2
// in a transaction, which prepares and commits, and otherwise 1.
func (c *change) demands(w *write, factor float64) []throughput.Demand {
	if c.cost.Table == "" {
		return nil // it was refused before it cost anything
	}

	hash, _ := keys.Values(c.table.key.Hash, w.named().Map)
	out := []throughput.Demand{{Table: &c.table.def, Hash: hash, Units: capacity.Units{Write: factor * c.cost.Base.Write}}}
	for i := range c.entries {
		out = append(out, c.entries[i].demands(c.table, hash)...)
	}
	return out
}

// demands returns the demands of the change of an index entry: on the index's
// own partitions, or on the table's if the index is local.
func (en *entryChange) demands(t *table, own []attr.Value) (out []throughput.Demand) {
	for _, p := range en.parts() {
		d := throughput.Demand{Table: &t.def, Hash: own, Units: p.Units}
		if !en.index.Local {
			d.Index = &en.index.Index
			d.Hash, _ = keys.Values(en.index.Key.Hash, p.record.item)
		}
		out = append(out, d)
	}
	return out
}

// admitWrite admits a single write.
func (e *Engine) admitWrite(w *write, c *change) *api.Error {
	if e.throughput == nil {
		return nil
	}
	return e.throughput.Admit(c.demands(w, 1))
}

// admitWrites admits the writes of a transaction. The error has a reason for
// each refused action.
func (e *Engine) admitWrites(writes []*write, changes []change) *api.Error {
	if e.throughput == nil {
		return nil
	}
	groups := make([][]throughput.Demand, len(writes))
	for i := range writes {
		groups[i] = changes[i].demands(writes[i], 2)
	}
	return e.throughput.AdmitTogether(groups)
}

// admitEach admits the writes of a batch one by one. It returns the changes of
// the admitted writes, and the other writes.
func (e *Engine) admitEach(writes []*write, changes []change) (done []change, left []*write, err *api.Error) {
	groups := make([][]throughput.Demand, len(writes))
	for i := range writes {
		groups[i] = changes[i].demands(writes[i], 1)
	}

	errs := e.throughput.AdmitEach(groups)
	for i := range writes {
		if errs[i] != nil {
			left = append(left, writes[i])
		} else {
			done = append(done, changes[i])
		}
	}

	return done, left, throughput.Joined(errs)
}
