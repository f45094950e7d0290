package activity_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/internal/check"
)

// The times that activities can have end where FORMAT.md says.
func TestTimesAtTheBounds(t *testing.T) {
	t.Parallel()
	_, acts := open(t, &activity.Config{Now: func() time.Time { return time.UnixMilli(9_999_999_999_999) }})
	least, greatest := time.UnixMilli(100_000_000_000), time.UnixMilli(9_999_999_999_999)
	var want []activity.Activity
	for i, at := range []time.Time{least, greatest} {
		a := chore(t, at, int64(i+1), "diskning")
		mustRecord(t, acts, a)
		want = append(want, a)
	}
	for name, way := range waysTo(acts) {
		for what, r := range map[string]activity.Range{
			"all":        {},
			"just these": {From: least, To: greatest.Add(1)},
		} {
			got := collect(t, way(t.Context(), r))
			wantOrder(t, name+" "+what, got, want, false)
			if len(got) == 2 && (!got[0].At.Equal(least) || !got[1].At.Equal(greatest)) {
				t.Errorf("%s: they are read at %v and %v", name, got[0].At, got[1].At)
			}
		}
	}
	for _, at := range []time.Time{least.Add(-time.Millisecond), greatest.Add(time.Millisecond)} {
		_, err := acts.Record(t.Context(), chore(t, at, 3, "diskning"))
		wantInputError(t, err, "Event must have a time between March 1973 and November 2286")
	}
}

// Times that do not fit a number of milliseconds mean the beginning, or the
// end, of everything.
func TestRangesBeyondAllTimes(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	all := history(t, acts, 3)
	for _, beyond := range []time.Time{time.UnixMilli(math.MaxInt64).Add(time.Millisecond), time.Unix(math.MaxInt64, 0)} {
		before := time.Unix(-beyond.Unix(), 0)
		for name, way := range waysTo(acts) {
			for what, tc := range map[string]struct {
				from, to time.Time
				want     []activity.Activity
			}{
				"up to beyond": {to: beyond, want: all},
				"from beyond":  {from: beyond},
				"from before":  {from: before, want: all},
				"up to before": {to: before},
			} {
				r := activity.Range{From: tc.from, To: tc.to}
				wantOrder(t, fmt.Sprint(name, " ", what, " ", beyond.Unix()), collect(t, way(t.Context(), r)), tc.want, false)
				if n, err := acts.Count(t.Context(), activity.Filter{Scope: home, From: tc.from, To: tc.to}); n != len(tc.want) || err != nil {
					t.Errorf("%s %d: count is %d and %v, want %d", what, beyond.Unix(), n, err, len(tc.want))
				}
			}
			if n, err := acts.Count(t.Context(), activity.Filter{Scope: home, From: monday, To: beyond}); n != len(all) || err != nil {
				t.Errorf("from then up to beyond %d: count is %d and %v", beyond.Unix(), n, err)
			}
			for _, r := range []activity.Range{{From: beyond, To: monday}, {From: monday, To: before}} {
				wantInputError(t, refused(t, way(t.Context(), r)), "Range.To lies before From")
			}
		}
	}
}

func TestCursorsAtTheBounds(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	at := func(ms int64) time.Time { return monday.Add(time.Duration(ms) * time.Millisecond) }
	full := func(ms int64, fill byte) string { // the least and the greatest id of a millisecond
		ev := newEvent(t, at(ms), home, 1)
		for i := 6; i < len(ev); i++ {
			ev[i] = fill
		}
		return ev.String()
	}
	id := newEvent(t, monday, home, 1).String()
	for name, way := range waysTo(acts) {
		for _, tc := range []struct {
			ms   int64
			fill byte
			in   bool
		}{{0, 0xff, false}, {1, 0, true}, {5, 0xff, true}, {6, 0, false}} {
			position := []string{fmt.Sprint(at(tc.ms).UnixMilli()), id}
			switch name {
			case "InScope":
				position = []string{full(tc.ms, tc.fill)}
			case "ByActor":
				position = []string{position[0], home, id}
			}
			if name == "InScope" && tc.ms == 5 && !db.InProcess() {
				continue // DynamoDB Local refuses to start on the table's upper bound: nothing is behind it
			}
			r := activity.Range{From: at(1), To: at(6), Cursor: check.EncodeCursor(name, position)}
			if tc.in {
				wantSame(t, name, collect(t, way(t.Context(), r)), nil)
			} else {
				wantInputError(t, refused(t, way(t.Context(), r)), "Range.Cursor points to a row outside the range")
			}
		}
	}
}
