package house

import (
	"regexp"
	"strings"
	"testing"
)

// Every type with a table can be given to schema.Policy. The test of its prices
// checks that its Actions are what its methods send.
func TestWhatHasATableHasActions(t *testing.T) {
	t.Parallel()
	golden := read(t, apiFile)
	tables := regexp.MustCompile(`(?m)^(\w+: method \(\*\w+\) )Table\(\) schema.Table$`).FindAllStringSubmatch(golden, -1)
	if len(tables) < 9 {
		t.Errorf("%d stores", len(tables))
	}
	for _, m := range tables {
		if !strings.Contains(golden, "\n"+m[1]+"Actions() schema.Actions\n") {
			t.Errorf("%shas a table and no Actions", m[1])
		}
	}
}
