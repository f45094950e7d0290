package tzclock_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/tzclock"
)

// truth is what testdata/golden.py found out about one zone. Everything asked
// of it is answered by adding and comparing seconds, never by package time.
type truth struct {
	name       string
	first, end tzclock.Date // the days it knows, end not among them
	start      int64        // of first, in seconds since 1970
	offsets    []offset
	lengths    map[tzclock.Date]int64 // of days that have not 24 hours
}

type offset struct{ since, seconds int64 }

type day struct {
	date       tzclock.Date
	start, end int64
}

func readTruths(t testing.TB) []*truth {
	t.Helper()
	var truths []*truth
	for _, line := range readLines(t, "testdata/days.txt") {
		var name, first, end string
		var from, seconds int64
		if n, _ := fmt.Sscanf(line, "zone %s %s %s %d %d", &name, &first, &end, &from, &seconds); n == 5 {
			truths = append(truths, &truth{
				name: name, first: mustDate(t, first), end: mustDate(t, end), start: from,
				offsets: []offset{{from, seconds}}, lengths: map[tzclock.Date]int64{},
			})
			continue
		}
		tr := truths[len(truths)-1]
		if n, _ := fmt.Sscanf(line, "at %d %d", &from, &seconds); n == 2 {
			tr.offsets = append(tr.offsets, offset{from, seconds})
		} else if n, _ := fmt.Sscanf(line, "day %s %d", &first, &seconds); n == 2 {
			tr.lengths[mustDate(t, first)] = seconds
		} else {
			t.Fatalf("cannot read %q", line)
		}
	}
	if len(truths) != 20 {
		t.Fatalf("%d zones in days.txt", len(truths))
	}
	return truths
}

func readLines(t testing.TB, path string) (lines []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		lines = append(lines, s.Text())
	}
	return lines
}

// zone returns the zone from the data that golden.py had, not the machine's.
func (tr *truth) zone(t testing.TB) tzclock.Zone {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "zoneinfo", filepath.FromSlash(tr.name)))
	if err != nil {
		t.Fatal(err)
	}
	loc, err := time.LoadLocationFromTZData(tr.name, data)
	if err != nil {
		t.Fatal(err)
	}
	zone, err := tzclock.In(loc)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// eachZone runs the test for each zone, beside the others.
func eachZone(t *testing.T, test func(*testing.T, *truth)) {
	t.Helper()
	for _, tr := range readTruths(t) {
		t.Run(tr.name, func(t *testing.T) {
			t.Parallel()
			test(t, tr)
		})
	}
}

// days returns the days before the given one, in order.
func (tr *truth) days(before tzclock.Date) (days []day) {
	start := tr.start
	for d := tr.first; d.Before(tr.end) && d.Before(before); d = nextDay(d) {
		length, odd := tr.lengths[d]
		if !odd {
			length = 24 * 60 * 60
		}
		days = append(days, day{d, start, start + length})
		start += length
	}
	return days
}

// wall returns what a clock shows, as the seconds it shows since 1970-01-01.
func (tr *truth) wall(unix int64) int64 {
	next, _ := slices.BinarySearchFunc(tr.offsets, unix, func(o offset, unix int64) int {
		if o.since <= unix {
			return -1
		}
		return 1
	})
	return unix + tr.offsets[next-1].seconds
}

