package tzclock_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/tzclock"
)

func date(year int, month time.Month, day int) tzclock.Date {
	return tzclock.Date{Year: year, Month: month, Day: day}
}

func TestParseDate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]tzclock.Date{
		"2026-03-29": date(2026, time.March, 29),
		"2024-02-29": date(2024, time.February, 29),
		"2000-02-29": date(2000, time.February, 29),
		"0001-01-01": date(1, time.January, 1),
		"9999-12-31": date(9999, time.December, 31),
	} {
		got, err := tzclock.ParseDate(text)
		if err != nil || got != want || got.String() != text || got.Check("a", "b") != nil {
			t.Errorf("ParseDate(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "2026", "2026-3-29", "2026-03-29 ", " 2026-03-29", "2026-03-29T00:00:00Z", "20260329", "2026/03/29",
		"2026-02-29", "1900-02-29", "2026-04-31", "2026-13-01", "2026-00-10", "2026-01-00",
		"0000-01-01", "10000-01-01", "-001-01-01", "+2026-01-01", "٢٠٢٦-٠٣-٢٩",
	} {
		got, err := tzclock.ParseDate(text)
		wantBadInput(t, text, err, "tzclock", "date", "YYYY-MM-DD")
		if got != (tzclock.Date{}) {
			t.Errorf("ParseDate(%q): %v came back with the error", text, got)
		}
	}
}

// What is not a day of the calendar has a text too, for error messages.
func TestStringOfNoDay(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]tzclock.Date{
		"0000-00-00":   {},
		"9999-99-99":   date(9999, 99, 99),
		"10000-01-01":  date(10000, 1, 1),
		"-001-01-01":   date(-1, 1, 1),
		"2026-100-01":  date(2026, 100, 1),
		"2026--1-01":   date(2026, -1, 1),
		"2026-01-100":  date(2026, 1, 100),
		"2026-01--1":   date(2026, 1, -1),
		"0042-10-09":   date(42, 10, 9),
		"987654-01-01": date(987654, 1, 1),
	} {
		if got := d.String(); got != want {
			t.Errorf("%#v.String() = %s, want %s", d, got, want)
		}
	}
}

func TestCheckDate(t *testing.T) {
	t.Parallel()
	for _, d := range []tzclock.Date{date(1, 1, 1), date(2024, 2, 29), date(9999, 12, 31)} {
		if err := d.Check("counter", "Date"); err != nil {
			t.Errorf("%v: %v", d, err)
		}
	}
	wantBadInput(t, "zero", tzclock.Date{}.Check("counter", "Date"), "counter", "Date", "must be given")
	for _, d := range []tzclock.Date{
		date(2026, 2, 29), date(2026, 13, 1), date(2026, 0, 1), date(2026, 1, 0), date(2026, 1, 32),
		date(2026, -1, 1), date(0, 1, 1), date(-1, 1, 1), date(10000, 1, 1),
	} {
		wantBadInput(t, d.String(), d.Check("counter", "Date"), "counter", "Date", d.String())
	}
}

func TestDateOrder(t *testing.T) {
	t.Parallel()
	sorted := []tzclock.Date{{}, date(1, 1, 1), date(999, 12, 31), date(2025, 12, 31), date(2026, 1, 1), date(2026, 1, 2), date(2026, 2, 1), date(9999, 1, 1)}
	for i, a := range sorted {
		for j, b := range sorted {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := a.Compare(b); got != want || a.Before(b) != (want < 0) {
				t.Errorf("%v.Compare(%v) = %d, want %d", a, b, got, want)
			}
			if got := strings.Compare(a.String(), b.String()); got != want {
				t.Errorf("as text %v and %v compare as %d, want %d", a, b, got, want)
			}
		}
	}
	if !slices.IsSortedFunc(sorted, tzclock.Date.Compare) {
		t.Error("not sorted")
	}
}

