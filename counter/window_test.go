package counter_test

import (
	"archive/zip"
	"fmt"
	"go/build"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/tzclock"
)

// span is a window, with the name of its row.
type span struct {
	name       string
	start, end time.Time
}

// windows are the stores of a zone, by their Window; they send nothing.
func windows(t *testing.T, zone tzclock.Zone) func(w counter.Window, at time.Time) span {
	t.Helper()
	var now time.Time
	var all []*counter.Store
	for w := counter.Day; w <= counter.Month; w++ {
		all = append(all, must(counter.New(struct{ record.API }{}, "limits", zone, &counter.Config{Now: func() time.Time { return now }, Window: w})))
	}
	return func(w counter.Window, at time.Time) span {
		now = at
		action, err := all[w].TakeItem(counter.Take{Key: chat, Event: recordtest.Event(t, at, "windows"), Weight: 1, Cap: 1})
		if err != nil {
			t.Fatal(err)
		}
		g := action.Committed()
		return span{action.Item.Update.Key["date"].(*types.AttributeValueMemberS).Value, g.StartsAt, g.ResetsAt}
	}
}

// Around changes of clocks and ends of years: an hour of Stockholm that comes twice is
// two windows, half an hour of Lord Howe and of Pyongyang is a window, and the week is
// that of ISO 8601.
func TestWindows(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		zone             string
		window           counter.Window
		at               string
		name, start, end string
	}{
		{"Europe/Stockholm", counter.Day, "2026-11-23T13:30:00Z", "2026-11-23", "2026-11-22T23:00:00Z", "2026-11-23T23:00:00Z"},
		{"Europe/Stockholm", counter.Hour, "2026-11-23T13:30:00.5Z", "2026-11-23T14+0100", "2026-11-23T13:00:00Z", "2026-11-23T14:00:00Z"},
		{"Europe/Stockholm", counter.Hour, "2026-03-29T00:59:59.999Z", "2026-03-29T01+0100", "2026-03-29T00:00:00Z", "2026-03-29T01:00:00Z"},
		{"Europe/Stockholm", counter.Hour, "2026-03-29T01:00:00Z", "2026-03-29T03+0200", "2026-03-29T01:00:00Z", "2026-03-29T02:00:00Z"},
		{"Europe/Stockholm", counter.Hour, "2026-10-25T00:59:59Z", "2026-10-25T02+0200", "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"},
		{"Europe/Stockholm", counter.Hour, "2026-10-25T01:00:00Z", "2026-10-25T02+0100", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z"},
		{"Asia/Kolkata", counter.Hour, "2026-11-23T13:30:00Z", "2026-11-23T19+0530", "2026-11-23T13:30:00Z", "2026-11-23T14:30:00Z"},
		{"Australia/Lord_Howe", counter.Hour, "2026-04-04T15:10:00Z", "2026-04-05T01+1030", "2026-04-04T15:00:00Z", "2026-04-04T15:30:00Z"},
		{"Australia/Lord_Howe", counter.Hour, "2026-04-04T14:50:00Z", "2026-04-05T01+1100", "2026-04-04T14:00:00Z", "2026-04-04T15:00:00Z"},
		{"Australia/Lord_Howe", counter.Hour, "2026-10-03T15:40:00Z", "2026-10-04T02+1100", "2026-10-03T15:30:00Z", "2026-10-03T16:00:00Z"},
		{"Asia/Pyongyang", counter.Hour, "2018-05-04T14:40:00Z", "2018-05-04T23+0830", "2018-05-04T14:30:00Z", "2018-05-04T15:00:00Z"},
		{"UTC", counter.Week, "2026-11-23T00:00:00Z", "2026-W48", "2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"},
		{"UTC", counter.Week, "2027-01-03T12:00:00Z", "2026-W53", "2026-12-28T00:00:00Z", "2027-01-04T00:00:00Z"},
		{"UTC", counter.Week, "2024-12-30T00:00:00Z", "2025-W01", "2024-12-30T00:00:00Z", "2025-01-06T00:00:00Z"},
		{"Europe/Stockholm", counter.Month, "2026-10-31T23:30:00Z", "2026-11", "2026-10-31T23:00:00Z", "2026-11-30T23:00:00Z"},
		{"Europe/Stockholm", counter.Month, "2026-02-28T12:00:00Z", "2026-02", "2026-01-31T23:00:00Z", "2026-02-28T23:00:00Z"},
	} {
		got := windows(t, tzclock.MustLoad(tc.zone))(tc.window, instant(t, tc.at))
		if got.name != tc.name || !got.start.Equal(instant(t, tc.start)) || !got.end.Equal(instant(t, tc.end)) {
			t.Errorf("%s, window %d, %s: %s from %s to %s, want %s from %s to %s",
				tc.zone, tc.window, tc.at, got.name, got.start.UTC(), got.end.UTC(), tc.name, tc.start, tc.end)
		}
	}
}

