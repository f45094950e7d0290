package activity_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/internal/cursor"
)

// Times that do not fit a number of milliseconds mean the beginning, or the
// end, of everything.
func TestRangesBeyondAllTimes(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	all := history(t, acts, 3)
	filters := map[string]activity.Filter{
		"InScope": {Scope: home}, "ByActor": {Actor: martin}, "ByName": {Scope: home, Name: "diskning"},
		"ByActorAndName": {Scope: home, Actor: martin, Name: "diskning"},
	}
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
				got := collect(t, way(t.Context(), r))
				wantOrder(t, fmt.Sprint(name, " ", what, " ", beyond.Unix()), got, tc.want, false)
				f := filters[name]
				f.From, f.To = tc.from, tc.to
				if n, err := acts.Count(t.Context(), f); n != len(tc.want) || err != nil {
					t.Errorf("%s %s %d: count is %d and %v, want %d", name, what, beyond.Unix(), n, err, len(tc.want))
				}
			}
			for _, r := range []activity.Range{{From: beyond, To: monday}, {From: monday, To: before}} {
				wantInputError(t, refused(t, way(t.Context(), r)), "Range.To lies before From")
			}
		}
	}
}

// The times that activities can have end where FORMAT.md says.
func TestTimesAtTheBounds(t *testing.T) {
	t.Parallel()
	db, acts := open(t, &activity.Config{Now: func() time.Time { return time.UnixMilli(9_999_999_999_999) }})
	least, greatest := time.UnixMilli(100_000_000_000), time.UnixMilli(9_999_999_999_999)
	var want []activity.Activity
	for i, at := range []time.Time{least, greatest} {
		a := chore(t, at, int64(i+1), "diskning")
		mustRecord(t, acts, a)
		want = append(want, a)
	}
	for name, way := range waysTo(acts) {
		for what, r := range map[string]activity.Range{
			"all":           {},
			"just these":    {From: least, To: greatest.Add(1)},
			"one ms beyond": {From: least, To: greatest.Add(time.Millisecond)},
		} {
			got := collect(t, way(t.Context(), r))
			wantOrder(t, name+" "+what, got, want, false)
			if len(got) == 2 && (!got[0].At.Equal(least) || !got[1].At.Equal(greatest)) {
				t.Errorf("%s: they are read at %v and %v", name, got[0].At, got[1].At)
			}
		}
	}
	cost := db.Meter(func() {
		for _, at := range []time.Time{least.Add(-time.Millisecond), greatest.Add(time.Millisecond)} {
			_, err := acts.Record(t.Context(), chore(t, at, 3, "diskning"))
			wantInputError(t, err, "Event must have a time between March 1973 and November 2286")
		}
	})
	if cost.Requests != 0 {
		t.Errorf("%d requests were sent", cost.Requests)
	}
}

// A cursor may lie on either bound of the range, and not a step beyond.
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
	r := activity.Range{From: at(1), To: at(6)}
	for name, tc := range map[string]struct {
		lo, hi, below, above []string
	}{
		"InScope": {[]string{full(1, 0)}, []string{full(5, 0xff)}, []string{full(0, 0xff)}, []string{full(6, 0)}},
		"ByActor": {
			[]string{fmt.Sprint(at(1).UnixMilli()), home, id},
			[]string{fmt.Sprint(at(5).UnixMilli()), home, id},
			[]string{fmt.Sprint(at(0).UnixMilli()), home, id},
			[]string{fmt.Sprint(at(6).UnixMilli()), home, id},
		},
		"ByName": {
			[]string{fmt.Sprint(at(1).UnixMilli()), id},
			[]string{fmt.Sprint(at(5).UnixMilli()), id},
			[]string{fmt.Sprint(at(0).UnixMilli()), id},
			[]string{fmt.Sprint(at(6).UnixMilli()), id},
		},
		"ByActorAndName": {
			[]string{fmt.Sprint(at(1).UnixMilli()), id},
			[]string{fmt.Sprint(at(5).UnixMilli()), id},
			[]string{fmt.Sprint(at(0).UnixMilli()), id},
			[]string{fmt.Sprint(at(6).UnixMilli()), id},
		},
	} {
		way := waysTo(acts)[name]
		for what, position := range map[string][]string{"lower": tc.lo, "upper": tc.hi} {
			if name == "InScope" && what == "upper" && !db.InProcess() {
				continue // DynamoDB Local refuses to start on the table's upper bound: nothing is behind it
			}
			r.Cursor = cursor.Encode(name, position)
			if got := collect(t, way(t.Context(), r)); len(got) != 0 {
				t.Errorf("%s, on the %s bound: %v", name, what, got)
			}
		}
		for what, position := range map[string][]string{"lower": tc.below, "upper": tc.above} {
			r.Cursor = cursor.Encode(name, position)
			if err := refused(t, way(t.Context(), r)); err == nil {
				t.Errorf("%s, beyond the %s bound", name, what)
			} else {
				wantInputError(t, err, "Range.Cursor points to a row outside the range")
			}
		}
	}
}

// Parts of one row each go on from a row on either end of the range.
func TestPartsFromTheBounds(t *testing.T) {
	t.Parallel()
	_, acts := open(t, nil)
	var all []activity.Activity
	for ms := range int64(3) {
		all = append(all, chore(t, monday.Add(time.Duration(ms)*time.Millisecond), ms+1, "diskning"))
	}
	mustRecord(t, acts, all...)
	for name, way := range waysTo(acts) {
		for _, newest := range []bool{false, true} {
			r := activity.Range{From: monday, To: monday.Add(3 * time.Millisecond), NewestFirst: newest, Limit: 1}
			wantOrder(t, name, way.parts(t, r), all, newest)
		}
	}
}
