package throughput

import (
	"maps"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
)

// burst is how many seconds of unused throughput are kept, as AWS documents.
const burst = 300

// pool returns the bucket of a demand's table or global index, filled up to now, or
// nil for one on demand. A new bucket begins with one second's worth, at
// the time since.
func (l *Limits) pool(d *Demand, since, now time.Time) *bucket {
	if !l.provisioned || d.Table.OnDemand {
		return nil
	}

	at, rate := d.place(), unitsOf(d.Table.Throughput)
	if d.Index != nil {
		rate = unitsOf(d.Index.Throughput)
	}

	b := l.pools[at]
	if b == nil {
		b = &bucket{limit: &limit{rate, burst, ofProvisioned}, left: rate, filled: since}
		l.pools[at] = b
	}

	b.fill(now)
	if b.limit.rate != rate { // changed at this moment: see Settle
		b.limit = &limit{rate, burst, ofProvisioned}
		b.left.Read, b.left.Write = min(b.left.Read, burst*rate.Read), min(b.left.Write, burst*rate.Write)
	}

	return b
}

func unitsOf(t api.Throughput) capacity.Units {
	return capacity.Units{Read: float64(t.Read.Value), Write: float64(t.Write.Value)}
}

// Settle fills the pools of a table up to now. It is called before and after its
// definition changes. New pools exist since the given time. A table on demand has
// no pools.
func (l *Limits) Settle(t *catalog.Table, since, now time.Time) {
	if l == nil {
		return
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	if t.OnDemand {
		maps.DeleteFunc(l.pools, func(at place, _ *bucket) bool { return at.table == t.Name })
		return
	}

	l.pool(&Demand{Table: t}, since, now)
	for i := range t.Indexes {
		if x := &t.Indexes[i]; !x.Local {
			l.pool(&Demand{Table: t, Index: x}, since, now)
		}
	}
}
