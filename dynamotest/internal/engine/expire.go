package engine

import (
	"math"
	"strconv"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// tooOld is how far back an expiry may lie: DynamoDB takes an older one for a
// mistake and keeps the item.
const tooOld = 5 * 365 * 24 * time.Hour

// ExpireTTL deletes the items that have expired on the engine's clock, as
// DynamoDB does some time after they have, and returns how many. Until then
// they can be read and stand in the way of conditions. Nobody is charged.
func (e *Engine) ExpireTTL() int {
	end, err := e.begin()
	if err != nil {
		return 0
	}
	defer end()
	defer func() { _ = e.settle() }() // a failure stays, and meets the next request
	e.mu.Lock()
	defer e.mu.Unlock()
	now, deleted := e.now().Add(-e.opt.TTLDelay), 0
	for _, t := range e.tables {
		if t.settings.ttl == "" {
			continue
		}
		var expired []change
		for key, rec := range t.items.Ascend("") {
			if v, ok := rec.item.Get(t.settings.ttl); ok && isExpired(v, now) {
				expired = append(expired, change{table: t, indexes: t.indexes, key: key, old: rec, expired: true})
			}
		}
		for i := range expired {
			expired[i].planEntries()
		}
		e.commit(pointers(expired))
		deleted += len(expired)
	}
	return deleted
}

// isExpired judges a time in seconds since 1970. Other kinds than numbers are
// no times.
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
