package engine

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
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
)

// throughput holds every partition to what it can take in a second. A partition
// is one value of a table's or a global index's partition key: the best that
// DynamoDB's splitting can do for a table without sort keys.
//
// Each has a bucket per kind of unit that holds one second's worth and fills
// evenly. A request is let through while there is anything in the bucket, and
// may overdraw it; the debt delays the next.
type throughput struct {
	limit capacity.Units // what a second brings

	mu     sync.Mutex                       // guards what follows; taken after the engine's
	tables map[string]map[string]partitions // by table and index, which is "" for the table's own
}

// partitions are those of a table or of a global index, by their keys.
type partitions map[string]*bucket

// newThroughput limits what has a limit: the units of a kind that has none are
// counted only.
func newThroughput(limit capacity.Units) *throughput {
	if limit.Read == 0 {
		limit.Read = math.Inf(1)
	}
	if limit.Write == 0 {
		limit.Write = math.Inf(1)
	}
	return &throughput{limit: limit, tables: map[string]map[string]partitions{}}
}

// A Load is what one partition has met.
type Load struct {
	Table, Index string // Index is "" for the table's own
	Partition    string // the values of the key, joined by commas
	Consumed     capacity.Units
	Peak         capacity.Units // the most within one second of the clock
	Throttled    int            // requests, or entries of batches, that were refused
}

type bucket struct {
	load   Load
	left   capacity.Units
	filled time.Time
	second int64 // that second counts what was consumed in
	count  capacity.Units
}

// A demand is what a request wants of one partition.
type demand struct {
	table *table
	index *index // nil for the table itself
	hash  []attr.Value
	capacity.Units
}

func (d *demand) indexName() string {
	if d.index == nil {
		return ""
	}
	return d.index.Name
}

// reason is why the demand is refused.
func (d *demand) reason() api.ThrottlingReason {
	switch {
	case d.index != nil && d.Write > 0:
		return api.ThrottlingReason{Reason: IndexWriteThrottled, Resource: d.index.ARN}
	case d.index != nil:
		return api.ThrottlingReason{Reason: IndexReadThrottled, Resource: d.index.ARN}
	case d.Write > 0:
		return api.ThrottlingReason{Reason: TableWriteThrottled, Resource: d.table.arn}
	}
	return api.ThrottlingReason{Reason: TableReadThrottled, Resource: d.table.arn}
}

// admit takes what each group of demands wants, or nothing of a group that meets
// an empty bucket. Together, no group gets anything when one is refused. The
// error is there when a group was.
func (e *Engine) admit(groups [][]demand, together bool) (refused []bool, err *api.Error) {
	tp := e.throughput
	refused = make([]bool, len(groups))
	if tp == nil {
		return refused, nil
	}
	now := e.now()
	tp.mu.Lock()
	defer tp.mu.Unlock()
	var reasons []api.ThrottlingReason
	for i, group := range groups {
		for _, why := range tp.refuse(group, now) {
			refused[i] = true
			if !slices.Contains(reasons, why) {
				reasons = append(reasons, why)
			}
		}
		if !refused[i] && !together {
			tp.take(group, now)
		}
	}
	if len(reasons) > 0 {
		return refused, Throttling{}.because(reasons)
	}
	if together {
		tp.take(slices.Concat(groups...), now)
	}
	return refused, nil
}

// refuse returns why a group of demands is refused, if it is, and counts that
// once for each partition.
func (tp *throughput) refuse(group []demand, now time.Time) (reasons []api.ThrottlingReason) {
	empty := map[*bucket]bool{}
	for j := range group {
		d := &group[j]
		b := tp.bucket(d, now)
		if b.has(d.Units) {
			continue
		}
		if !empty[b] {
			empty[b] = true
			b.load.Throttled++
		}
		if why := d.reason(); !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
	}
	return reasons
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
		b = &bucket{left: tp.limit, filled: now, load: Load{Table: d.table.name, Index: d.indexName(), Partition: strings.Join(texts, ",")}}
		all[string(key)] = b
	}
	if passed := now.Sub(b.filled).Seconds(); passed > 0 {
		b.left.Read = min(tp.limit.Read, b.left.Read+passed*tp.limit.Read)
		b.left.Write = min(tp.limit.Write, b.left.Write+passed*tp.limit.Write)
		b.filled = now
	}
	return b
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

// forgetTable drops what an earlier table of a name has met: the one that is
// made now begins with full buckets. Until then it is kept, to be looked at.
func (tp *throughput) forgetTable(name string) {
	if tp == nil {
		return
	}
	tp.mu.Lock()
	defer tp.mu.Unlock()
	delete(tp.tables, name)
}

// forgetIndex does the same for an index.
func (tp *throughput) forgetIndex(table, name string) {
	if tp == nil {
		return
	}
	tp.mu.Lock()
	defer tp.mu.Unlock()
	delete(tp.tables[table], name)
}

func (b *bucket) has(want capacity.Units) bool {
	return (want.Read == 0 || b.left.Read > 0) && (want.Write == 0 || b.left.Write > 0)
}

