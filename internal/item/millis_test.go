package item_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/internal/item"
)

func TestCeilMillis(t *testing.T) {
	t.Parallel()
	noon := time.UnixMilli(1774785600000)
	for _, tc := range []struct {
		at   time.Time
		want int64
	}{
		{noon, 1774785600000},
		{noon.Add(1), 1774785600001},
		{noon.Add(-1), 1774785600000},
		{time.Unix(0, 0), 0},
		{time.Unix(0, -1), 0},
		{time.Unix(-1, 0), 0},
		{time.Unix(math.MinInt64/2, 0), 0},
		{time.UnixMilli(item.MaxMillis), item.MaxMillis},
		{time.UnixMilli(item.MaxMillis).Add(1), item.MaxMillis + 1},
		{time.Unix(1<<60, 0), item.MaxMillis + 1},
	} {
		if got := item.CeilMillis(tc.at); got != tc.want {
			t.Errorf("CeilMillis(%v) = %d, want %d", tc.at.UTC(), got, tc.want)
		}
	}
}

// All times have one order, even those too far off for [time.Time.Before].
func TestBefore(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)
	rising := []time.Time{time.Unix(-1<<63, 0), time.Unix(-1<<62, 0), {}, day, day.Add(1), day.Add(time.Second), time.Unix(1<<62, 0), time.Unix(1<<63-1, 0)}
	for i, a := range rising {
		for j, b := range rising {
			if got := item.Before(a, b); got != (i < j) {
				t.Errorf("%v before %v: %v", a, b, got)
			}
		}
	}
}

func TestAround(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]struct {
		floor, ceil int64
		ok          bool
	}{
		"0":                            {0, 0, true},
		"1774252800000.5":              {1774252800000, 1774252800001, true},
		"0.001":                        {0, 1, true},
		"":                             {},
		"1.":                           {1, 2, false},
		".5":                           {},
		"-1":                           {},
		"1e3":                          {},
		"1.5.5":                        {},
		"9223372036854775807":          {math.MaxInt64, math.MaxInt64, true},
		"9223372036854775807.5":        {},
		"9999999999999999999.5":        {},
		"1." + strings.Repeat("1", 38): {},
	} {
		floor, ceil, ok := item.Around(number)
		if ok != want.ok || ok && (floor != want.floor || ceil != want.ceil) {
			t.Errorf("%q: %d, %d, %v, want %v", number, floor, ceil, ok, want)
		}
	}
}
