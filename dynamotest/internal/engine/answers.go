package engine

import (
	"cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
	"github.com/homeops/ddbpatterns/dynamotest/internal/throughput"
)

// The errors of a server with a fault.
var (
	ErrInternal    = &api.Error{Code: api.InternalServerError, Message: "Internal server error"}
	ErrUnavailable = &api.Error{Code: api.ServiceUnavailable, Message: "Service is unavailable"}
)

// ErrConflict is the error of a write to an item that is in another
// transaction.
var ErrConflict = &api.Error{Code: "TransactionConflictException", Message: "Transaction is ongoing for the item"}

// GlobalIndexes returns the names of a table's global indexes, and reports whether
// the table exists.
func (e *Engine) GlobalIndexes(table string) (names []string, ok bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	t := e.tables[table]
	if t == nil {
		return nil, false
	}
	for _, x := range t.indexes {
		if !x.Local {
			names = append(names, x.Name)
		}
	}
	return names, true
}

// Conflict returns the error of a call whose targets hit are in another
// transaction.
func Conflict(call *Call, hit []bool) *api.Error {
	if !api.OperationNamed(call.Operation).Has(api.Transaction) {
		return ErrConflict
	}
	reasons := make([]api.Reason, len(hit))
	for i, is := range hit {
		reasons[i] = api.Reason{Code: api.NoReason}
		if is {
			reasons[i] = api.Reason{Code: "TransactionConflict", Message: ErrConflict.Message}
		}
	}
	return api.Canceled(reasons)
}

// A Throttling says how a call is throttled.
type Throttling struct {
	Code  string // of the error; empty: follows from the table's billing mode
	Index string // a global index that holds writes back; may be empty
}

// Throttled returns the error of a call whose targets hit had no capacity left.
func (e *Engine) Throttled(call *Call, hit []bool, how Throttling) *api.Error {
	op := api.OperationNamed(call.Operation)
	errs := make([]*api.Error, len(hit))
	for i := range hit {
		if hit[i] {
			errs[i] = e.ThrottledTarget(call.Targets[i], how)
		}
	}

	switch {
	case op.Has(api.Transaction):
		return throughput.Cancelled(errs)
	case !op.Has(api.Consumes):
		return &api.Error{Code: api.Throttling, Message: "Rate of requests exceeds the allowed throughput."}
	}
	return cmp.Or(throughput.Joined(errs), e.ThrottledTarget(target.Target{}, how))
}

// ThrottledTarget returns the error of one target of a call. A local index is
// part of its table. A table that does not exist counts as provisioned.
func (e *Engine) ThrottledTarget(about target.Target, how Throttling) *api.Error {
	if !about.Read {
		about.Index = how.Index
	}

	var on throughput.Resource
	e.mu.RLock()
	if t := e.tables[about.Table]; t != nil {
		on.OnDemand = t.def.OnDemand
		x := t.index(about.Index)
		on.Index = x != nil && !x.Local
	}

	e.mu.RUnlock()
	on.Written = !about.Read
	if about.Table != "" {
		on.ARN = e.tableARN(about.Table)
	}

	if on.Index {
		on.ARN += "/index/" + about.Index
	}
	return on.Refused(how.Code)
}
