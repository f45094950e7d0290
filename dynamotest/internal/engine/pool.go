package engine

import (
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
)

// burst is how many seconds' worth of unused throughput AWS says it keeps.
const burst = 300

// pool returns what a provisioned table or global index, if it is one, has left,
// filled up to now. One that nobody asked for yet had a second's worth at a time
// before.
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
	if b.limit.rate != rate { // since this very moment: see settle
		b.limit = &limit{rate, burst, ofProvisioned}
		b.left.Read, b.left.Write = min(b.left.Read, burst*rate.Read), min(b.left.Write, burst*rate.Write)
	}
	return b
}

func unitsOf(t api.Throughput) capacity.Units {
	return capacity.Units{Read: float64(t.Read.Value), Write: float64(t.Write.Value)}
}

// settle brings the pools of a table up to now, before its definition changes and
// after. Those that are new have been there since a time. A table on demand has
// none.
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
