package engine

import (
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// The reasons that a request was throttled for.
const (
	TableReadThrottled  = "TableReadKeyRangeThroughputExceeded"
	TableWriteThrottled = "TableWriteKeyRangeThroughputExceeded"
	IndexReadThrottled  = "IndexReadKeyRangeThroughputExceeded"
	IndexWriteThrottled = "IndexWriteKeyRangeThroughputExceeded"
)

const (
	throttledText   = "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API."
	rateText        = "Rate of requests exceeds the allowed throughput."
	conflictText    = "Transaction is ongoing for the item"
	internalText    = "Internal server error"
	unavailableText = "Service is unavailable"
)

// Answers of a server that is in trouble.
var (
	ErrInternal    = &api.Error{Code: api.InternalServerError, Message: internalText}
	ErrUnavailable = &api.Error{Code: api.ServiceUnavailable, Message: unavailableText}
)

// What becomes of one statement of a batch. An entry that a batch of the older
// kind would send back failed for one of these reasons, too.
var (
	ErrThrottled = &api.Error{Code: api.ThroughputExceeded, Message: throttledText}
	ErrConflict  = &api.Error{Code: "TransactionConflictException", Message: conflictText}
)

// transactions are the operations that are cancelled instead of refused.
var transactions = []string{"TransactWriteItems", "TransactGetItems", "ExecuteTransaction"}

// itemOperations are those that consume capacity.
var itemOperations = []string{
	"BatchExecuteStatement", "BatchGetItem", "BatchWriteItem", "DeleteItem", "ExecuteStatement", "ExecuteTransaction", "GetItem",
	"PutItem", "Query", "Scan", "TransactGetItems", "TransactWriteItems", "UpdateItem",
}

// Throttled is the answer to a call of which the targets hit had no capacity
// left. An empty reason is that of the targets.
func (e *Engine) Throttled(call *Call, hit []bool, reason string) *api.Error {
	switch {
	case slices.Contains(transactions, call.Operation):
		return cancelled(hit, api.Reason{Code: "ProvisionedThroughputExceeded", Message: throttledText})
	case !slices.Contains(itemOperations, call.Operation):
		return &api.Error{Code: api.Throttling, Message: rateText}
	}
	err := *ErrThrottled
	for i, target := range call.Targets {
		if !hit[i] || target.Table == "" {
			continue
		}
		why := e.throttling(target)
		if reason != "" {
			why.Reason = reason
		}
		if !slices.Contains(err.Throttled, why) {
			err.Throttled = append(err.Throttled, why)
		}
	}
	return &err
}

// throttling is why a target would be throttled. A local index is part of its
// table.
func (e *Engine) throttling(target Target) api.ThrottlingReason {
	e.mu.RLock()
	defer e.mu.RUnlock()
	local := false
	if t := e.tables[target.Table]; t != nil {
		x := t.index(target.Index)
		local = x != nil && x.local
	}
	why := api.ThrottlingReason{Reason: TableWriteThrottled, Resource: e.tableARN(target.Table)}
	if target.Read {
		why.Reason = TableReadThrottled
	}
	if target.Index != "" && !local {
		why.Reason, why.Resource = IndexReadThrottled, why.Resource+"/index/"+target.Index
	}
	return why
}

// Conflict is the answer to a call of which the targets hit are in another
// transaction.
func Conflict(call *Call, hit []bool) *api.Error {
	if slices.Contains(transactions, call.Operation) {
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
