package engine

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// tooOld is the greatest age of an expiry. DynamoDB keeps an item with an older
// one, as its developer guide says ("Using time to live"). The guide does not say
// how many days five years have.
const tooOld = 5 * 365 * 24 * time.Hour

// sweptAtOnce is how many items a sweep deletes before it releases the lock for
// others.
const sweptAtOnce = 100

// ExpireTTL deletes the items that have expired by the engine's clock, and
// returns how many. DynamoDB does that some time after they expire. Until then
// they can be read, and conditions see them. The deletion consumes no capacity.
func (e *Engine) ExpireTTL() int {
	end, err := e.journal.Begin()
	if err != nil {
		return 0
	}
	defer end()
	defer func() { _ = e.journal.Settle() }() // a failure stays, and the next request gets it

	now, deleted := e.now(), 0
	for _, s := range e.sweeps() {
		for expired := range slices.Chunk(s.expired(now), sweptAtOnce) {
			deleted += e.expire(s, expired)
		}
	}
	return deleted
}

// A sweep reads the items that a table had when it began, while others use the
// table.
type sweep struct {
	table     *table
	attribute string
	items     data
}

func (e *Engine) sweeps() (all []sweep) {
	e.mu.Lock() // cloning a tree counts as a write
	defer e.mu.Unlock()
	for _, t := range e.tables {
		if t.def.TTL != "" {
			all = append(all, sweep{table: t, attribute: t.def.TTL, items: t.items.clone()})
		}
	}
	return all
}

func (s *sweep) expired(now time.Time) (all []change) {
	for key, rec := range s.items.Ascend("") {
		if v, ok := rec.item.Get(s.attribute); ok && isExpired(v, now) {
			all = append(all, change{table: s.table, key: key, old: rec, expired: true})
		}
	}
	return all
}

// expire deletes the expired items, except those that were written since.
func (e *Engine) expire(s sweep, expired []change) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.tables[s.table.name] != s.table || s.table.def.TTL != s.attribute {
		return 0
	}

	var changes []*change
	for i := range expired {
		c := &expired[i]
		seen := c.old
		if c.read(); c.old == seen {
			c.planEntries()
			changes = append(changes, c)
		}
	}

	e.commit(e.now(), changes)
	return len(changes)
}

// isExpired reports whether a value is an expired time, in seconds since 1970. Only
// a number is a time. It may have decimals: such an item expires in the tests of
// ScyllaDB's Alternator, which also run on AWS (test_ttl.py, test_ttl_expiration).
func isExpired(v attr.Value, now time.Time) bool {
	if v.Kind() != attr.N {
		return false
	}
	at, err := strconv.ParseFloat(v.Str(), 64)
	if err != nil {
		return false
	}
	age := float64(now.UnixMilli())/1000 - math.Floor(at)
	return age > 0 && age <= tooOld.Seconds()
}
