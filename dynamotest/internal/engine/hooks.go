package engine

import (
	"context"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

// Hooks stand around every operation: here a server injects its faults and
// reads what calls cost. No lock is held while they run, so they may wait.
type Hooks interface {
	// Before is called with a request that is well-formed, before anything is
	// looked at. An error becomes the reply, and nothing happens.
	Before(ctx context.Context, call *Call) *api.Error

	// After is called when the request has taken effect or was refused, before
	// the reply leaves. An error takes the place of the reply.
	After(ctx context.Context, call *Call) *api.Error
}

// A Call is one request on its way through the engine.
type Call struct {
	Operation string
	Targets   []target.Target // filled for Hooks only
	past      bool            // no Hooks are to see it
	body      []byte          // the request
	encoded   []byte          // the request, as the journal tells of it; see encode

	// Refuse may be filled by Before, with one element for each target of a
	// batch: those that come back unprocessed.
	Refuse []bool
	// Errors may be filled by Before, with one element for each statement of a
	// batch: what it meets instead of being performed, or nil.
	Errors []*api.Error
	// Late may be set by Before, for After to return.
	Late *api.Error
	// Refused may be set by Before, for After to call when the request was
	// refused, with the reason.
	Refused func(why *api.Error)

	// What follows is known after the operation.

	Cost capacity.Cost
	Err  *api.Error
}

// refuses tells whether the i-th target of a batch shall come back unprocessed.
func (c *Call) refuses(i int) bool { return i < len(c.Refuse) && c.Refuse[i] }

// fails returns what the i-th statement of a batch shall meet.
func (c *Call) fails(i int) *api.Error {
	if i < len(c.Errors) {
		return c.Errors[i]
	}
	return nil
}

// KeyNames returns the names of a table's key attributes, or none when there is
// no such table.
func (e *Engine) KeyNames(table string) []string {
	names, _ := e.primaryKey(table)
	return names
}

// KeyKinds returns the types of a table's key attributes, or none when there is
// no such table.
func (e *Engine) KeyKinds(table string) map[string]attr.Kind {
	e.mu.RLock()
	defer e.mu.RUnlock()
	t := e.tables[table]
	if t == nil {
		return nil
	}
	kinds := map[string]attr.Kind{}
	for _, part := range t.key.Parts() {
		kinds[part.Name] = part.Kind
	}
	return kinds
}
