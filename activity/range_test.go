package activity_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/activity"
)

// Times that no number of milliseconds holds are the end, or the beginning, of
// all there is.
func TestRangesBeyondAllTimes(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	all := history(t, acts, 3)
	for _, beyond := range []time.Time{
		time.UnixMilli(math.MaxInt64).Add(time.Millisecond),
		time.Date(292_278_994+1, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(1_000_000_000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Unix(math.MaxInt64, 0),
		time.Unix(math.MaxInt64/1000+1, 999_999_999),
	} {
		before := time.Unix(-beyond.Unix(), 0)
		for name, way := range waysTo(acts) {
			for what, tc := range map[string]struct {
				from, to time.Time
				want     []activity.Activity
			}{
				"up to beyond":        {to: beyond, want: all},
				"from now to beyond":  {from: monday, to: beyond, want: all},
				"from beyond":         {from: beyond},
				"from before":         {from: before, want: all},
				"up to before":        {to: before},
				"from all to all":     {from: before, to: beyond, want: all},
				"from before to now":  {from: before, to: monday.Add(time.Hour), want: all},
				"beyond, no more":     {from: beyond, to: beyond},
				"a second before":     {from: before, to: before.Add(time.Second)},
				"from before to then": {from: before, to: monday},
			} {
				r := activity.Range{From: tc.from, To: tc.to}
				got := collect(t, way.walk(t.Context(), r))
				wantOrder(t, fmt.Sprint(name, " ", what, " ", beyond.Unix()), got, tc.want, false)
			}
			_, err := way.page(t.Context(), activity.Range{From: beyond, To: monday})
			wantInputError(t, err, "Range.To lies before From")
			_, err = way.page(t.Context(), activity.Range{From: monday, To: before})
			wantInputError(t, err, "Range.To lies before From")
		}
	}
}
