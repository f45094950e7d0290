package tzclock_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/tzclock"
)

// The nights that the package comment tells of, as a person would write them
// down. testdata/golden.py tells of all the others.
func TestStartAndEnd(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ zone, date, start, end string }{
		{"Europe/Stockholm", "2026-03-28", "2026-03-28T00:00:00+01:00", "2026-03-29T00:00:00+01:00"},
		{"Europe/Stockholm", "2026-03-29", "2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"}, // 23 hours
		{"Europe/Stockholm", "2026-10-25", "2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"}, // 25 hours
		{"Europe/Stockholm", "2026-12-31", "2026-12-31T00:00:00+01:00", "2027-01-01T00:00:00+01:00"},
		{"UTC", "2026-03-29", "2026-03-29T00:00:00Z", "2026-03-30T00:00:00Z"},
		{"Asia/Beirut", "2022-03-27", "2022-03-27T01:00:00+03:00", "2022-03-28T00:00:00+03:00"},       // no midnight
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"}, // no midnight
		{"America/Sao_Paulo", "2018-02-17", "2018-02-17T00:00:00-02:00", "2018-02-18T00:00:00-03:00"}, // its 23:00 twice
		{"Africa/Cairo", "2010-09-30", "2010-09-30T00:00:00+03:00", "2010-10-01T00:00:00+02:00"},
		{"America/Havana", "2023-11-05", "2023-11-05T00:00:00-04:00", "2023-11-06T00:00:00-05:00"},   // midnight twice
		{"Pacific/Apia", "2011-12-29", "2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00"},     // the last before the gap
		{"Pacific/Apia", "2011-12-30", "2011-12-31T00:00:00+14:00", "2011-12-31T00:00:00+14:00"},     // was not
		{"America/St_Johns", "2010-11-06", "2010-11-06T00:00:00-02:30", "2010-11-07T00:00:00-03:30"}, // resumed at 23:01
		// Beyond the years that zone files list, on the day package time has trouble with.
		{"America/New_York", "2096-12-31", "2096-12-31T00:00:00-05:00", "2097-01-01T00:00:00-05:00"},
	} {
		zone := tzclock.MustLoad(tc.zone)
		d := mustDate(t, tc.date)
		if got := zone.Start(d).Format(time.RFC3339); got != tc.start {
			t.Errorf("%s: Start(%v) = %s, want %s", zone, d, got, tc.start)
		}
		if got := zone.End(d).Format(time.RFC3339); got != tc.end {
			t.Errorf("%s: End(%v) = %s, want %s", zone, d, got, tc.end)
		}
	}
}

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

// Only a day that clocks went back out of keeps an instant on which they
// already showed the next.
func TestDateIsWhatAClockShows(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ zone, at, want string }{
		{"Europe/Stockholm", "2026-03-28T22:59:59Z", "2026-03-28"},
		{"Europe/Stockholm", "2026-03-28T23:00:00Z", "2026-03-29"},
		{"Europe/Stockholm", "2026-03-29T21:59:59Z", "2026-03-29"},
		{"Europe/Stockholm", "2026-03-29T22:00:00Z", "2026-03-30"},
		{"America/Havana", "2023-11-05T04:30:00Z", "2023-11-05"}, // 00:30
		{"America/Havana", "2023-11-05T05:30:00Z", "2023-11-05"}, // 00:30 again
		{"America/St_Johns", "2010-11-07T02:29:59Z", "2010-11-06"},
		{"America/St_Johns", "2010-11-07T02:30:00Z", "2010-11-06"}, // shows the 7th, for a minute
		{"America/St_Johns", "2010-11-07T02:31:00Z", "2010-11-06"},
		{"America/St_Johns", "2010-11-07T03:29:59Z", "2010-11-06"},
		{"America/St_Johns", "2010-11-07T03:30:00Z", "2010-11-07"},
	} {
		at, err := time.Parse(time.RFC3339, tc.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := tzclock.MustLoad(tc.zone).Date(at).String(); got != tc.want {
			t.Errorf("%s: Date(%s) = %s, want %s", tc.zone, tc.at, got, tc.want)
		}
	}
}

