package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

// An operation is a row of the table in package api, with its handler.
type operation struct {
	*api.Operation
	run handler
}

type handler func(e *Engine, call *Call, req api.Request) (reply, *api.Error)

// on makes a handler of a method that takes a request of type P.
func on[P api.Request](run func(*Engine, *Call, P) (reply, *api.Error)) handler {
	return func(e *Engine, call *Call, req api.Request) (reply, *api.Error) { return run(e, call, req.(P)) }
}

// operations are the handlers, each with its row.
var operations = map[string]*operation{}

func init() { // the handlers replay a journal, which refers to operations
	for name, run := range map[string]handler{
		"BatchExecuteStatement":     on((*Engine).batchExecuteStatement),
		"BatchGetItem":              on((*Engine).batchGetItem),
		"BatchWriteItem":            on((*Engine).batchWriteItem),
		"CreateTable":               on((*Engine).createTable),
		"DeleteItem":                on((*Engine).deleteItem),
		"DeleteTable":               on((*Engine).deleteTable),
		"DescribeContinuousBackups": on((*Engine).describeContinuousBackups),
		"DescribeEndpoints":         on((*Engine).describeEndpoints),
		"DescribeLimits":            on((*Engine).describeLimits),
		"DescribeStream":            on((*Engine).describeStream),
		"DescribeTable":             on((*Engine).describeTable),
		"DescribeTimeToLive":        on((*Engine).describeTimeToLive),
		"ExecuteStatement":          on((*Engine).executeStatement),
		"ExecuteTransaction":        on((*Engine).executeTransaction),
		"GetItem":                   on((*Engine).getItem),
		"GetRecords":                on((*Engine).getRecords),
		"GetShardIterator":          on((*Engine).getShardIterator),
		"ListStreams":               on((*Engine).listStreams),
		"ListTables":                on((*Engine).listTables),
		"ListTagsOfResource":        on((*Engine).listTagsOfResource),
		"PutItem":                   on((*Engine).putItem),
		"Query":                     on((*Engine).query),
		"Scan":                      on((*Engine).scan),
		"TagResource":               on((*Engine).tagResource),
		"TransactGetItems":          on((*Engine).transactGetItems),
		"TransactWriteItems":        on((*Engine).transactWriteItems),
		"UntagResource":             on((*Engine).untagResource),
		"UpdateContinuousBackups":   on((*Engine).updateContinuousBackups),
		"UpdateItem":                on((*Engine).updateItem),
		"UpdateTable":               on((*Engine).updateTable),
		"UpdateTimeToLive":          on((*Engine).updateTimeToLive),
	} {
		operations[name] = &operation{api.OperationNamed(name), run}
	}
}

// A Result is the answer to one request.
type Result struct {
	Body []byte        // the reply; nil after an error, or if it is empty
	Err  *api.Error    // the error reply
	Cost capacity.Cost // what the request consumed, even if it was refused
}

// Do performs the operation called name on a JSON request. It never panics.
func (e *Engine) Do(ctx context.Context, name string, body []byte) Result {
	return e.DoInto(ctx, name, body, nil)
}

// DoInto is Do, and writes the reply into the capacity of a buffer, as far as it
// suffices.
func (e *Engine) DoInto(ctx context.Context, name string, body, buffer []byte) (res Result) {
	call := &Call{Operation: name}
	defer func() {
		if p := recover(); p != nil {
			e.opt.Log.ErrorContext(ctx, "dynamotest: operation panicked", "operation", name, "panic", p, "stack", string(debug.Stack()))
			res = Result{Err: &api.Error{Code: api.InternalServerError, Message: fmt.Sprintf("internal error in %s: %v", name, p)}}
		}
	}()

	op := operations[name]
	if op == nil {
		return Result{Err: api.Unknown(name)}
	}

	rep, err := e.perform(ctx, op, call, body)
	if err != nil {
		return Result{Err: op.Told(err), Cost: call.Cost}
	}
	if rep == nil {
		return Result{Cost: call.Cost}
	}

	if isLong(call.Cost) {
		e.writing.Lock()
		defer e.writing.Unlock()
	}

	if cap(buffer) == 0 {
		buffer = make([]byte, 0, 256)
	}

	w := &call.writer
	w.Buf = buffer[:0]
	w.Open('{')
	rep(w)
	w.Close('}')

	return Result{Body: w.Buf, Cost: call.Cost}
}

// longReads is the least read units of a reply that is written alone, one after the
// other: hundreds at once, of up to 16 MB each, would need gigabytes. A page of 1
// MB consumes less.
const longReads = 300

func isLong(cost capacity.Cost) bool {
	var units capacity.Units
	for i := range cost {
		units.Add(cost[i].Sum())
	}
	return units.Read > longReads
}

// perform decodes a request and executes it, between the two halves of its
// hook.
func (e *Engine) perform(ctx context.Context, op *operation, call *Call, body []byte) (reply, *api.Error) {
	req := op.New()
	if err := api.Decode(body, req); err != nil {
		return nil, err
	}

	call.body = body
	hook := e.hook.Load()
	if hook == nil || call.past {
		return e.settled(op, call, req)
	}

	call.Targets = target.Of(req, e.keyNames)
	call.decision = (*hook)(ctx, call)
	if err := call.decision.Answer; err != nil {
		return nil, err
	}

	rep, err := e.settled(op, call, req)
	if after := call.decision.After; after != nil {
		if late := after(err); late != nil {
			return nil, late
		}
	}

	return rep, err
}

// settled runs an operation, and waits until what it changed or read is safe in
// the data file. It does not run an operation if the data file cannot take its
// changes.
func (e *Engine) settled(op *operation, call *Call, req api.Request) (reply, *api.Error) {
	if e.journal == nil || call.past {
		return op.run(e, call, req)
	}

	if op.Has(api.ChangesTable) {
		call.encode()
	}

	end, failed := e.journal.Begin()
	if failed != nil {
		return nil, unsettled(failed)
	}
	defer end()
	rep, err := op.run(e, call, req)
	if failed := e.journal.Settle(); failed != nil {
		return nil, unsettled(failed)
	}

	return rep, err
}

// unsettled returns the error of a request that may not be safe in the data
// file. If the file cannot be written, the request may have taken effect, so the error is
// an internal one. Of a server that is closed it is the client's: clients do not repeat.
func unsettled(err error) *api.Error {
	if errors.Is(err, journal.ErrClosed) {
		return &api.Error{Code: api.ServerClosed, Message: "dynamotest: the server is closed"}
	}
	return &api.Error{Code: api.InternalServerError, Message: "the data file cannot be written, so every request fails, reads too, until the server is opened again: " + err.Error()}
}

// again performs an operation from a dump or a journal as at the given time,
// without the hook and the clock.
func (e *Engine) again(operation string, body []byte, at time.Time) error {
	op := operations[operation]
	if op == nil {
		return fmt.Errorf("no such operation: %q", operation)
	}
	if _, err := e.perform(context.Background(), op, &Call{Operation: operation, At: at, past: true}, body); err != nil {
		return err
	}
	return nil
}
