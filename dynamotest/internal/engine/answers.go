package engine

import "github.com/homeops/ddbpatterns/dynamotest/internal/api"

const conflictText = "Transaction is ongoing for the item"

// The errors of a server with a fault.
var (
	ErrInternal    = &api.Error{Code: api.InternalServerError, Message: "Internal server error"}
	ErrUnavailable = &api.Error{Code: api.ServiceUnavailable, Message: "Service is unavailable"}
)

// ErrConflict is the error of a write to an item that is in another
// transaction.
var ErrConflict = &api.Error{Code: "TransactionConflictException", Message: conflictText}

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
	if api.OperationNamed(call.Operation).Has(api.Transaction) {
		return cancelled(hit, api.Reason{Code: "TransactionConflict", Message: conflictText})
	}
	return ErrConflict
}

func cancelled(hit []bool, reason api.Reason) *api.Error {
	reasons := make([]api.Reason, len(hit))
	for i := range reasons {
		reasons[i] = api.Reason{Code: api.NoReason}
		if hit[i] {
			reasons[i] = reason
		}
	}
	return api.Canceled(reasons)
}
