package tzclock_test

import (
	"encoding/json"
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
		{"22:00-07:00", "2026-01-16T00:00:00+01:00", "2026-01-16T07:00:00+01:00"},
		{"22:00-07:00", "2026-01-16T06:59:59+01:00", "2026-01-16T07:00:00+01:00"},
		{"22:00-07:00", "2026-01-16T07:00:00+01:00", ""},
		{"22:00-07:00", "2026-03-28T22:00:00+01:00", "2026-03-29T07:00:00+02:00"}, // eight hours
		{"22:00-07:00", "2026-10-24T22:00:00+02:00", "2026-10-25T07:00:00+01:00"}, // ten hours
		{"12:30-13:15", "2026-01-15T12:29:59+01:00", ""},
		{"12:30-13:15", "2026-01-15T12:30:00+01:00", "2026-01-15T13:15:00+01:00"},
		{"12:30-13:15", "2026-01-15T13:15:00+01:00", ""},
		{"22:00-00:00", "2026-01-15T23:59:59+01:00", "2026-01-16T00:00:00+01:00"},
		{"22:00-00:00", "2026-01-16T00:00:00+01:00", ""},
		{"00:00-06:00", "2026-01-16T00:00:00+01:00", "2026-01-16T06:00:00+01:00"},
		{"22:00-02:30", "2026-03-28T23:00:00+01:00", "2026-03-29T03:00:00+02:00"}, // there is no 02:30
		{"02:15-02:45", "2026-03-29T01:59:59+01:00", ""},                          // nor any of this
		{"02:15-02:45", "2026-03-29T03:00:00+02:00", ""},
		{"22:00-02:30", "2026-10-25T01:00:00+02:00", "2026-10-25T02:30:00+02:00"}, // the first 02:30
		{"22:00-02:30", "2026-10-25T02:45:00+02:00", ""},
		{"22:00-02:30", "2026-10-25T02:00:00+01:00", "2026-10-25T02:30:00+01:00"}, // and the second
		{"22:00-03:00", "2026-10-25T01:00:00+02:00", "2026-10-25T03:00:00+01:00"}, // there is one 03:00
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
	}
	if never := (tzclock.Quiet{}); never.String() != "never" {
		t.Errorf("the zero Quiet is %v", never)
	}
	wantBadInput(t, "same", tzclock.QuietCheck(same, "homeops", "quiet hours"), "homeops", "quiet hours", "same time")
}

func TestParseQuiet(t *testing.T) {
	t.Parallel()
	want := tzclock.Quiet{From: tzclock.TimeOfDay{Hour: 22, Minute: 5}, To: tzclock.TimeOfDay{Hour: 7}}
	if got, err := tzclock.ParseQuiet("22:05-07:00"); err != nil || got != want || got.String() != "22:05-07:00" || tzclock.QuietCheck(got, "a", "b") != nil {
		t.Errorf("got %v, %v", got, err)
	}
	for text, field := range map[string]string{
		"":                  "quiet hours",
		"never":             "quiet hours",
		"22:00":             "quiet hours",
		"22:00–07:00":       "quiet hours", // an en dash
		"22:00-22:00":       "quiet hours",
		"00:00-00:00":       "quiet hours",
		"22:00-24:00":       "time of day",
		"22:00-07:60":       "time of day",
		"22-7":              "time of day",
		"22:00-7:00":        "time of day",
		"2:00-07:00":        "time of day",
		"22:00 - 07:00":     "time of day",
		"22:00-07:00-08:00": "time of day",
		"-22:00-07:00":      "time of day",
	} {
		got, err := tzclock.ParseQuiet(text)
		wantBadInput(t, text, err, "tzclock", field, "must")
		if got != (tzclock.Quiet{}) {
			t.Errorf("ParseQuiet(%q): %v came back with the error", text, got)
		}
	}
	for _, q := range []tzclock.Quiet{
		{From: tzclock.TimeOfDay{Hour: 24}},
		{To: tzclock.TimeOfDay{Hour: -1}},
		{From: tzclock.TimeOfDay{Minute: 60}},
		{To: tzclock.TimeOfDay{Minute: -1}},
	} {
		wantBadInput(t, q.String(), tzclock.QuietCheck(q, "homeops", "quiet hours"), "homeops", "quiet hours", "00:00 to 23:59")
	}
}

