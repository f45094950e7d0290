package engine

import (
	"context"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

// A Hook stands around every operation: here a server injects its faults and
// reads what calls cost. It is called with a request that is well-formed, before
// anything is looked at. No lock is held meanwhile, so it may wait.
type Hook func(ctx context.Context, call *Call) Decision

// A Decision says what becomes of a call. The zero Decision lets it pass.
type Decision struct {
	// Answer becomes the reply, and nothing happens.
	Answer *api.Error

	// Refuse has, for each target of a batch, what it meets instead of being
	// processed, or nil. Entries of BatchGetItem and BatchWriteItem come back
	// unprocessed, whatever the error is.
	Refuse []*api.Error

	// After is called, unless it is nil, when the request has taken effect or was
	// refused, before the reply leaves. It gets the error that refused the request,
	// or nil. What it returns takes the place of the reply.
	After func(refused *api.Error) *api.Error
}

// A Call is one request on its way through the engine.
type Call struct {
	Operation string
	At        time.Time       // of one that is done again; otherwise it takes effect now
	Targets   []target.Target // filled for a Hook only
	Cost      capacity.Cost   // what it has consumed so far

	decision Decision
	writer   api.Writer // of the reply
	past     bool       // no Hook is to see it
	body     []byte     // the request
	encoded  []byte     // the request, as the journal tells of it; see encode
}

// refusal returns what the i-th target of a batch meets, or nil.
func (c *Call) refusal(i int) *api.Error {
	if i < len(c.decision.Refuse) {
		return c.decision.Refuse[i]
	}
	return nil
}

// KeyParts returns the attributes of a table's key, the hash part first, or nil
// if there is no such table.
func (e *Engine) KeyParts(table string) []keys.Part {
	e.mu.RLock()
	defer e.mu.RUnlock()
	t := e.tables[api.TableNameOf(table)]
	if t == nil {
		return nil
	}
	return t.key.Parts()
}

// keyNames returns the names of the attributes.
func (e *Engine) keyNames(table string) []string {
	parts := e.KeyParts(table)
	if parts == nil {
		return nil
	}
	return keys.Names(parts)
}
