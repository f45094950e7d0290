package engine

import (
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
	"github.com/homeops/ddbpatterns/dynamotest/internal/throughput"
)

// demands returns the demands of a planned write. The table's part is
// multiplied by a factor.
func (c *change) demands(w *write, factor float64) []throughput.Demand {
	if c.cost.Table == "" {
		return nil // it was refused before it cost anything
	}
	own, _ := keys.Values(c.table.key.Hash, w.named().Map)
	out := []throughput.Demand{{Table: &c.table.def, Hash: own, Units: capacity.Units{Write: factor * c.cost.Base.Write}}}
	for i := range c.entries {
		out = append(out, c.entries[i].demands(c.table, own)...)
	}
	return out
}

// demands returns the demands of the change of an index entry: on the index's
// own partitions, or on the table's if the index is local.
func (en *entryChange) demands(t *table, own []attr.Value) []throughput.Demand {
	want := func(rec *record, u capacity.Units) throughput.Demand {
		if en.index.Local {
			return throughput.Demand{Table: &t.def, Hash: own, Units: u}
		}
		hash, _ := keys.Values(en.index.Key.Hash, rec.item)
		return throughput.Demand{Table: &t.def, Index: &en.index.Index, Hash: hash, Units: u}
	}
	switch total := en.cost(); {
	case total.Write == 0:
		return nil
	case en.old != nil && en.new != nil && en.oldKey != en.newKey:
		return []throughput.Demand{want(en.old, capacity.WriteCost(en.old.size)), want(en.new, capacity.WriteCost(en.new.size))}
	case en.new != nil:
		return []throughput.Demand{want(en.new, total)}
	default:
		return []throughput.Demand{want(en.old, total)}
	}
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

// demand returns the demand of reading an item.
func (r *read) demand(t *table, u capacity.Units) throughput.Demand {
	hash, _ := keys.Values(t.key.Hash, r.key.Map)
	return throughput.Demand{Table: &t.def, Hash: hash, Units: u}
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

// A tally counts what a page takes from each partition.
type tally struct {
	hash    []attr.Value // of the partition that is read; nil if all are
	shares  []share
	demands []throughput.Demand
}

// A share is the part of a page from one partition.
type share struct {
	hash  []attr.Value
	bytes int
}

// count adds a record to the present share, or begins the next one. The records
// of a partition come together.
func (y *tally) count(key *keys.Schema, rec *record) {
	if y.hash != nil {
		return
	}
	hash, _ := keys.Values(key.Hash, rec.item)
	if n := len(y.shares); n == 0 || !slices.EqualFunc(y.shares[n-1].hash, hash, attr.Value.Equal) {
		y.shares = append(y.shares, share{hash: hash})
	}
	y.shares[len(y.shares)-1].bytes += rec.size
}

// close converts the shares to demands, and divides the units among them by
// bytes. A query that found nothing still costs its partition something. A scan
// that found nothing read no partition, but costs its table or index something.
func (y *tally) close(p *pager, units capacity.Units) {
	d := throughput.Demand{Table: &p.table.def, Hash: y.hash, Units: units}
	if p.index != nil && !p.index.Local {
		d.Index = &p.index.Index
	}
	if y.hash != nil || len(y.shares) == 0 {
		y.demands = append(y.demands, d)
		return
	}
	bytes := 0
	for _, s := range y.shares {
		bytes += s.bytes
	}
	for _, s := range y.shares {
		d.Hash, d.Units = s.hash, capacity.Units{Read: units.Read * float64(s.bytes) / float64(bytes)}
		y.demands = append(y.demands, d)
	}
}

// admitPage admits the page that a pager has read.
func (e *Engine) admitPage(p *pager) *api.Error {
	if p.tally == nil {
		return nil
	}
	return e.throughput.Admit(p.tally.demands)
}
