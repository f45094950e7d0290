// Package throughput limits partitions, tables and global indexes to their
// capacity. It knows their definitions and the units that requests consume, but
// neither items nor operations.
package throughput

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
)

// Limits limit every partition to its capacity for a second. A partition is one
// value of a table's or a global index's partition key: the finest split that
// DynamoDB can make of a table without sort keys. Nil Limits admit everything.
//
// Each partition has a bucket for each kind of unit. It holds one second's
// worth and fills evenly. A request is admitted unless the bucket is empty, and
// may overdraw it; the debt delays the next request.
//
// A provisioned table or global index can have one more bucket, which all of its
// partitions share: its pool.
type Limits struct {
	partition   limit // of every partition
	provisioned bool  // pools exist
	now         func() time.Time

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

// New limits the kinds of units that have a rate. Units of other kinds are only
// counted. It returns nil if nothing is to be limited.
func New(rate capacity.Units, provisioned bool, now func() time.Time) *Limits {
	if rate == (capacity.Units{}) && !provisioned {
		return nil
	}
	if rate.Read == 0 {
		rate.Read = math.Inf(1)
	}
	if rate.Write == 0 {
		rate.Write = math.Inf(1)
	}
	return &Limits{
		partition: limit{rate, 1, ofKeyRange}, provisioned: provisioned, now: now,
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

// A Demand is what a request takes from one partition. The definitions are those
// of the moment, so the engine is locked, at least for reading, from the making of
// a demand until it is admitted.
type Demand struct {
	Table *catalog.Table
	Index *catalog.Index // nil for the table itself
	Hash  []attr.Value   // nil without a partition
	capacity.Units
}

func (d *Demand) indexName() string {
	if d.Index == nil {
		return ""
	}
	return d.Index.Name
}

// Admit takes the units of a group of demands. It takes nothing and returns an
// error if a bucket is empty.
func (l *Limits) Admit(group []Demand) *api.Error { return l.AdmitEach([][]Demand{group})[0] }

// AdmitEach is Admit for each group of its own. It returns the error of each.
func (l *Limits) AdmitEach(groups [][]Demand) []*api.Error {
	errs, _ := l.admit(groups, false)
	return errs
}

// AdmitTogether admits all groups or none, those of a transaction's actions. The
// error has a reason for each refused action.
func (l *Limits) AdmitTogether(groups [][]Demand) *api.Error {
	errs, refused := l.admit(groups, true)
	if !refused {
		return nil
	}
	return Cancelled(errs)
}

// admit returns the error of each refused group, and reports whether any was
// refused.
func (l *Limits) admit(groups [][]Demand, together bool) (errs []*api.Error, refused bool) {
	errs = make([]*api.Error, len(groups))
	if l == nil {
		return errs, false
	}
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, group := range groups {
		errs[i] = l.refuse(group, now)
		refused = refused || errs[i] != nil
		if errs[i] == nil && !together {
			l.take(group, now)
		}
	}
	for _, group := range groups {
		if together && !refused {
			l.take(group, now)
		}
	}
	return errs, refused
}

// refuse returns the error of a group of demands, or nil. It counts a refusal
// once for each partition.
func (l *Limits) refuse(group []Demand, now time.Time) *api.Error {
	empty := map[*bucket]bool{}
	var errs []*api.Error
	for j := range group {
		d := &group[j]
		for _, b := range l.buckets(d, now) {
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
	return Joined(errs)
}

// buckets returns the buckets of a demand, filled up to now: that of its
// partition, and its pool. Either may be nil.
func (l *Limits) buckets(d *Demand, now time.Time) (out [2]*bucket) {
	if d.Hash != nil {
		out[0] = l.bucket(d, now)
	}
	out[1] = l.pool(d, d.Table.Created, now)
	return out
}

// bucket returns the bucket of a demand, filled up to now.
func (l *Limits) bucket(d *Demand, now time.Time) *bucket {
	all, key := l.partitionsOf(d.Table.Name, d.indexName()), keys.Partition(d.Hash)
	b := all[string(key)]
	if b == nil {
		texts := make([]string, len(d.Hash))
		for i, v := range d.Hash {
			texts[i] = v.Str()
		}
		b = &bucket{limit: &l.partition, left: l.partition.rate, filled: now, load: Load{Table: d.Table.Name, Index: d.indexName(), Partition: strings.Join(texts, ",")}}
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

func (l *Limits) partitionsOf(table, index string) partitions {
	indexes := l.tables[table]
	if indexes == nil {
		indexes = map[string]partitions{}
		l.tables[table] = indexes
	}
	all := indexes[index]
	if all == nil {
		all = partitions{}
		indexes[index] = all
	}
	return all
}

// ForgetTable removes the loads of an earlier table of the same name: a new
// table begins with full buckets. Until then they are kept for Loads.
func (l *Limits) ForgetTable(name string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.tables, name)
	delete(l.pools, name)
}

// ForgetIndex is ForgetTable for an index.
func (l *Limits) ForgetIndex(table, name string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.tables[table], name)
	delete(l.pools[table], name)
}

func (b *bucket) has(want capacity.Units) bool {
	return (want.Read == 0 || b.left.Read > 0) && (want.Write == 0 || b.left.Write > 0)
}

func (l *Limits) take(group []Demand, now time.Time) {
	for i := range group {
		for _, b := range l.buckets(&group[i], now) {
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
func (l *Limits) Loads() []Load {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Load
	for _, indexes := range l.tables {
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
