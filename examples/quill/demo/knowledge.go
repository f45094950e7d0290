package demo

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/demo/stream"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
)

// Knowledge is what must be known about contacts and deals: the latest value of
// each column, in whatever order the values come.
type Knowledge map[string]map[string]stream.Known

// Add adds what a request discloses.
func (k Knowledge) Add(all []stream.Known) {
	for _, one := range all {
		columns := k[one.Key]
		if columns == nil {
			columns = map[string]stream.Known{}
			k[one.Key] = columns
		}
		if !one.At.Before(columns[one.Column].At) {
			columns[one.Column] = one
		}
	}
}

// Wrong says where Power BI shows something else.
func (k Knowledge) Wrong(powerBI *powerbitest.Server) (wrong []string) {
	rows := map[string]fact.Row{}
	for _, table := range []string{fact.Contacts, fact.Deals} {
		for _, row := range powerBI.Rows(table) { // the last row is valid
			key, _ := row["key"].(string)
			if !from(row).Before(from(rows[key])) {
				rows[key] = row
			}
		}
	}
	if len(rows) != len(k) {
		wrong = append(wrong, fmt.Sprintf("Power BI has %d contacts and deals, not %d", len(rows), len(k)))
	}
	for _, key := range slices.Sorted(maps.Keys(k)) {
		for column, want := range k[key] {
			if got := rows[key][column]; !same(got, want.Value) {
				wrong = append(wrong, fmt.Sprintf("%s: %s is %v, not %q since %s", key, column, got, want.Value, fact.Time(want.At)))
			}
		}
	}
	return wrong
}

func from(row fact.Row) time.Time {
	text, _ := row["validFrom"].(string)
	at, _ := time.Parse(time.RFC3339, text) // without a row it is the zero time
	return at
}

// same reports whether a column has the value: the same text, or the same number.
// An emptied column is blank.
func same(got any, want string) bool {
	if got == nil {
		return want == ""
	}
	have := fmt.Sprint(got)
	if have == want {
		return true
	}
	a, aOK := new(big.Rat).SetString(have)
	b, bOK := new(big.Rat).SetString(want)
	return aOK && bOK && a.Cmp(b) == 0
}
