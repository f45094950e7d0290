package throughput

import (
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
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

// A Resource is a table or a global index without capacity left.
type Resource struct {
	ARN                      string
	Index, OnDemand, Written bool
}

// refused returns the error of a demand that exceeds a limit.
func (d *Demand) refused(exceeded string) *api.Error {
	on := Resource{ARN: d.Table.ARN, OnDemand: d.Table.OnDemand, Written: d.Write > 0}
	if d.Index != nil {
		on.ARN, on.Index = d.Index.ARN, true
	}
	return on.throttled(exceeded, "")
}

// Refused returns the error of a request for a partition of the resource. If the
// code is empty, it follows from the billing mode.
func (on *Resource) Refused(code string) *api.Error {
	return on.throttled(ofKeyRange, code)
}

// throttled returns the error of a request that exceeds something of the resource.
func (on *Resource) throttled(exceeded, code string) *api.Error {
	kind, use := "Table", "Read"
	if on.Index {
		kind = "Index"
	}

	if on.Written {
		use = "Write"
	}

	if code == "" {
		code = api.ThroughputExceeded
		if on.OnDemand {
			code = api.Throttling
		}
	}

	err := &api.Error{Code: code, Message: throttlingText(code, on.Index)}
	if on.ARN != "" {
		err.Throttled = []api.ThrottlingReason{{Reason: kind + use + exceeded, Resource: on.ARN}}
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

// Joined returns one error for all throttled parts of a request: the first
// error, with the reasons of all. It is nil without errors.
func Joined(errs []*api.Error) *api.Error {
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

// Cancelled returns the cancellation of a transaction with throttled actions.
func Cancelled(errs []*api.Error) *api.Error {
	reasons := make([]api.Reason, len(errs))
	for i, err := range errs {
		reasons[i] = api.Reason{Code: api.NoReason}
		if err != nil {
			reasons[i] = api.Reason{Code: api.ShortCode(err.Code), Message: err.Message}
		}
	}
	return api.Canceled(reasons)
}
