package tzclock_test

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/internal/check"
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
		if err != nil || got != want || got.String() != text || check.Date("a", "b", got) != nil {
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

func TestCheckDate(t *testing.T) {
	t.Parallel()
	wantBadInput(t, "zero", check.Date("counter", "Date", tzclock.Date{}), "counter", "Date", "must be given")
	for text, d := range map[string]tzclock.Date{ // what is not a day has a text, for error messages
		"2026-02-29": date(2026, 2, 29), "2026-13-01": date(2026, 13, 1), "2026-00-01": date(2026, 0, 1), "2026-01-00": date(2026, 1, 0),
		"0000-01-01": date(0, 1, 1), "10000-01-01": date(10000, 1, 1), "-001-01-01": date(-1, 1, 1),
		"2026-100-01": date(2026, 100, 1), "2026--1-01": date(2026, -1, 1), "2026-01-100": date(2026, 1, 100), "2026-01--1": date(2026, 1, -1),
	} {
		wantBadInput(t, text, check.Date("counter", "Date", d), "counter", "Date", text)
	}
	if none := (tzclock.Date{}).String(); none != "0000-00-00" {
		t.Errorf("no day is %s", none)
	}
}

func TestDateOrder(t *testing.T) {
	t.Parallel()
	sorted := []tzclock.Date{{}, date(1, 1, 1), date(999, 12, 31), date(2025, 12, 31), date(2026, 1, 1), date(2026, 1, 2), date(2026, 2, 1), date(9999, 1, 1)}
	for i, a := range sorted {
		for j, b := range sorted {
			want := cmp.Compare(i, j)
			if got := a.Before(b); got != (want < 0) {
				t.Errorf("%v.Before(%v) = %v", a, b, got)
			}
			if got := strings.Compare(a.String(), b.String()); got != want {
				t.Errorf("as text %v and %v compare as %d, want %d", a, b, got, want)
			}
		}
	}
}

// Law: what ParseDate accepts is what String gives, and nothing else.
func FuzzParseDate(f *testing.F) {
	for _, text := range []string{"2026-03-29", "2024-02-29", "2026-02-29", "0000-00-00", "9999-12-31", "", "2026-3-9"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := tzclock.ParseDate(text)
		if (err == nil) != (check.Date("a", "b", d) == nil) {
			t.Fatalf("ParseDate(%q) = %v, %v", text, d, err)
		}
		if err == nil && d.String() != text {
			t.Errorf("ParseDate(%q).String() = %q", text, d)
		}
	})
}

// What the package writes as text it reads back; a refused text changes nothing.
func TestText(t *testing.T) {
	t.Parallel()
	type doc struct {
		Zone, NoZone tzclock.Zone
		Day, NoDay   tzclock.Date
		Count        map[tzclock.Date]int
		Quiet, Never tzclock.Quiet
		At           tzclock.TimeOfDay
	}
	in := doc{
		Zone: tzclock.Stockholm, Day: date(2026, 3, 29), Count: map[tzclock.Date]int{date(2026, 3, 30): 2},
		Quiet: mustQuiet(t, "22:00-07:00"), At: tzclock.TimeOfDay{Hour: 9, Minute: 5},
	}
	const want = `{"Zone":"Europe/Stockholm","NoZone":"","Day":"2026-03-29","NoDay":"","Count":{"2026-03-30":2},` +
		`"Quiet":"22:00-07:00","Never":"","At":"09:05"}`
	text, err := json.Marshal(in)
	if err != nil || string(text) != want {
		t.Fatalf("got %s, %v, want %s", text, err, want)
	}
	out := doc{NoZone: tzclock.UTC, NoDay: in.Day, Never: in.Quiet}
	if err := json.Unmarshal(text, &out); err != nil || !reflect.DeepEqual(out, in) {
		t.Errorf("got %v, %v", out, err)
	}
	for _, text := range []string{
		`{"Zone":"Local"}`, `{"Zone":"+02:00"}`, `{"Day":"2026-02-29"}`,
		`{"Quiet":"never"}`, `{"Quiet":"22:00-22:00"}`, `{"At":""}`, `{"At":"24:00"}`,
	} {
		kept := in
		if err := json.Unmarshal([]byte(text), &kept); err == nil || !reflect.DeepEqual(kept, in) {
			t.Errorf("%s: %v, and it is %v", text, err, kept)
		}
	}
	own, err := tzclock.In(time.FixedZone("office", 3600))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []encoding.TextMarshaler{own, date(2026, 2, 29), tzclock.TimeOfDay{Hour: 24}, tzclock.Quiet{From: in.At, To: in.At}} {
		if text, err := v.MarshalText(); err == nil {
			t.Errorf("%#v has the text %s", v, text)
		}
	}
}
