package throughput_test

import (
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
	"github.com/homeops/ddbpatterns/dynamotest/internal/throughput"
)

var (
	orders = &catalog.Table{Name: "orders", ARN: "arn", Throughput: api.Throughput{Read: api.Some[int64](1), Write: api.Some[int64](2)}}
	anne   = []attr.Value{attr.String("anne")}
	bob    = []attr.Value{attr.String("bob")}
)

func write(hash []attr.Value, units float64) throughput.Demand {
	return throughput.Demand{Table: orders, Hash: hash, Units: capacity.Units{Write: units}}
}

// A partition may overdraw its bucket, and its debt delays only its own next
// request. Of demands that go together none is taken if one is refused.
func TestAPartition(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	l := throughput.New(capacity.Units{Write: 10}, false, func() time.Time { return now })
	admit := func(hash []attr.Value, units float64) bool {
		return l.Admit([]throughput.Demand{write(hash, units)}) == nil
	}
	if !admit(anne, 25) || admit(anne, 1) || !admit(bob, 1) {
		t.Error("the bucket of a partition is not its own")
	}
	both := [][]throughput.Demand{{write(bob, 9)}, {write(anne, 1)}}
	if err := l.AdmitTogether(both); err == nil || len(err.Reasons) != 2 || err.Reasons[0].Code != api.NoReason {
		t.Errorf("together: %v", err)
	}
	if errs := l.AdmitEach(both); errs[0] != nil || errs[1] == nil {
		t.Errorf("each: %v", errs)
	}
	now = now.Add(2 * time.Second)
	if !admit(anne, 1) {
		t.Error("a bucket does not fill")
	}
	if loads := l.Loads(); len(loads) != 2 || loads[0].Partition != "anne" || loads[0].Throttled != 3 || loads[0].Consumed.Write != 26 {
		t.Errorf("%+v", loads)
	}
	l.ForgetTable("orders")
	if loads := l.Loads(); len(loads) != 0 || !admit(anne, 1) {
		t.Errorf("%+v is not forgotten", loads)
	}
}

// All partitions of a provisioned table share its pool, which lasts as long as
// the billing mode.
func TestAPool(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	l := throughput.New(capacity.Units{}, true, func() time.Time { return now })
	table := *orders
	table.Created = now
	admit := func(hash []attr.Value) bool {
		return l.Admit([]throughput.Demand{{Table: &table, Hash: hash, Units: capacity.Units{Write: 2}}}) == nil
	}
	if !admit(anne) || admit(bob) {
		t.Error("two partitions have a pool each")
	}
	table.OnDemand = true
	l.Settle(&table, now, now)
	if table.OnDemand = false; !admit(bob) {
		t.Error("a pool outlives the billing mode")
	}
}

// Nil Limits admit everything.
func TestNoLimits(t *testing.T) {
	t.Parallel()
	l := throughput.New(capacity.Units{}, false, time.Now)
	if l != nil || l.AdmitTogether([][]throughput.Demand{{write(anne, 1e9)}}) != nil || l.Loads() != nil {
		t.Error("something is limited")
	}
}
