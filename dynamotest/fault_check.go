package dynamotest

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// newFault returns a fault for requests to a server, which is nil on other
// backends. It refuses what no request could meet.
func newFault(f Fault, server *control) (*fault, error) {
	if f.Do == 0 || int(f.Do) >= len(disturbances) {
		return nil, fmt.Errorf("dynamotest: fault: no such Do: %v", f.Do)
	}
	f.Table = api.TableNameOf(f.Table)
	if wrong := cmp.Or(f.wrong(), f.wrongOp(server != nil), f.wrongTarget(), f.wrongIndex()); wrong != "" {
		return nil, fmt.Errorf("dynamotest: fault %v: %s", f.Do, wrong)
	}
	key, err := keyAttributes(f.Key)
	if err != nil {
		return nil, fmt.Errorf("dynamotest: fault %v: %w", f.Do, err)
	}
	if f.Nth == 0 {
		f.Nth = 1
	}
	if f.Times == 0 {
		f.Times = 1
		if f.Chance > 0 {
			f.Times = -1
		}
	}
	return &fault{Fault: f, server: server, key: key, met: map[uint64]uint64{}}, nil
}

// wrong tells what contradicts itself: what would be ignored proves nothing.
func (f *Fault) wrong() string {
	switch {
	case f.Do.delays() && f.Delay <= 0:
		return "Delay must be positive"
	case !f.Do.delays() && f.Delay != 0:
		return "only Delay and DelayReply have a Delay"
	case !(f.Chance >= 0 && f.Chance <= 1):
		return fmt.Sprintf("Chance %g is no probability", f.Chance)
	case f.Nth < 0 || f.Times < -1 || f.Entries < 0:
		return "Nth, Times and Entries must not be negative, but for Times -1"
	case f.After && f.Do != InternalError && f.Do != Unavailable:
		return "only InternalError and Unavailable have an After"
	case f.Reason != "" && f.Do != Throttle:
		return "only Throttle has a Reason"
	case f.Entries != 0 && f.Do != Unprocessed:
		return "only Unprocessed has Entries"
	case f.Code != "" && f.Do != Throttle:
		return "only Throttle has a Code"
	case f.Code != "" && f.Code != api.ThroughputExceeded && f.Code != api.Throttling:
		return fmt.Sprintf("Code %q: Throttle knows %s and %s", f.Code, api.ThroughputExceeded, api.Throttling)
	case f.Do == Throttle && f.Op != "" && !is(f.Op, api.Consumes) && (f.Code != "" || f.Reason != ""):
		return f.Op + " consumes no capacity: Throttle has neither a Code nor a Reason there"
	}
	return ""
}

// wrongOp tells why no request could be of the operation. What another backend
// has is not known here.
func (f *Fault) wrongOp(inProcess bool) string {
	switch {
	case f.Op == "":
		return ""
	case (inProcess || f.Do.byServer()) && api.OperationNamed(f.Op) == nil:
		return fmt.Sprintf("there is no operation %q", f.Op)
	case f.Do == Conflict && !is(f.Op, api.Conflicts):
		return "a " + f.Op + " meets no Conflict"
	case f.Do == Unprocessed && !is(f.Op, api.Batch):
		return f.Op + " is no batch"
	case f.Table != "" && is(f.Op, api.NamesNoTable):
		return "a " + f.Op + " names no table, so no Table finds it"
	}
	return ""
}

// wrongTarget tells why no request could be about what the fault names.
func (f *Fault) wrongTarget() string {
	switch {
	case f.Key != nil && f.Op != "" && !api.OperationNamed(f.Op).NamesItems():
		return "a " + f.Op + " names no items, so no Key finds it"
	case strings.HasPrefix(f.Table, "arn:"):
		return fmt.Sprintf("Table %q is the ARN of no table", f.Table)
	case strings.Contains(f.Table, "/"):
		return fmt.Sprintf("Table %q: a table has no slash; Index names an index", f.Table)
	}
	return ""
}

// wrongIndex tells why no request could be about the index.
func (f *Fault) wrongIndex() string {
	switch {
	case f.Index == "":
		return ""
	case strings.ContainsAny(f.Index, "/:"):
		return fmt.Sprintf("Index %q: give its own name, and its table's in Table", f.Index)
	case f.holdsBack():
		return ""
	case is(f.Op, api.Writes):
		return "of writes only Throttle finds the Index"
	case f.Key != nil:
		return "a request to an index names no items, so no Key finds it"
	case f.Do == Conflict || f.Do == Unprocessed:
		return "transactions and batches read no Index"
	case f.Op != "" && !is(f.Op, api.ReadsIndex):
		return f.Op + " reads no index, so no Index finds it"
	}
	return ""
}
