package tzclock_test

import (
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/tzclock"
)

func mustQuiet(t testing.TB, text string) tzclock.Quiet {
	t.Helper()
	q, err := tzclock.ParseQuiet(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// Times without an offset are in Stockholm; an offset tells the first of two
// equal ones from the second.
func TestQuiet(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ quiet, at, ends string }{
		{"22:00-07:00", "2026-01-15T21:59:59+01:00", ""},
		{"22:00-07:00", "2026-01-15T22:00:00+01:00", "2026-01-16T07:00:00+01:00"},
		{"22:00-07:00", "2026-01-16T06:59:59+01:00", "2026-01-16T07:00:00+01:00"},
		{"22:00-07:00", "2026-03-28T22:00:00+01:00", "2026-03-29T07:00:00+02:00"}, // eight hours
		{"22:00-00:00", "2026-01-15T23:59:59+01:00", "2026-01-16T00:00:00+01:00"},
		{"02:15-02:45", "2026-03-29T01:59:59+01:00", ""},                          // nor any of this
		{"22:00-02:30", "2026-10-25T01:00:00+02:00", "2026-10-25T02:30:00+02:00"}, // the first 02:30
		{"02:45-04:00", "2026-10-25T02:50:00+02:00", "2026-10-25T02:00:00+01:00"}, // put back out of them
	} {
		at, err := time.Parse(time.RFC3339, tc.at)
		if err != nil {
			t.Fatal(err)
		}
		q := mustQuiet(t, tc.quiet)
		if got := q.Contains(tzclock.Stockholm, at); got != (tc.ends != "") {
			t.Errorf("%v: Contains(%s) = %v", q, tc.at, got)
		}
		end, ok := q.Ends(tzclock.Stockholm, at)
		if ok != (tc.ends != "") || ok && end.Format(time.RFC3339) != tc.ends {
			t.Errorf("%v: Ends(%s) = %v, %v, want %s", q, tc.at, end, ok, tc.ends)
		}
	}
}

// On 31 December of a leap year that a zone's file does not list, package time
// reports that the span of the offset has ended already.
func TestQuietOnALeapYearsLastDay(t *testing.T) {
	t.Parallel()
	cairo := tzclock.MustLoad("Africa/Cairo")
	at := time.Date(2040, time.December, 31, 23, 0, 0, 0, cairo.Location())
	end, ok := mustQuiet(t, "22:00-07:00").Ends(cairo, at)
	if want := "2041-01-01T07:00:00+02:00"; !ok || end.Format(time.RFC3339) != want {
		t.Errorf("Ends = %v, %v, want %s", end, ok, want)
	}
}

func TestNeverQuiet(t *testing.T) {
	t.Parallel()
	same := tzclock.Quiet{From: tzclock.TimeOfDay{Hour: 22}, To: tzclock.TimeOfDay{Hour: 22}}
	for _, q := range []tzclock.Quiet{{}, same} {
		for hour := range 24 {
			at := time.Date(2026, time.March, 29, hour, 0, 0, 0, time.UTC)
			if end, ok := q.Ends(tzclock.Stockholm, at); ok || !end.IsZero() || q.Contains(tzclock.Stockholm, at) {
				t.Errorf("%v is quiet at %v", q, at)
			}
		}
		if begins, ok := q.Begins(tzclock.Stockholm, time.Unix(0, 0)); ok || !begins.IsZero() {
			t.Errorf("%v: what is never quiet begins at %v", q, begins)
		}
	}
	if never := (tzclock.Quiet{}); never.String() != "never" {
		t.Errorf("the zero Quiet is %v", never)
	}
	_, err := same.MarshalText()
	wantBadInput(t, "same", err, "tzclock", "quiet hours", "same time")
}

func TestParseQuiet(t *testing.T) {
	t.Parallel()
	want := tzclock.Quiet{From: tzclock.TimeOfDay{Hour: 22, Minute: 5}, To: tzclock.TimeOfDay{Hour: 7}}
	if got, err := tzclock.ParseQuiet("22:05-07:00"); err != nil || got != want || got.String() != "22:05-07:00" {
		t.Errorf("got %v, %v", got, err)
	}
	for text, field := range map[string]string{
		"":                  "quiet hours",
		"22:00":             "quiet hours",
		"22:00–07:00":       "quiet hours", // an en dash
		"22:00-22:00":       "quiet hours",
		"22:00-24:00":       "time of day",
		"22:00-07:60":       "time of day",
		"22-7":              "time of day",
		"2:00-07:00":        "time of day",
		"22:00-07:00-08:00": "time of day",
	} {
		got, err := tzclock.ParseQuiet(text)
		wantBadInput(t, text, err, "tzclock", field, "must")
		if got != (tzclock.Quiet{}) {
			t.Errorf("ParseQuiet(%q): %v came back with the error", text, got)
		}
	}
	for _, q := range []tzclock.Quiet{{From: tzclock.TimeOfDay{Minute: 60}}, {To: tzclock.TimeOfDay{Minute: -1}}} {
		_, err := q.MarshalText()
		wantBadInput(t, q.String(), err, "tzclock", "quiet hours", "00:00 to 23:59")
	}
}

// Law: what ParseQuiet accepts is what String gives, and passes.
func FuzzParseQuiet(f *testing.F) {
	for _, text := range []string{"22:00-07:00", "00:00-23:59", "22:00-22:00", "7:00-08:00", "22:00–07:00", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := tzclock.ParseQuiet(text)
		if err == nil && (q.String() != text || q == (tzclock.Quiet{})) {
			t.Errorf("ParseQuiet(%q) = %v", text, q)
		}
	})
}
