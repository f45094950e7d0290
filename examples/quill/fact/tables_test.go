package fact_test

import (
	"slices"
	"testing"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
)

// Each table is either a table of facts, whose rows have their batch, or a
// dimension.
func TestTablesAreOfFactsOrDimensions(t *testing.T) {
	t.Parallel()
	var names []string
	for _, table := range fact.Tables {
		names = append(names, table.Name)
		if slices.Contains(table.Columns, fact.Column{Name: "batch", Type: fact.Text}) != slices.Contains(fact.FactTables, table.Name) {
			t.Errorf("%s: its rows must know their batch, if they are facts", table.Name)
		}
	}
	if want := slices.Concat(fact.FactTables, fact.DimensionTables); !slices.Equal(names, want) {
		t.Errorf("tables %v, want %v", names, want)
	}
}