func TestWeek(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ date, start, end string }{
		{"2026-03-23", "2026-03-23T00:00:00+01:00", "2026-03-30T00:00:00+02:00"}, // Monday, an hour short
		{"2026-03-29", "2026-03-23T00:00:00+01:00", "2026-03-30T00:00:00+02:00"}, // Sunday
		{"2026-03-30", "2026-03-30T00:00:00+02:00", "2026-04-06T00:00:00+02:00"},
		{"2026-10-25", "2026-10-19T00:00:00+02:00", "2026-10-26T00:00:00+01:00"}, // an hour long
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

// Zones whose clocks have been put where few clocks have been, besides those
// that the golden files know.
var lawZones = []string{
	"UTC", "Europe/Stockholm", "America/New_York", "America/Sao_Paulo", "America/Havana", "America/St_Johns",
	"America/Juneau", "Africa/Monrovia", "Africa/Casablanca", "Antarctica/Casey", "Antarctica/Troll", "Asia/Manila",
	"Australia/Lord_Howe", "Europe/Dublin", "Pacific/Apia", "Pacific/Kwajalein", "America/Nuuk",
}

// Laws: every instant lies in its day and its week; days are in order, touch
// each other, and last between 0 and 48 hours.
func FuzzInstant(f *testing.F) {
	for i := range lawZones {
		f.Add(int64(1774745999999), uint8(i))   // before the night of 2026-03-29
		f.Add(int64(1289096999999), uint8(i))   // Newfoundland, 2010
		f.Add(int64(-3225223728000), uint8(i))  // Juneau, 1867
		f.Add(int64(4007750400000-1), uint8(i)) // the end of a leap year far ahead
	}
	f.Fuzz(func(t *testing.T, ms int64, pick uint8) {
		zone := tzclock.MustLoad(lawZones[int(pick)%len(lawZones)])
		at := time.UnixMilli(ms % (1 << 47)) // years before -2000 and after 6000 are of no interest
		d := zone.Date(at)
		start, end := zone.Start(d), zone.End(d)
		if start.After(at) || !end.After(at) {
			t.Errorf("%s: %v lies outside %v, which is %v to %v", zone, at.In(zone.Location()), d, start, end)
		}
		if length := end.Sub(start); length <= 0 || length > 48*time.Hour {
			t.Errorf("%s: %v lasts %v", zone, d, length)
		}
		if zone.Date(end.Add(-1)) != d || zone.Date(end).Compare(d) <= 0 {
			t.Errorf("%s: %v does not end at %v", zone, d, end)
		}
		if next := zone.Start(d.AddDays(1)); !next.Equal(end) {
			t.Errorf("%s: %v ends at %v, and the next day starts at %v", zone, d, end, next)
		}
		from, to := zone.Week(at)
		if from.After(at) || !to.After(at) || zone.Date(from).Compare(d.Monday()) < 0 {
			t.Errorf("%s: %v lies outside its week, %v to %v", zone, at.In(zone.Location()), from, to)
		}
	})
}

func BenchmarkDate(b *testing.B) {
	at := time.UnixMilli(1774785600000)
	for b.Loop() {
		tzclock.Stockholm.Date(at)
	}
}

func BenchmarkStart(b *testing.B) {
	d := date(2026, time.March, 29)
	for b.Loop() {
		tzclock.Stockholm.Start(d)
	}
}

// BenchmarkDay is what a counter asks of each event: its day, when that ends,
// and its text. On days near a change of clocks it takes longer.
func BenchmarkDay(b *testing.B) {
	for name, at := range map[string]time.Time{
		"plain":         time.Date(2026, time.June, 15, 12, 0, 0, 0, time.UTC),
		"near a change": time.UnixMilli(1774785600000),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				day := tzclock.Stockholm.Date(at)
				_, _ = tzclock.Stockholm.End(day), day.String()
			}
		})
	}
}

func TestAt(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ zone, day, clock, want string }{
		{"Europe/Stockholm", "2026-01-15", "09:30", "2026-01-15T09:30:00+01:00"},
		{"Europe/Stockholm", "2026-01-15", "00:00", "2026-01-15T00:00:00+01:00"},
		{"Europe/Stockholm", "2026-03-29", "02:30", "2026-03-29T03:00:00+02:00"}, // clocks jump over it
		{"Europe/Stockholm", "2026-03-29", "03:00", "2026-03-29T03:00:00+02:00"},
		{"Europe/Stockholm", "2026-10-25", "02:30", "2026-10-25T02:30:00+02:00"}, // the first of two
		{"Europe/Stockholm", "2026-10-25", "03:00", "2026-10-25T03:00:00+01:00"},
		{"Asia/Beirut", "2022-03-27", "00:30", "2022-03-27T01:00:00+03:00"},      // the day starts at one
		{"America/St_Johns", "2010-11-06", "23:30", "2010-11-06T23:30:00-02:30"}, // shown twice
		{"Pacific/Apia", "2011-12-30", "12:00", "2011-12-31T00:00:00+14:00"},     // a day without length
	} {
		d, err := tzclock.ParseDate(tc.day)
		if err != nil {
			t.Fatal(err)
		}
		c, err := tzclock.ParseTimeOfDay(tc.clock)
		if err != nil {
			t.Fatal(err)
		}
		if got := tzclock.MustLoad(tc.zone).At(d, c).Format(time.RFC3339); got != tc.want {
			t.Errorf("%s: At(%s, %s) = %s, want %s", tc.zone, tc.day, tc.clock, got, tc.want)
		}
	}
}
