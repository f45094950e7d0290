package stack_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/stack"
	"github.com/homeops/ddbpatterns/internal/stacktest"
	"github.com/homeops/ddbpatterns/schema"
)

// The template's tables, deployed, are as the stores define them, and each property
// that was changed by hand is reported.
func TestTablesOfTheTemplate(t *testing.T) {
	t.Parallel()
	tables, err := stack.Tables(load(t))
	if err != nil {
		t.Fatal(err)
	}
	resources := parsed(t).Resources
	for _, table := range tables {
		properties := resources[schema.LogicalID(table.Name)].Properties
		if properties == nil {
			t.Fatalf("no table %s", table.Name)
		}
		stacktest.Check(t, table, properties)
	}
	if len(tables) != 5 {
		t.Errorf("%d tables", len(tables))
	}
}
