package engine

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
)

// throughput limits every partition to its capacity for a second. A partition
// is one value of a table's or a global index's partition key: the finest split
// that DynamoDB can make of a table without sort keys.
//
// Each partition has a bucket for each kind of unit. It holds one second's
// worth and fills evenly. A request is admitted unless the bucket is empty, and
// may overdraw it; the debt delays the next request.
//
// A provisioned table or global index can have one more bucket, which all of its
// partitions share: its pool.
type throughput struct {
	partition   limit // of every partition
	provisioned bool  // pools exist

	mu     sync.Mutex                       // guards what follows; taken after the engine's
	tables map[string]map[string]partitions // by table and index, which is "" for the table's own
	pools  map[string]map[string]*bucket    // likewise, for provisioned ones
}

// A limit is the size and the rate of a bucket.
type limit struct {
	rate     capacity.Units // a second's worth
	seconds  float64        // the bucket holds that many
	exceeded string         // its name in a reason
}

// partitions are the buckets of the partitions of a table or a global index, by
// their keys.
type partitions map[string]*bucket

// newThroughput limits the kinds of units that have a rate. Units of other
// kinds are only counted.
func newThroughput(rate capacity.Units, provisioned bool) *throughput {
	if rate.Read == 0 {
		rate.Read = math.Inf(1)
	}
	if rate.Write == 0 {
		rate.Write = math.Inf(1)
	}
	return &throughput{
		partition: limit{rate, 1, ofKeyRange}, provisioned: provisioned,
		tables: map[string]map[string]partitions{}, pools: map[string]map[string]*bucket{},
	}
}

// A Load is the requests of one partition.
type Load struct {
	Table, Index string // Index is "" for the table's own
	Partition    string // the values of the key, joined by commas
	Consumed     capacity.Units
	Peak         capacity.Units // the most within one second of the clock
	Throttled    int            // requests, or entries of batches, that were refused
}

type bucket struct {
	limit  *limit
	load   Load
	left   capacity.Units
	filled time.Time
	second int64 // the second in which units were consumed
	count  capacity.Units
}

// admit takes the units of each group of demands, or nothing for a group with an
// empty bucket. If together is true, no group gets anything if one is refused. It
// returns the error of each refused group, and reports whether any was refused.
// The engine is locked, at least for reading.
func (e *Engine) admit(groups [][]demand, together bool) (errs []*api.Error, refused bool) {
	tp := e.throughput
	errs = make([]*api.Error, len(groups))
	if tp == nil {
		return errs, false
	}
	now := e.now()
	tp.mu.Lock()
	defer tp.mu.Unlock()
	for i, group := range groups {
		errs[i] = tp.refuse(group, now)
		refused = refused || errs[i] != nil
		if errs[i] == nil && !together {
			tp.take(group, now)
		}
	}
	for _, group := range groups {
		if together && !refused {
			tp.take(group, now)
		}
	}
	return errs, refused
}

// refuse returns the error of a group of demands, or nil. It counts a refusal
// once for each partition.
func (tp *throughput) refuse(group []demand, now time.Time) *api.Error {
	empty := map[*bucket]bool{}
	var errs []*api.Error
	for j := range group {
		d := &group[j]
		for _, b := range tp.buckets(d, now) {
			if b == nil || b.has(d.Units) {
				continue
			}
			if !empty[b] {
				empty[b] = true
				b.load.Throttled++
			}
			errs = append(errs, d.refused(b.limit.exceeded))
		}
	}
	return joined(errs)
}

// buckets returns the buckets of a demand, filled up to now: that of its
// partition, and its pool. Either may be nil.
func (tp *throughput) buckets(d *demand, now time.Time) (out [2]*bucket) {
	if d.hash != nil {
		out[0] = tp.bucket(d, now)
	}
	out[1] = tp.pool(d.table, d.index, d.table.def.Created, now)
	return out
}

// bucket returns the bucket of a demand, filled up to now.
func (tp *throughput) bucket(d *demand, now time.Time) *bucket {
	all, key := tp.partitionsOf(d.table.name, d.indexName()), keys.Partition(d.hash)
	b := all[string(key)]
	if b == nil {
		texts := make([]string, len(d.hash))
		for i, v := range d.hash {
			texts[i] = v.Str()
		}
		b = &bucket{limit: &tp.partition, left: tp.partition.rate, filled: now, load: Load{Table: d.table.name, Index: d.indexName(), Partition: strings.Join(texts, ",")}}
		all[string(key)] = b
	}
	b.fill(now)
	return b
}

// fill adds the units of the time since the last fill.
func (b *bucket) fill(now time.Time) {
	if passed := now.Sub(b.filled).Seconds(); passed > 0 {
		rate, most := b.limit.rate, b.limit.seconds
		b.left.Read = min(most*rate.Read, b.left.Read+passed*rate.Read)
		b.left.Write = min(most*rate.Write, b.left.Write+passed*rate.Write)
		b.filled = now
	}
}

func (tp *throughput) partitionsOf(table, index string) partitions {
	indexes := tp.tables[table]
	if indexes == nil {
		indexes = map[string]partitions{}
		tp.tables[table] = indexes
	}
	all := indexes[index]
	if all == nil {
		all = partitions{}
		indexes[index] = all
	}
	return all
}

// forgetTable removes the loads of an earlier table of the same name: a new
// table begins with full buckets. Until then they are kept for Loads.
func (tp *throughput) forgetTable(name string) {
	if tp == nil {
		return
	}
	tp.mu.Lock()
	defer tp.mu.Unlock()
	delete(tp.tables, name)
	delete(tp.pools, name)
}

// forgetIndex is forgetTable for an index.
func (tp *throughput) forgetIndex(table, name string) {
	if tp == nil {
		return
	}
	tp.mu.Lock()
	defer tp.mu.Unlock()
	delete(tp.tables[table], name)
	delete(tp.pools[table], name)
}

func (b *bucket) has(want capacity.Units) bool {
	return (want.Read == 0 || b.left.Read > 0) && (want.Write == 0 || b.left.Write > 0)
}

func (tp *throughput) take(group []demand, now time.Time) {
	for i := range group {
		for _, b := range tp.buckets(&group[i], now) {
			if b != nil {
				b.take(group[i].Units, now)
			}
		}
	}
}

func (b *bucket) take(u capacity.Units, now time.Time) {
	b.left.Read -= u.Read
	b.left.Write -= u.Write
	b.load.Consumed.Add(u)
	if second := now.Unix(); second != b.second {
		b.second, b.count = second, capacity.Units{}
	}
	b.count.Add(u)
	b.load.Peak.Read = max(b.load.Peak.Read, b.count.Read)
	b.load.Peak.Write = max(b.load.Peak.Write, b.count.Write)
}

// Loads lists the partitions that had requests, the busiest first, including
// those of deleted tables and indexes.
func (e *Engine) Loads() []Load {
	tp := e.throughput
	if tp == nil {
		return nil
	}
	tp.mu.Lock()
	defer tp.mu.Unlock()
	var out []Load
	for _, indexes := range tp.tables {
		for _, all := range indexes {
			for _, b := range all {
				out = append(out, b.load)
			}
		}
	}
	slices.SortFunc(out, func(a, b Load) int {
		return cmp.Or(cmp.Compare(b.Throttled, a.Throttled), cmp.Compare(b.Consumed.Total(), a.Consumed.Total()),
			strings.Compare(a.Table, b.Table), strings.Compare(a.Index, b.Index), strings.Compare(a.Partition, b.Partition))
	})
	return out
}
