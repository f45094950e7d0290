package engine

import (
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
)

// read sets the stored state from which changes begin.
func (e *Engine) read(changes ...*change) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	for _, c := range changes {
		c.read()
	}
}

// current reports whether the stored state from which changes begin is still
// the same.
func (e *Engine) current(changes ...*change) bool {
	for _, c := range changes {
		now := change{table: c.table, key: c.key}
		now.read()
		if e.tables[c.table.name] != c.table || now.old != c.old || !slices.EqualFunc(now.indexes, c.indexes, sameIndex) {
			return false
		}
	}
	return true
}

// commit applies changes that take effect together, at the given time.
func (e *Engine) commit(at time.Time, changes []*change) {
	for _, c := range changes {
		e.keepPast(c.table, at)
		c.commit(at)
	}
	if e.journal != nil && len(changes) > 0 {
		e.logChanges(at, changes)
	}
}

// logChanges appends the changes of a commit, with their time.
func (e *Engine) logChanges(at time.Time, changes []*change) {
	// A delete of a missing item and a check change nothing, so they are not
	// kept.
	changes = slices.DeleteFunc(slices.Clone(changes), func(c *change) bool { return c.old == c.new })
	if len(changes) == 0 {
		return
	}

	added, expired := int64(0), false
	pieces := make([][]byte, 0, 2*len(changes)+1)
	before := append(journal.AppendStart(nil, at), `,"Changes":[`...)

	for _, c := range changes {
		if c.encoded == nil {
			c.encode()
		}
		pieces = append(pieces, before, c.encoded)
		before = []byte(",")
		added += weight(c.new) // what the journal compares with the present state
		expired = expired || c.expired
	}

	end := "]" + journal.EntryEnd
	if expired {
		end = `],"Expired":true` + journal.EntryEnd
	}

	e.journal.Append(added, append(pieces, []byte(end))...)
}

// logRequest appends a request that changed a table as a whole.
func (e *Engine) logRequest(call *Call, at time.Time) {
	if e.journal != nil {
		e.journal.Append(bodyWeight(len(call.body)), append(journal.AppendStart(nil, at), ','), call.encoded, []byte(journal.EntryEnd))
	}
}
