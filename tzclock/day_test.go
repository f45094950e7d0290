package tzclock_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/tzclock"
)

// A zone may be farther from UTC than any that is listed, and its clocks may
// change beside midnight. This one is at -16:00, and -15:00 in summer.
func TestFarFromUTC(t *testing.T) {
	t.Parallel()
	zone := rules(t, "<-16>16<-15>15,M3.5.0,M10.5.0")
	for text, start := range map[string]string{
		"2026-03-29": "2026-03-29T00:00:00-16:00",
		"2026-03-30": "2026-03-30T00:00:00-15:00",
		"2026-03-31": "2026-03-31T00:00:00-15:00",
		"2026-10-25": "2026-10-25T00:00:00-15:00",
		"2026-10-26": "2026-10-26T00:00:00-16:00",
	} {
		if got := zone.Start(mustDate(t, text)).Format(time.RFC3339); got != start {
			t.Errorf("Start(%s) = %s, want %s", text, got, start)
		}
	}
}

// rules returns a zone whose clocks have always followed the rule, in the form
// of the environment variable TZ in POSIX.
func rules(t *testing.T, rule string) tzclock.Zone {
	t.Helper()
	// A file of version 2 without changes: two headers of 44 bytes, each with
	// the number of types (1) and of bytes of their names (4), and a type.
	header := append([]byte("TZif2"), make([]byte, 39)...)
	header[39], header[43] = 1, 4
	block := append(header, make([]byte, 6+4)...)
	loc, err := time.LoadLocationFromTZData("Test/Rules", fmt.Appendf(slices.Concat(block, block), "\n%s\n", rule))
	if err != nil {
		t.Fatal(err)
	}
	zone, err := tzclock.In(loc)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// Newfoundland's clocks went back from 0:01 of the new day to 23:01 of the old one, so
// its first minute is part of the old day.
func TestAMinuteThatIsShownTwice(t *testing.T) {
	t.Parallel()
	z := tzclock.MustLoad("America/St_Johns")
	change := time.Date(2010, 11, 7, 2, 31, 0, 0, time.UTC)
	old := tzclock.Date{Year: 2010, Month: 11, Day: 6}
	for _, at := range []time.Time{change.Add(-30 * time.Second), change, change.Add(58 * time.Minute)} {
		if got := z.Date(at); got != old {
			t.Errorf("%v is part of %v, want %v", at.In(z.Location()), got, old)
		}
	}
	if got := z.Start(old.AddDays(1)); !got.Equal(change.Add(59 * time.Minute)) {
		t.Errorf("the new day starts at %v", got)
	}
}

func TestWeek(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ date, start, end string }{
		{"2026-03-23", "2026-03-23T00:00:00+01:00", "2026-03-30T00:00:00+02:00"}, // Monday, an hour short
		{"2026-03-29", "2026-03-23T00:00:00+01:00", "2026-03-30T00:00:00+02:00"}, // Sunday
		{"2026-03-30", "2026-03-30T00:00:00+02:00", "2026-04-06T00:00:00+02:00"},
		{"2027-01-01", "2026-12-28T00:00:00+01:00", "2027-01-04T00:00:00+01:00"},
	} {
		d := mustDate(t, tc.date)
		start, end := tzclock.Stockholm.Week(tzclock.Stockholm.Start(d))
		if start.Format(time.RFC3339) != tc.start || end.Format(time.RFC3339) != tc.end {
			t.Errorf("Week(%v) = %v to %v, want %s to %s", d, start, end, tc.start, tc.end)
		}
		for _, at := range []time.Time{tzclock.Stockholm.Start(d), tzclock.Stockholm.End(d).Add(-1)} {
			if s, e := tzclock.Stockholm.Week(at); !s.Equal(start) || !e.Equal(end) {
				t.Errorf("Week(%v) = %v to %v, want %v to %v", at, s, e, start, end)
			}
		}
	}
}
