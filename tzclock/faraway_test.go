package tzclock_test

import (
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/tzclock"
)

// Package time ends the span around a leap year's 31 December before that day,
// beyond the years that zone files list. Quiet hours do not end in the past for
// it.
func TestQuietHoursEndAfterALeapYearsLastDay(t *testing.T) {
	t.Parallel()
	q := mustQuiet(t, "22:00-07:00")
	for _, name := range []string{"Africa/Cairo", "Europe/Stockholm", "America/New_York", "Australia/Sydney"} {
		zone := tzclock.MustLoad(name)
		for _, year := range []int{2040, 2096} {
			at := time.Date(year, time.December, 31, 23, 0, 0, 0, zone.Location())
			want := time.Date(year+1, time.January, 1, 7, 0, 0, 0, zone.Location())
			if end, ok := q.Ends(zone, at); !ok || !end.Equal(want) {
				t.Errorf("%s: %v ends at %v, %v, want %v", zone, at, end, ok, want)
			}
		}
	}
}

// Manila kept America's date until 1844: noon in London was about four in the
// morning there.
func TestDaysSixteenHoursBehind(t *testing.T) {
	t.Parallel()
	zone := tzclock.MustLoad("Asia/Manila")
	day := mustDate(t, "1840-06-15")
	start := zone.Start(day)
	if shown := start.Format("2006-01-02 15:04:05"); shown != "1840-06-15 00:00:00" {
		t.Errorf("%v starts at %s", day, shown)
	}
	if before := zone.Date(start.Add(-1)); before != day.AddDays(-1) {
		t.Errorf("the moment before is on %v", before)
	}
	if length := zone.End(day).Sub(start); length != 24*time.Hour {
		t.Errorf("%v has %v", day, length)
	}
}
