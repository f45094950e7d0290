package dynamotest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// A drawing shows a partition that was throttled, even if it consumed nothing.
func TestADrawingShowsWhatWasThrottled(t *testing.T) {
	t.Parallel()
	drawing := dynamotest.HeatMap{
		{Table: "sold", Partition: "lamp", Throttled: 3},
		{Table: "sold", Partition: "chair"},
	}.String()
	if diff := cmp.Diff("sold lamp || 0 RCU, 0 WCU, 3 throttled\nand 1 without traffic\n", drawing); diff != "" {
		t.Error(diff)
	}
}