// zones are all those of the distribution's data, some 600 names; of names with the
// same data, one.
func zones(t *testing.T) (all []tzclock.Zone) {
	t.Helper()
	data, err := zip.OpenReader(filepath.Join(build.Default.GOROOT, "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	names, known := 0, map[string]bool{}
	for _, f := range data.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		r := must(f.Open())
		raw, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		if names++; known[string(raw)] {
			continue
		}
		known[string(raw)] = true
		all = append(all, must(tzclock.In(must(time.LoadLocationFromTZData(f.Name, raw)))))
	}
	if names < 590 || len(all) < 300 {
		t.Fatalf("only %d names and %d zones", names, len(all))
	}
	return all
}

// moments are instants around which windows may go wrong: each change of clocks until a
// year, found by looking at the clock every six hours, and the ends of more years.
func moments(zone tzclock.Zone, from, to, years int) (all []time.Time) {
	shown := func(t time.Time) int {
		_, offset := t.In(zone.Location()).Zone()
		return offset
	}
	for at, end := time.Date(from, 1, 2, 0, 0, 0, 0, time.UTC), time.Date(to, 12, 30, 0, 0, 0, 0, time.UTC); at.Before(end); at = at.Add(6 * time.Hour) {
		if next := at.Add(6 * time.Hour); shown(at) != shown(next) {
			for next.Sub(at) > time.Second {
				if middle := at.Add(next.Sub(at) / 2).Truncate(time.Second); shown(middle) == shown(at) {
					at = middle
				} else {
					next = middle
				}
			}
			all = append(all, next)
			at = next
		}
	}
	for year := from; year < years; year++ {
		all = append(all, time.Date(year+1, 1, 1, 0, 0, 0, 0, zone.Location()))
	}
	return all
}

// Every instant is in exactly one window, of every zone: an instant of a window gives
// that window, its end gives the next, which has another name, and the hour, the week
// and the month are those that a clock shows.
func TestEveryInstantHasOneWindow(t *testing.T) {
	t.Parallel()
	steps := []time.Duration{-25 * time.Hour, -10 * time.Minute, -time.Millisecond, 0, 20 * time.Minute, 2 * time.Hour}
	for _, zone := range zones(t) {
		of, seen := windows(t, zone), map[counter.Window]map[string]span{}
		for w := counter.Day; w <= counter.Month; w++ {
			seen[w] = map[string]span{}
		}
		for _, moment := range moments(zone, 2022, 2024, 2028) {
			for _, step := range steps {
				at := moment.Add(step)
				for w := counter.Day; w <= counter.Month; w++ {
					got := of(w, at)
					if known, ok := seen[w][got.name]; ok && (!known.start.Equal(got.start) || !known.end.Equal(got.end)) {
						t.Fatalf("%s, window %d: %s is from %s to %s, and at %s from %s to %s", zone, w, got.name, known.start, known.end, at, got.start, got.end)
					}
					if _, ok := seen[w][got.name]; !ok {
						if wrong := misplaced(of, w, at, got); wrong != "" {
							t.Fatalf("%s, window %d, %s: %s from %s to %s: %s", zone, w, at, got.name, got.start, got.end, wrong)
						}
					}
					seen[w][got.name] = got
				}
			}
		}
	}
}

// misplaced returns what is wrong with the window of an instant.
func misplaced(of func(counter.Window, time.Time) span, w counter.Window, at time.Time, got span) string {
	most := []time.Duration{counter.Day: 48 * time.Hour, counter.Hour: time.Hour, counter.Week: 9 * 24 * time.Hour, counter.Month: 33 * 24 * time.Hour}[w]
	next, before := of(w, got.end), of(w, got.start.Add(-time.Millisecond))
	shown := at.In(got.start.Location())
	year, week := shown.ISOWeek()
	name := map[counter.Window]string{
		counter.Day: shown.Format(time.DateOnly), counter.Hour: shown.Format("2006-01-02T15-0700"),
		counter.Week: fmt.Sprintf("%04d-W%02d", year, week), counter.Month: shown.Format("2006-01"),
	}[w]
	back := got.start.Add(-time.Millisecond).Before(at) && shown.Hour() == 23 // clocks went back over midnight: the package comment of tzclock
	switch {
	case at.Before(got.start), !at.Before(got.end), got.end.Sub(got.start) > most:
		return "it is not in it, or too long"
	case of(w, got.start) != got, of(w, got.end.Add(-time.Millisecond)) != got:
		return "its first or last instant is in another"
	case !next.start.Equal(got.end), !before.end.Equal(got.start):
		return fmt.Sprintf("the next begins at %s, and the one before ends at %s", next.start, before.end)
	case next.name == got.name, before.name == got.name:
		return "the next or the one before has its name"
	case name != got.name && !(back || w != counter.Hour && at.Sub(got.end) > -3*time.Hour):
		return "a clock shows " + name
	}
	return ""
}

// Stores of all Windows on one table keep a count each; Get reads its own, and Erase
// removes them all.
func TestWindowsShareATable(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	stores := []*counter.Store{e.Store}
	for w := counter.Hour; w <= counter.Month; w++ {
		stores = append(stores, must(counter.New(e.db.Client(), e.table, tzclock.Stockholm, &counter.Config{Now: func() time.Time { return e.now }, Window: w})))
	}
	later := map[int]time.Time{0: noon.Add(-24 * time.Hour), 1: noon.Add(-time.Hour), 2: noon.AddDate(0, 0, -7), 3: noon.AddDate(0, 0, -30)}
	for i, s := range stores {
		for n := range i + 1 {
			grant, err := s.Take(t.Context(), counter.Take{Key: chat, Event: message(t, noon, n), Weight: 1, Cap: 9})
			if err != nil || grant.Used != int64(n)+1 || grant.Outcome != event.Created {
				t.Errorf("window %d: %+v, %v", i, grant, err)
			}
		}
		if got, want := must(s.Get(t.Context(), chat, noon)).Used, int64(i+1); got != want {
			t.Errorf("window %d: %d used, want %d", i, got, want)
		}
		if got := must(s.Get(t.Context(), chat, later[i])).Used; got != 0 {
			t.Errorf("the window before, %d: %d used", i, got)
		}
	}
	if erased, err := stores[1].Erase(t.Context(), chat); erased != 4 || err != nil {
		t.Errorf("Erase: %d, %v", erased, err)
	}
}

// A month's first event is judged until Retention after the end of the month.
func TestMonthExpires(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{Window: counter.Month})
	first := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	e.now = first
	e.take(t, message(t, first, 1), 1)
	ends := time.Date(2026, 3, 31, 22, 0, 0, 0, time.UTC).Add(counter.Retention)
	e.now = ends.Add(-5*time.Minute - time.Millisecond)
	if grant := e.take(t, message(t, first, 1), 1); grant.Outcome != event.Duplicate {
		t.Errorf("before: %+v", grant)
	}
	e.now = ends.Add(-5 * time.Minute)
	if _, err := e.Take(t.Context(), counter.Take{Key: chat, Event: message(t, first, 1), Weight: 1, Cap: 1}); err == nil || !strings.Contains(err.Error(), "the row of 2026-03 may have expired") {
		t.Errorf("after: %v", err)
	}
}