// Laws: Ends answers exactly when it is quiet, with an instant at which it is
// not, and all is quiet until then; text round-trips.
func FuzzQuiet(f *testing.F) {
	for i := range lawZones {
		f.Add(int64(1774745999999), uint8(i), uint16(22*60), uint16(7*60))
		f.Add(int64(1792886400000), uint8(i), uint16(22*60), uint16(3*60))
	}
	f.Fuzz(func(t *testing.T, ms int64, pick uint8, from, to uint16) {
		zone := tzclock.MustLoad(lawZones[int(pick)%len(lawZones)])
		at := time.UnixMilli(ms % (1 << 47))
		from, to = from%(24*60), to%(24*60)
		q := tzclock.Quiet{
			From: tzclock.TimeOfDay{Hour: int(from / 60), Minute: int(from % 60)},
			To:   tzclock.TimeOfDay{Hour: int(to / 60), Minute: int(to % 60)},
		}
		if back, err := tzclock.ParseQuiet(q.String()); (err == nil) != (from != to) || err == nil && back != q {
			t.Errorf("ParseQuiet(%v) = %v, %v", q, back, err)
		}
		end, ok := q.Ends(zone, at)
		if ok != q.Contains(zone, at) {
			t.Fatalf("%s: Contains(%v) = %v, Ends %v", zone, at, !ok, ok)
		}
		if !ok {
			return
		}
		if q.Contains(zone, end) || !end.After(at) || end.Sub(at) > 50*time.Hour {
			t.Errorf("%s: %v ends at %v, asked at %v", zone, q, end, at)
		}
		for ; at.Before(end); at = at.Add(11 * time.Minute) {
			if !q.Contains(zone, at) {
				t.Errorf("%s: %v is not quiet at %v, before its end %v", zone, q, at, end)
			}
		}
	})
}

func TestQuietAsText(t *testing.T) {
	t.Parallel()
	type doc struct {
		Quiet, Never tzclock.Quiet
		At           tzclock.TimeOfDay
	}
	in := doc{Quiet: mustQuiet(t, "22:00-07:00"), At: tzclock.TimeOfDay{Hour: 9, Minute: 5}}
	text, err := json.Marshal(in)
	if want := `{"Quiet":"22:00-07:00","Never":"","At":"09:05"}`; err != nil || string(text) != want {
		t.Fatalf("got %s, %v, want %s", text, err, want)
	}
	out := doc{Never: in.Quiet}
	if err := json.Unmarshal(text, &out); err != nil || out != in {
		t.Errorf("got %v, %v", out, err)
	}
	for _, text := range []string{`{"Quiet":"never"}`, `{"Quiet":"22:00-22:00"}`, `{"At":""}`, `{"At":"24:00"}`} {
		kept := in
		if err := json.Unmarshal([]byte(text), &kept); err == nil || kept != in {
			t.Errorf("%s: %v, and it is %v", text, err, kept)
		}
	}
	if _, err := (tzclock.TimeOfDay{Hour: 24}).MarshalText(); err == nil {
		t.Error("a time that no clock shows has a text")
	}
	if _, err := (tzclock.Quiet{From: in.At, To: in.At}).MarshalText(); err == nil {
		t.Error("quiet hours that might be never or all day have a text")
	}
}

// Times without an offset are in Stockholm.
func TestBegins(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ quiet, at, begins string }{
		{"22:00-07:00", "2026-01-15T21:59:59+01:00", "2026-01-15T22:00:00+01:00"},
		{"22:00-07:00", "2026-01-15T22:00:00+01:00", "2026-01-16T22:00:00+01:00"}, // quiet already
		{"22:00-07:00", "2026-01-16T07:00:00+01:00", "2026-01-16T22:00:00+01:00"},
		{"22:00-07:00", "2026-03-28T21:00:00+00:00", "2026-03-29T22:00:00+02:00"},
		{"02:15-02:45", "2026-03-29T01:00:00+01:00", "2026-03-30T02:15:00+02:00"}, // that night has no 02:15
		{"01:30-02:30", "2026-10-25T00:00:00+02:00", "2026-10-25T01:30:00+02:00"},
		{"01:30-02:30", "2026-10-25T01:45:00+02:00", "2026-10-25T02:00:00+01:00"}, // put back into them
		{"02:45-04:00", "2026-10-25T02:50:00+02:00", "2026-10-25T02:45:00+01:00"}, // and out of them
	} {
		at, err := time.Parse(time.RFC3339, tc.at)
		if err != nil {
			t.Fatal(err)
		}
		begins, ok := mustQuiet(t, tc.quiet).Begins(tzclock.Stockholm, at)
		if !ok || begins.Format(time.RFC3339) != tc.begins {
			t.Errorf("%s: Begins(%s) = %v, %v, want %s", tc.quiet, tc.at, begins, ok, tc.begins)
		}
	}
	same := tzclock.Quiet{From: tzclock.TimeOfDay{Hour: 22}, To: tzclock.TimeOfDay{Hour: 22}}
	for _, never := range []tzclock.Quiet{{}, same} {
		if begins, ok := never.Begins(tzclock.Stockholm, time.Unix(0, 0)); ok || !begins.IsZero() {
			t.Errorf("%v: what is never quiet begins at %v", never, begins)
		}
	}
}