// nextDay counts as one does on paper.
func nextDay(d tzclock.Date) tzclock.Date {
	last := [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[d.Month-1]
	if d.Month == time.February && d.Year%4 == 0 && (d.Year%100 != 0 || d.Year%400 == 0) {
		last = 29
	}
	switch {
	case d.Day < last:
		d.Day++
	case d.Month < time.December:
		d.Month, d.Day = d.Month+1, 1
	default:
		d.Year, d.Month, d.Day = d.Year+1, time.January, 1
	}
	return d
}

func mustDate(t testing.TB, text string) tzclock.Date {
	t.Helper()
	d, err := tzclock.ParseDate(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Every day of every zone: where it starts and ends, and that what lies inside
// is of this day. And the same with the zones that Load finds on this machine,
// for the years whose clock changes are history.
func TestDays(t *testing.T) {
	t.Parallel()
	eachZone(t, func(t *testing.T, tr *truth) {
		checkDays(t, tr.zone(t), tr.days(tr.end))
		checkDays(t, tzclock.MustLoad(tr.name), tr.days(date(2020, time.January, 1)))
	})
}

func checkDays(t *testing.T, zone tzclock.Zone, days []day) {
	t.Helper()
	if len(days) < 20*365 {
		t.Fatalf("only %d days", len(days))
	}
	for _, want := range days {
		start, end := zone.Start(want.date), zone.End(want.date)
		if start.Unix() != want.start || end.Unix() != want.end || start.Nanosecond() != 0 || end.Nanosecond() != 0 {
			t.Errorf("%v: got %v to %v, want %v to %v", want.date, start, end,
				time.Unix(want.start, 0).In(zone.Location()), time.Unix(want.end, 0).In(zone.Location()))
		}
		if want.start == want.end {
			continue // skipped: nothing lies inside
		}
		for _, at := range []time.Time{
			time.Unix(want.start, 0), time.Unix((want.start+want.end)/2, 0), time.Unix(want.end, -1),
		} {
			if got := zone.Date(at); got != want.date {
				t.Errorf("Date(%v) = %v, want %v", at.In(zone.Location()), got, want.date)
			}
		}
		if got := zone.Weekday(start); got != want.date.Weekday() {
			t.Errorf("Weekday(%v) = %v, want %v", start, got, want.date.Weekday())
		}
	}
}

// What a clock shows around each change, every five minutes and
// at the second before.
func TestClock(t *testing.T) {
	t.Parallel()
	eachZone(t, func(t *testing.T, tr *truth) {
		zone := tr.zone(t)
		for _, change := range tr.offsets[1:] {
			var instants []int64
			for unix := change.since - 4*3600; unix <= change.since+4*3600; unix += 300 {
				instants = append(instants, unix-1, unix)
			}
			for _, unix := range instants {
				at, seconds := time.Unix(unix, 999), tr.wall(unix)%86400
				clock := tzclock.TimeOfDay{Hour: int(seconds / 3600), Minute: int(seconds % 3600 / 60)}
				if got := zone.Clock(at); got != clock || zone.Hour(at) != clock.Hour {
					t.Errorf("at %v: got %v and hour %d, want %v", at.In(zone.Location()), got, zone.Hour(at), clock)
				}
			}
		}
	})
}

// Quiet hours over two nights around each change of the clock, against a list
// of what the clock shows in each minute.
func TestQuietAroundChanges(t *testing.T) {
	t.Parallel()
	eachZone(t, func(t *testing.T, tr *truth) {
		zone := tr.zone(t)
		for _, text := range []string{"22:00-07:00", "23:30-00:00", "00:00-01:00", "01:15-02:30", "22:00-03:00", "02:00-01:00", "08:00-20:00"} {
			q := mustQuiet(t, text)
			for _, change := range tr.offsets[1:] {
				checkQuiet(t, tr, zone, q, change.since-26*3600, change.since+26*3600)
			}
		}
	})
}

func checkQuiet(t *testing.T, tr *truth, zone tzclock.Zone, q tzclock.Quiet, from, to int64) {
	t.Helper()
	var quiet [24 * 60]bool // by the minute a clock shows
	for m := 60*q.From.Hour + q.From.Minute; m != 60*q.To.Hour+q.To.Minute; m = (m + 1) % len(quiet) {
		quiet[m] = true
	}
	var ends int64    // the next minute that is not quiet, once there was one
	var begins int64  // the next minute that is quiet after one that is not
	var wasQuiet bool // a minute later, for time runs backwards here
	for at := to - to%60; at >= max(from, tr.start); at -= 60 {
		isQuiet := quiet[tr.wall(at)%86400/60]
		if !isQuiet {
			ends = at
		}
		if !isQuiet && wasQuiet {
			begins = at + 60
		}
		beforeChange := isQuiet != wasQuiet
		wasQuiet = isQuiet
		if ends == 0 || at%(35*60) != 0 && !beforeChange {
			continue // asking about some minutes, and the last of each period, is enough
		}
		instant := time.Unix(at, 1)
		if got := q.Contains(zone, instant); got != isQuiet {
			t.Errorf("%v: Contains(%v) = %v", q, instant.In(zone.Location()), got)
		}
		end, ok := q.Ends(zone, instant)
		if ok != isQuiet || isQuiet && !end.Equal(time.Unix(ends, 0)) {
			t.Errorf("%v: Ends(%v) = %v, %v, want %v", q, instant.In(zone.Location()), end, ok, time.Unix(ends, 0).In(zone.Location()))
		}
		if begin, ok := q.Begins(zone, instant); begins != 0 && (!ok || !begin.Equal(time.Unix(begins, 0))) {
			t.Errorf("%v: Begins(%v) = %v, %v, want %v", q, instant.In(zone.Location()), begin, ok, time.Unix(begins, 0).In(zone.Location()))
		}
	}
}

// When a clock first shows a time on the days around each change of the clock,
// against what it shows in each minute of them.
func TestAtAroundChanges(t *testing.T) {
	t.Parallel()
	eachZone(t, func(t *testing.T, tr *truth) {
		zone := tr.zone(t)
		for _, change := range tr.offsets[1:] {
			d := zone.Date(time.Unix(change.since, 0))
			for _, d := range []tzclock.Date{d.AddDays(-1), d, d.AddDays(1)} {
				checkAt(t, tr, zone, d)
			}
		}
	})
}

func checkAt(t *testing.T, tr *truth, zone tzclock.Zone, d tzclock.Date) {
	t.Helper()
	start, end := zone.Start(d).Unix(), zone.End(d).Unix()
	first := map[int]int64{} // by the minute, the first at which a clock shows it or a later one
	next := 0
	for at := start; at < end; at += 60 - at%60 {
		for ; next <= int(tr.wall(at)%86400/60) && next < 24*60; next++ {
			first[next] = at
		}
	}
	for minute := 0; minute < 24*60; minute += 5 {
		c := tzclock.TimeOfDay{Hour: minute / 60, Minute: minute % 60}
		want, ok := first[minute]
		if !ok {
			want = end
		}
		if got := zone.At(d, c); got.Unix() != want {
			t.Errorf("At(%v, %v) = %v, want %v", d, c, got, time.Unix(want, 0).In(zone.Location()))
		}
	}
}

// Every day of 400 years, a whole cycle: weeks and days of the week.
func TestWeeks(t *testing.T) {
	t.Parallel()
	lines := readLines(t, "testdata/weeks.txt")
	if len(lines) != 401 {
		t.Fatalf("%d years in weeks.txt", len(lines))
	}
	for _, line := range lines {
		var year, weeks int
		var first string
		if _, err := fmt.Sscanf(line, "%d %s %d", &year, &first, &weeks); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		d := mustDate(t, first)
		for week := 1; week <= weeks; week++ {
			monday := d
			for i := range 7 {
				if gotYear, gotWeek := d.ISOWeek(); gotYear != year || gotWeek != week {
					t.Errorf("%v: ISOWeek() = %d, %d, want %d, %d", d, gotYear, gotWeek, year, week)
				}
				if want := time.Weekday((i + 1) % 7); d.Weekday() != want {
					t.Errorf("%v: Weekday() = %v, want %v", d, d.Weekday(), want)
				}
				if d.Monday() != monday {
					t.Errorf("%v: Monday() = %v, want %v", d, d.Monday(), monday)
				}
				if d.AddDays(1) != nextDay(d) || nextDay(d).AddDays(-1) != d || d.DaysUntil(monday) != -i {
					t.Errorf("%v: AddDays(1) = %v, DaysUntil(%v) = %d", d, d.AddDays(1), monday, d.DaysUntil(monday))
				}
				d = nextDay(d)
			}
		}
		if back := d.AddDays(-7 * weeks); back.String() != first || back.DaysUntil(d) != 7*weeks {
			t.Errorf("%d weeks before %v: %v", weeks, d, back)
		}
	}
}
