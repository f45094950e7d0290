package pattern_test

import (
	"math"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/pattern"
)

func TestPeaks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		habit pattern.Habit
		day   time.Weekday
		hour  int
		ok    bool
	}{
		"nothing yet": {day: time.Monday},
		"the most": {
			habit: pattern.Habit{ByDay: [7]int64{3, 1, 4, 1, 5, 9, 2}, ByHour: [24]int64{0: 3, 7: 5, 22: 4}},
			day:   time.Friday, hour: 7, ok: true,
		},
		"a tie goes to the first in the week, which Monday begins, and the day": {
			habit: pattern.Habit{ByDay: [7]int64{time.Sunday: 2, time.Saturday: 2}, ByHour: [24]int64{23: 2, 8: 2}},
			day:   time.Saturday, hour: 8, ok: true,
		},
	} {
		if day, ok := tc.habit.PeakDay(); day != tc.day || ok != tc.ok {
			t.Errorf("%s: PeakDay = %v, %v, want %v, %v", name, day, ok, tc.day, tc.ok)
		}
		if hour, ok := tc.habit.PeakHour(); hour != tc.hour || ok != tc.ok {
			t.Errorf("%s: PeakHour = %v, %v, want %v, %v", name, hour, ok, tc.hour, tc.ok)
		}
	}
}

func TestShares(t *testing.T) {
	t.Parallel()
	// Total is greater than either sum, as in a row whose maps came later.
	h := pattern.Habit{ByDay: [7]int64{time.Sunday: 3, time.Monday: 1}, ByHour: [24]int64{19: 1, 20: 1}, Total: 10}
	for day, want := range map[time.Weekday]float64{time.Sunday: 0.75, time.Monday: 0.25, time.Friday: 0, -1: 0, 7: 0} {
		if got := h.DayShare(day); got != want {
			t.Errorf("DayShare(%d) = %g, want %g", day, got, want)
		}
	}
	for hour, want := range map[int]float64{19: 0.5, 20: 0.5, 0: 0, -1: 0, 24: 0} {
		if got := h.HourShare(hour); got != want {
			t.Errorf("HourShare(%d) = %g, want %g", hour, got, want)
		}
	}
	if got := (pattern.Habit{}).DayShare(time.Sunday); got != 0 || math.IsNaN(got) {
		t.Errorf("the share of nothing is %g", got)
	}
}
