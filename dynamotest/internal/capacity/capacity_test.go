package capacity_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
)

// Units are rounded up, and every request consumes some.
func TestUnits(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int]struct{ eventual, consistent, transactional, write float64 }{
		0: {0.5, 1, 2, 1}, 1: {0.5, 1, 2, 1}, 1024: {0.5, 1, 2, 1}, 1025: {0.5, 1, 2, 2}, 4096: {0.5, 1, 2, 4}, 4097: {1, 2, 4, 5},
	} {
		got := want
		got.eventual, got.consistent = capacity.RateOf(false).Cost(bytes).Read, capacity.RateOf(true).Cost(bytes).Read
		got.transactional, got.write = capacity.Transactional.Cost(bytes).Read, capacity.WriteCost(bytes).Write
		if got != want {
			t.Errorf("%d bytes cost %v, want %v", bytes, got, want)
		}
	}
}

// The units of one table and of one index add up.
func TestCostsAddUp(t *testing.T) {
	t.Parallel()
	var cost capacity.Cost
	for _, table := range []string{"a", "b", "a"} {
		cost.Add(capacity.Consumed{Table: table, Base: capacity.Units{Write: 1}, Indexes: []capacity.IndexUnits{{Index: "i", Units: capacity.Units{Write: 2}}}})
	}
	want := `[{"TableName":"a","CapacityUnits":6,"WriteCapacityUnits":6,"Table":{"CapacityUnits":2,"WriteCapacityUnits":2},` +
		`"GlobalSecondaryIndexes":{"i":{"CapacityUnits":4,"WriteCapacityUnits":4}}},` +
		`{"TableName":"b","CapacityUnits":3,"WriteCapacityUnits":3,"Table":{"CapacityUnits":1,"WriteCapacityUnits":1},` +
		`"GlobalSecondaryIndexes":{"i":{"CapacityUnits":2,"WriteCapacityUnits":2}}}]`
	if diff := cmp.Diff(want, strings.ReplaceAll(string(cost.AppendJSON(nil)), ".0", "")); diff != "" {
		t.Error(diff)
	}
}
