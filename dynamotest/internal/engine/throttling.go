package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

// The last part of a reason names what was exceeded: the first in both billing
// modes, the other only of a provisioned table.
const (
	ofKeyRange    = "KeyRangeThroughputExceeded"
	ofProvisioned = "ProvisionedThroughputExceeded"
)

const (
	throttledText  = "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API."
	throttledIndex = "The level of configured provisioned throughput for one or more global secondary indexes of the table was exceeded. Consider increasing your provisioning level for the under-provisioned global secondary indexes with the UpdateTable API."
	onDemandText   = "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly. If exceptions persist, check if you have a hot key: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html"
	onDemandIndex  = "Throughput exceeds the current capacity for one or more global secondary indexes. DynamoDB is automatically scaling your index so please try again shortly."
)

// A Throttling says how a call is throttled.
type Throttling struct {
	Code  string // of the error; empty: follows from the table's billing mode
	Index string // a global index that holds writes back; may be empty
}

// A resource is a table or a global index without capacity left.
type resource struct {
	arn                      string
	index, onDemand, written bool
}

// reason returns the reason for what was exceeded of the resource.
func (on *resource) reason(exceeded string) string {
	kind, use := "Table", "Read"
	if on.index {
		kind = "Index"
	}
	if on.written {
		use = "Write"
	}
	return kind + use + exceeded
}

// throttled returns the error of a request that the resource throttles. If the
// code is empty, it follows from the billing mode.
func (on *resource) throttled(reason, code string) *api.Error {
	if code == "" {
		code = api.ThroughputExceeded
		if on.onDemand {
			code = api.Throttling
		}
	}
	err := &api.Error{Code: code, Message: throttlingText(code, on.index)}
	if on.arn != "" {
		err.Throttled = []api.ThrottlingReason{{Reason: reason, Resource: on.arn}}
	}
	return err
}

// throttlingText returns the message of an error about tables only, or about
// indexes only.
func throttlingText(code string, indexes bool) string {
	switch {
	case code == api.Throttling && indexes:
		return onDemandIndex
	case code == api.Throttling:
		return onDemandText
	case indexes:
		return throttledIndex
	}
	return throttledText
}

// joined returns one error for all throttled parts of a request: the first
// error, with the reasons of all. It is nil without errors.
func joined(errs []*api.Error) *api.Error {
	var all *api.Error
	for _, err := range errs {
		switch {
		case err == nil:
			continue
		case all == nil:
			first := *err
			all = &first
			continue
		}
		for _, why := range err.Throttled {
			if !slices.Contains(all.Throttled, why) {
				all.Throttled = append(all.Throttled, why)
			}
		}
	}
	if all == nil || len(all.Throttled) < 2 {
		return all
	}
	ofTable := func(why api.ThrottlingReason) bool { return !strings.Contains(why.Resource, "/index/") }
	all.Message = throttlingText(all.Code, !slices.ContainsFunc(all.Throttled, ofTable))
	return all
}

// throttledActions returns the cancellation of a transaction with throttled
// actions.
func throttledActions(errs []*api.Error) *api.Error {
	reasons := make([]api.Reason, len(errs))
	for i, err := range errs {
		reasons[i] = api.Reason{Code: api.NoReason}
		if err != nil {
			reasons[i] = api.Reason{Code: shortCode(err.Code), Message: err.Message}
		}
	}
	return api.Canceled(reasons)
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
		return throttledActions(errs)
	case !op.Has(api.Consumes):
		return &api.Error{Code: api.Throttling, Message: rateText}
	}
	return cmp.Or(joined(errs), e.ThrottledTarget(target.Target{}, how))
}

// ThrottledTarget returns the error of one target of a call. A local index is
// part of its table. A table that does not exist counts as provisioned.
func (e *Engine) ThrottledTarget(about target.Target, how Throttling) *api.Error {
	if !about.Read {
		about.Index = how.Index
	}
	var on resource
	e.mu.RLock()
	if t := e.tables[about.Table]; t != nil {
		on.onDemand = t.def.OnDemand
		x := t.index(about.Index)
		on.index = x != nil && !x.Local
	}
	e.mu.RUnlock()
	on.written = !about.Read
	if about.Table != "" {
		on.arn = e.tableARN(about.Table)
	}
	if on.index {
		on.arn += "/index/" + about.Index
	}
	return on.throttled(on.reason(ofKeyRange), how.Code)
}
