package engine

import (
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
)

// burst is how many seconds of unused throughput are kept, as AWS documents.
const burst = 300

// pool returns the bucket of a provisioned table or global index, filled up to
// now, or nil for one on demand. A new bucket begins with one second's worth, at
// the time since.
func (tp *throughput) pool(t *table, x *index, since, now time.Time) *bucket {
	if !tp.provisioned || t.def.OnDemand {
		return nil
	}
	name, figures := "", t.def.Throughput
	if x != nil {
		name, figures = x.Name, x.Throughput
	}
	rate := unitsOf(figures)
	pools := tp.pools[t.name]
	if pools == nil {
		pools = map[string]*bucket{}
		tp.pools[t.name] = pools
	}
	b := pools[name]
	if b == nil {
		b = &bucket{limit: &limit{rate, burst, ofProvisioned}, left: rate, filled: since}
		pools[name] = b
	}
	b.fill(now)
	if b.limit.rate != rate { // changed at this moment: see settle
		b.limit = &limit{rate, burst, ofProvisioned}
		b.left.Read, b.left.Write = min(b.left.Read, burst*rate.Read), min(b.left.Write, burst*rate.Write)
	}
	return b
}

func unitsOf(t api.Throughput) capacity.Units {
	return capacity.Units{Read: float64(t.Read.Value), Write: float64(t.Write.Value)}
}

// settle fills the pools of a table up to now. It is called before and after its
// definition changes. New pools exist since the given time. A table on demand has
// no pools.
func (tp *throughput) settle(t *table, since, now time.Time) {
	if tp == nil {
		return
	}
	tp.mu.Lock()
	defer tp.mu.Unlock()
	if t.def.OnDemand {
		delete(tp.pools, t.name)
		return
	}
	tp.pool(t, nil, since, now)
	for _, x := range t.indexes {
		if !x.Local {
			tp.pool(t, x, since, now)
		}
	}
}