func (tp *throughput) take(group []demand, now time.Time) {
	for i := range group {
		d := &group[i]
		b := tp.bucket(d, now)
		b.left.Read -= d.Read
		b.left.Write -= d.Write
		b.load.Consumed.Add(d.Units)
		if second := now.Unix(); second != b.second {
			b.second, b.count = second, capacity.Units{}
		}
		b.count.Add(d.Units)
		b.load.Peak.Read = max(b.load.Peak.Read, b.count.Read)
		b.load.Peak.Write = max(b.load.Peak.Write, b.count.Write)
	}
}

// Loads lists the partitions that requests have met, the busiest first, those of
// deleted tables and indexes included.
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

// demands are what a planned write wants, its table's part times a factor.
func (c *change) demands(w *write, factor float64) []demand {
	if c.cost.Table == "" {
		return nil // refused before it cost anything
	}
	named := w.req.Key.Map
	if w.kind == api.Put {
		named = w.req.Item.Map
	}
	own, _ := keys.Values(c.table.key.Hash, named)
	out := []demand{{table: c.table, hash: own, Units: capacity.Units{Write: factor * c.cost.Base.Write}}}
	for i := range c.entries {
		out = append(out, c.entries[i].demands(c.table, own)...)
	}
	return out
}

// demands are what the change of an index entry wants: of the index's own
// partitions or, when it is a local one, of the table's.
func (en *entryChange) demands(t *table, own []attr.Value) []demand {
	want := func(rec *record, u capacity.Units) demand {
		if en.index.Local {
			return demand{table: t, hash: own, Units: u}
		}
		hash, _ := keys.Values(en.index.Key.Hash, rec.item)
		return demand{table: t, index: en.index, hash: hash, Units: u}
	}
	switch total := en.cost(); {
	case total.Write == 0:
		return nil
	case en.old != nil && en.new != nil && en.oldKey != en.newKey:
		return []demand{want(en.old, capacity.WriteCost(en.old.size)), want(en.new, capacity.WriteCost(en.new.size))}
	case en.new != nil:
		return []demand{want(en.new, total)}
	default:
		return []demand{want(en.old, total)}
	}
}

// admitWrite admits a single write.
func (e *Engine) admitWrite(w *write, c *change) *api.Error {
	if e.throughput == nil {
		return nil
	}
	_, err := e.admit([][]demand{c.demands(w, 1)}, true)
	return err
}

// admitWrites admits the writes of a transaction. The error is a reason for each
// action that is refused.
func (e *Engine) admitWrites(writes []*write, changes []change) *api.Error {
	if e.throughput == nil {
		return nil
	}
	groups := make([][]demand, len(writes))
	for i := range writes {
		groups[i] = changes[i].demands(writes[i], 2)
	}
	return e.admitTogether(groups)
}

// admitEach admits the writes of a batch one by one, and returns the changes of
// those that are let through and the writes that are not.
func (e *Engine) admitEach(writes []*write, changes []change) (done []change, left []*write, err *api.Error) {
	groups := make([][]demand, len(writes))
	for i := range writes {
		groups[i] = changes[i].demands(writes[i], 1)
	}
	refused, err := e.admit(groups, false)
	for i := range writes {
		if refused[i] {
			left = append(left, writes[i])
		} else {
			done = append(done, changes[i])
		}
	}
	return done, left, err
}

func (e *Engine) admitTogether(groups [][]demand) *api.Error {
	refused, err := e.admit(groups, true)
	if err == nil {
		return nil
	}
	return cancelled(refused, api.Reason{Code: "ProvisionedThroughputExceeded", Message: throttledText})
}

// demand is what reading an item wants.
func (r *read) demand(t *table, u capacity.Units) demand {
	hash, _ := keys.Values(t.key.Hash, r.key.Map)
	return demand{table: t, hash: hash, Units: u}
}

// admitRead admits the read of one item.
func (e *Engine) admitRead(r *read, t *table, u capacity.Units) *api.Error {
	if e.throughput == nil {
		return nil
	}
	_, err := e.admit([][]demand{{r.demand(t, u)}}, true)
	return err
}

// A tally finds out what a page wants of which partitions.
type tally struct {
	hash    []attr.Value // of the partition that is read; nil when all of them are
	shares  []share
	demands []demand
}

// A share is the part of a page that was read of one partition.
type share struct {
	hash  []attr.Value
	bytes int
}

// count adds a record of the next share. All of a partition stand together.
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

// close turns what was counted into demands, which share the units by their
// bytes. A query that found nothing has cost its partition something; a scan
// that found nothing went to none.
func (y *tally) close(p *pager, units capacity.Units) {
	d := demand{table: p.table, hash: y.hash, Units: units}
	if p.index != nil && !p.index.Local {
		d.index = p.index
	}
	if y.hash != nil {
		y.demands = append(y.demands, d)
		return
	}
	bytes := 0
	for _, s := range y.shares {
		bytes += s.bytes
	}
	for _, s := range y.shares {
		d.hash, d.Units = s.hash, capacity.Units{Read: units.Read * float64(s.bytes) / float64(bytes)}
		y.demands = append(y.demands, d)
	}
}

// admitPage admits what a pager has read.
func (e *Engine) admitPage(p *pager) *api.Error {
	if p.tally == nil {
		return nil
	}
	_, err := e.admit([][]demand{p.tally.demands}, true)
	return err
}
