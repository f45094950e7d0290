package engine

import (
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
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
	throttledIndex  = "The level of configured provisioned throughput for one or more global secondary indexes of the table was exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes with the UpdateTable API."
	onDemandText    = "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly. If exceptions persist, check if you have a hot key: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
	onDemandIndex   = "Throughput exceeds the current capacity for one or more global secondary indexes. DynamoDB is automatically scaling your index so please try again shortly."
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

// ErrConflict is what a write meets that is in a transaction already.
var ErrConflict = &api.Error{Code: "TransactionConflictException", Message: conflictText}

// Throttling of a table that is provisioned, and of one on demand.
var (
	errThrottled = &api.Error{Code: api.ThroughputExceeded, Message: throttledText}
	errOnDemand  = &api.Error{Code: api.Throttling, Message: onDemandText}
)

// A Throttling says how a call is throttled.
type Throttling struct {
	OnDemand bool   // as an on-demand table does it
	Reason   string // for each target; empty is its own
	Index    string // a global index that holds writes back; empty is none
}

// Throttled is the answer to a call of which the targets hit had no capacity
// left.
func (e *Engine) Throttled(call *Call, hit []bool, how Throttling) *api.Error {
	if api.OperationNamed(call.Operation).Has(api.Transaction) {
		err := how.err(how.Index != "")
		return cancelled(hit, api.Reason{Code: shortCode(err.Code), Message: err.Message})
	}
	if !api.OperationNamed(call.Operation).Has(api.Consumes) {
		return &api.Error{Code: api.Throttling, Message: rateText}
	}
	var reasons []api.ThrottlingReason
	for i, about := range call.Targets {
		if !hit[i] || about.Table == "" {
			continue
		}
		if !about.Read {
			about.Index = how.Index
		}
		why := e.throttling(about)
		if how.Reason != "" {
			why.Reason = how.Reason
		}
		if !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
	}
	return how.because(reasons)
}

// OfStatement is what a statement of a batch meets.
func (how Throttling) OfStatement() *api.Error { return how.err(how.Index != "") }

// because is the error with the reasons for it.
func (how Throttling) because(reasons []api.ThrottlingReason) *api.Error {
	ofTable := func(why api.ThrottlingReason) bool { return !strings.Contains(why.Resource, "/index/") }
	err := how.err(len(reasons) > 0 && !slices.ContainsFunc(reasons, ofTable))
	err.Throttled = reasons
	return err
}

// err is the error without the reasons, of a table or of its global indexes.
func (how Throttling) err(ofIndexes bool) *api.Error {
	err, ofIndex := *errThrottled, throttledIndex
	if how.OnDemand {
		err, ofIndex = *errOnDemand, onDemandIndex
	}
	if ofIndexes {
		err.Message = ofIndex
	}
	return &err
}

// throttling is why a target would be throttled. A local index is part of its
// table.
func (e *Engine) throttling(about target.Target) api.ThrottlingReason {
	resource := e.tableARN(about.Table)
	indexes, _ := e.GlobalIndexes(about.Table)
	global := slices.Contains(indexes, about.Index)
	if global {
		resource += "/index/" + about.Index
	}
	switch {
	case global && about.Read:
		return api.ThrottlingReason{Reason: IndexReadThrottled, Resource: resource}
	case global:
		return api.ThrottlingReason{Reason: IndexWriteThrottled, Resource: resource}
	case about.Read:
		return api.ThrottlingReason{Reason: TableReadThrottled, Resource: resource}
	}
	return api.ThrottlingReason{Reason: TableWriteThrottled, Resource: resource}
}

// GlobalIndexes returns the names of a table's global indexes, and reports whether
// there is such a table.
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

// Conflict is the answer to a call of which the targets hit are in another
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
