// Package throughput limits partitions, tables and global indexes to their
// capacity. It knows their definitions and the units that requests consume, but
// neither items nor operations.
package throughput

import (
	"cmp"
	"maps"
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

	mu         sync.Mutex // guards what follows; taken after the engine's
	partitions map[place]*bucket
	pools      map[place]*bucket // of provisioned tables and indexes
}

// A place is a partition, by its key, or all of a table or a global index.
type place struct {
	table, index string // index is "" for the table's own
	partition    string
}

// A limit is the size and the rate of a bucket.
type limit struct {
	rate     capacity.Units // a second's worth
	seconds  float64        // the bucket holds that many
	exceeded string         // its name in a reason
}

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
		partitions: map[place]*bucket{}, pools: map[place]*bucket{},
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

// place returns the table or the index of a demand.
func (d *Demand) place() place {
	if d.Index == nil {
		return place{table: d.Table.Name}
	}
	return place{table: d.Table.Name, index: d.Index.Name}
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
		out[0] = l.partitionBucket(d, now)
	}
	out[1] = l.pool(d, d.Table.Created, now)
	return out
}

// partitionBucket returns the bucket of a demand's partition, filled up to now. A new one
// is full.
func (l *Limits) partitionBucket(d *Demand, now time.Time) *bucket {
	at := d.place()
	at.partition = string(keys.Partition(d.Hash))
	b := l.partitions[at]
	if b == nil {
		texts := make([]string, len(d.Hash))
		for i, v := range d.Hash {
			texts[i] = v.Str()
		}
		b = &bucket{
			limit: &l.partition, left: l.partition.rate, filled: now,
			load: Load{Table: at.table, Index: at.index, Partition: strings.Join(texts, ",")}, // for people to read
		}
		l.partitions[at] = b
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

// ForgetTable removes the loads of an earlier table of the same name: a new
// table begins with full buckets. Until then they are kept for Loads.
func (l *Limits) ForgetTable(name string) {
	l.forget(func(at place) bool { return at.table == name })
}

// ForgetIndex is ForgetTable for an index.
func (l *Limits) ForgetIndex(table, name string) {
	l.forget(func(at place) bool { return at.table == table && at.index == name })
}

func (l *Limits) forget(what func(place) bool) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	forgotten := func(at place, _ *bucket) bool { return what(at) }
	maps.DeleteFunc(l.partitions, forgotten)
	maps.DeleteFunc(l.pools, forgotten)
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
	for _, b := range l.partitions {
		out = append(out, b.load)
	}

	slices.SortFunc(out, func(a, b Load) int {
		return cmp.Or(cmp.Compare(b.Throttled, a.Throttled), cmp.Compare(b.Consumed.Total(), a.Consumed.Total()),
			strings.Compare(a.Table, b.Table), strings.Compare(a.Index, b.Index), strings.Compare(a.Partition, b.Partition))
	})
	return out
}
