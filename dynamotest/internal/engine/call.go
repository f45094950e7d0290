package engine

import (
	"context"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

// A Hook wraps every operation: a server uses it to inject faults, and to
// measure the cost of calls. It is called with a well-formed request, before
// anything else is checked. No lock is held meanwhile, so it may wait.
type Hook func(ctx context.Context, call *Call) Decision

// A Decision says what happens to a call. The zero Decision lets it pass.
type Decision struct {
	// Answer becomes the reply, and nothing is done.
	Answer *api.Error

	// Refuse has, for each target of a batch, the error that it gets instead of
	// being processed, or nil. Entries of BatchGetItem and BatchWriteItem come
	// back unprocessed after any error.
	Refuse []*api.Error

	// After, unless it is nil, is called after the request has taken effect or was
	// refused, before the reply is sent. Its argument is the error that refused the
	// request, or nil. An error that it returns replaces the reply.
	After func(refused *api.Error) *api.Error
}

// A Call is one request on its way through the engine.
type Call struct {
	Operation string
	At        time.Time       // of a redone call; zero: it takes effect now
	Targets   []target.Target // filled for a Hook only
	Cost      capacity.Cost   // what it has consumed so far

	decision Decision
	writer   api.Writer // of the reply
	past     bool       // the Hook is not called
	body     []byte     // the request
	encoded  []byte     // the request as in the journal; see encode
}

// refusal returns the error of the i-th target of a batch, or nil.
func (c *Call) refusal(i int) *api.Error {
	if i < len(c.decision.Refuse) {
		return c.decision.Refuse[i]
	}
	return nil
}

// encode writes the request for logRequest. It needs no lock.
func (c *Call) encode() {
	var w api.Writer
	w.Text("Op", c.Operation)
	w.Text("Request", string(c.body)) // as it came, with its line breaks
	c.encoded = w.Buf
}
