package activity_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// Next is "" only after the last row, or if the first request fails. Here the first row
// cannot be read, another follows it, and no request failed. "If … an error ended the
// walk, after the last row that was read": so the walk can go on behind the row.
func TestHunterNextAfterAnUnreadableRow(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	all := history(t, acts, 2)
	row := oldRow(t, all[0].Event.String(), home, martin, "diskning", all[0].At.UnixMilli())
	row["effort"] = item.S("high")
	recordtest.Put(t, db.Client(), acts.Table().Name, row)
	for _, name := range []string{"InScope"} {
		way := waysTo(acts)[name]
		next := "not written"
		failed := false
		for _, err := range way(t.Context(), activity.Range{Next: &next}) {
			failed = failed || err != nil
		}
		if !failed {
			t.Fatalf("%s: the row was read", name)
		}
		if next == "" {
			t.Errorf("%s: Next is %q although a row follows", name, next)
		}
	}
}
