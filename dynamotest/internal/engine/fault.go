package engine

import (
	"strings"

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
	throttledText = "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API."
	conflictText  = "Transaction is ongoing for the item"
)

// Throttled is the answer to a call of which the targets hit had no capacity
// left.
func (e *Engine) Throttled(call *Call, hit []bool, reason string) *api.Error {
	if transaction(call) {
		return cancelled(hit, api.Reason{Code: "ProvisionedThroughputExceeded", Message: throttledText})
	}
	err := &api.Error{Code: api.ThroughputExceeded, Message: throttledText}
	seen := map[string]bool{}
	for i, target := range call.Targets {
		resource := e.tableARN(target.Table)
		if target.Index != "" {
			resource += "/index/" + target.Index
		}
		if hit[i] && !seen[resource] {
			seen[resource] = true
			err.Throttled = append(err.Throttled, api.ThrottlingReason{Reason: reason, Resource: resource})
		}
	}
	return err
}

// Conflict is the answer to a call of which the targets hit are in another
// transaction.
func Conflict(call *Call, hit []bool) *api.Error {
	if transaction(call) {
		return cancelled(hit, api.Reason{Code: "TransactionConflict", Message: conflictText})
	}
	return &api.Error{Code: "TransactionConflictException", Message: conflictText}
}

func transaction(call *Call) bool { return strings.HasPrefix(call.Operation, "Transact") }

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