func TestAddDays(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		from tzclock.Date
		n    int
		want tzclock.Date
	}{
		{date(2026, 3, 28), 1, date(2026, 3, 29)}, // clocks change; the calendar does not
		{date(2026, 3, 29), 1, date(2026, 3, 30)},
		{date(2024, 2, 28), 1, date(2024, 2, 29)},
		{date(2025, 12, 31), 1, date(2026, 1, 1)},
		{date(2026, 1, 1), -1, date(2025, 12, 31)},
		{date(1970, 1, 1), 20541, date(2026, 3, 29)},
		{date(2000, 1, 1), 146097, date(2400, 1, 1)},
		{date(2026, 3, 29), 0, date(2026, 3, 29)},
	} {
		if got := tc.from.AddDays(tc.n); got != tc.want {
			t.Errorf("%v.AddDays(%d) = %v, want %v", tc.from, tc.n, got, tc.want)
		}
		if got := tc.from.DaysUntil(tc.want); got != tc.n {
			t.Errorf("%v.DaysUntil(%v) = %d, want %d", tc.from, tc.want, got, tc.n)
		}
	}
}

func TestDateInJSON(t *testing.T) {
	t.Parallel()
	type doc struct {
		Day   tzclock.Date
		Other tzclock.Date
		Count map[tzclock.Date]int
	}
	in := doc{Day: date(2026, 3, 29), Count: map[tzclock.Date]int{date(2026, 3, 30): 2}}
	text, err := json.Marshal(in)
	if want := `{"Day":"2026-03-29","Other":"","Count":{"2026-03-30":2}}`; err != nil || string(text) != want {
		t.Fatalf("got %s, %v, want %s", text, err, want)
	}
	out := doc{Other: date(2026, 1, 1)}
	if err := json.Unmarshal(text, &out); err != nil || out.Day != in.Day || out.Other != (tzclock.Date{}) || out.Count[date(2026, 3, 30)] != 2 {
		t.Errorf("got %v, %v", out, err)
	}

	if _, err := date(2026, 2, 29).MarshalText(); err == nil {
		t.Error("a date that is none has a text")
	}
	kept := date(2026, 1, 1)
	wantBadInput(t, "UnmarshalText", kept.UnmarshalText([]byte("2026-02-29")), "tzclock", "date", "2026-02-29")
	if kept != date(2026, 1, 1) {
		t.Errorf("a refused text changed the date to %v", kept)
	}
}

// Law: what ParseDate accepts is what String gives, and nothing else.
func FuzzParseDate(f *testing.F) {
	for _, text := range []string{"2026-03-29", "2024-02-29", "2026-02-29", "0000-00-00", "9999-12-31", "", "2026-3-9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := tzclock.ParseDate(text)
		if (err == nil) != (d.Check("a", "b") == nil) {
			t.Fatalf("ParseDate(%q) = %v, %v", text, d, err)
		}
		if err == nil && d.String() != text {
			t.Errorf("ParseDate(%q).String() = %q", text, d)
		}
	})
}

// Laws of the calendar: adding and taking away, counting, weeks, order.
func FuzzAddDays(f *testing.F) {
	f.Add(2026, 3, 29, 1)
	f.Add(2000, 2, 29, -366)
	f.Add(1970, 1, 1, 400*365)
	f.Fuzz(func(t *testing.T, year, month, day, n int) {
		d := tzclock.Date{Year: 1 + abs(year)%9999, Month: time.Month(1 + abs(month)%12), Day: 1 + abs(day)%31}
		d = d.AddDays(0) // 31 February is some day in March
		n %= 4_000_000
		e := d.AddDays(n)
		if back := e.AddDays(-n); back != d || d.DaysUntil(e) != n || e.DaysUntil(d) != -n {
			t.Errorf("%v.AddDays(%d) = %v: back at %v, DaysUntil %d and %d", d, n, e, back, d.DaysUntil(e), e.DaysUntil(d))
		}
		if d.Before(e) != (n > 0) {
			t.Errorf("%v and %v, %d days later, are in the wrong order", d, e, n)
		}
		if got := (int(d.Weekday()) + n%7 + 7) % 7; got != int(e.Weekday()) {
			t.Errorf("%v is %v, and %v, %d days later, %v", d, d.Weekday(), e, n, e.Weekday())
		}
		monday := d.Monday()
		if behind := monday.DaysUntil(d); monday.Weekday() != time.Monday || behind < 0 || behind > 6 {
			t.Errorf("%v.Monday() = %v", d, monday)
		}
		if d.Check("a", "b") == nil && d.Year < 9999 {
			if back, err := tzclock.ParseDate(d.String()); err != nil || back != d {
				t.Errorf("ParseDate(%v) = %v, %v", d, back, err)
			}
		}
	})
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}

func BenchmarkString(b *testing.B) {
	d := date(2026, time.March, 29)
	b.ReportAllocs()
	for b.Loop() {
		_ = d.String()
	}
}
