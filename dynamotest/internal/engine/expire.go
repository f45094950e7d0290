package engine

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// tooOld is how far back an expiry may lie: DynamoDB keeps an item with an older one,
// as its developer guide says ("Using time to live"), which does not say how long
// five years are to the day.
const tooOld = 5 * 365 * 24 * time.Hour

// sweptAtOnce is how many items a sweep deletes before it lets others have the
// lock.
const sweptAtOnce = 100

// ExpireTTL deletes the items that have expired on the engine's clock, as
// DynamoDB does some time after they have, and returns how many. Until then
// they can be read and stand in the way of conditions. Nobody is charged.
func (e *Engine) ExpireTTL() int {
	end, err := e.journal.Begin()
	if err != nil {
		return 0
	}
	defer end()
	defer func() { _ = e.journal.Settle() }() // a failure stays, and meets the next request
	now, deleted := e.now().Add(-e.opt.TTLDelay), 0
	for _, s := range e.sweeps() {
		for expired := range slices.Chunk(s.expired(now), sweptAtOnce) {
			deleted += e.expire(s, expired)
		}
	}
	return deleted
}

// A sweep looks through what a table held when it began, while others use the
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

// expire deletes those of the expired items that nobody has written since.
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

// isExpired judges a time in seconds since 1970. Another kind than a number is not a
// time. A number with decimals is one: the tests of ScyllaDB's Alternator, which run
// on AWS too, have such an item expire (test_ttl.py, test_ttl_expiration).
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
