package counter

import (
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Window is the period of the calendar, in the store's zone, that has a count of its
// own. Every instant is in exactly one window, and a window begins when the one
// before it ends.
type Window int

const (
	// Day is the local day, as [tzclock.Zone.Date] has it. It has 23 or 25 hours
	// when clocks change by an hour.
	Day Window = iota
	// Hour is an hour that a clock shows, at one offset from UTC. In the night in
	// which a clock shows an hour twice, these are two windows. If the clock changes
	// within an hour, a window ends and another begins. So a window may be shorter
	// than an hour, and is never longer.
	Hour
	// Week is the week of ISO 8601, from the start of its Monday.
	Week
	// Month is the month of the calendar.
	Month
)

// window is one of the windows, with the values that every request about it has.
type window struct {
	name       string // as in the row: 2026-11-23, 2026-11-23T14+0100, 2026-W48 or 2026-11
	start, end time.Time
	expiry     time.Time            // of the window's rows
	date, ttl  types.AttributeValue // the name and the expiry, as they are stored
}

// windowOf returns the window of an instant. The last window is kept, because most
// events are of the same window as the event before them.
func (s *Store) windowOf(at time.Time) *window {
	if last := s.last.Load(); last != nil && !at.Before(last.start) && at.Before(last.end) {
		return last
	}
	w := &window{}
	w.name, w.start, w.end = s.cfg.Window.of(s.zone, at)
	w.expiry = w.end.Add(s.cfg.Retention)
	w.date, w.ttl = item.S(w.name), item.N(w.expiry.Unix())
	s.last.Store(w)
	return w
}

// of returns the name of the window of an instant, its first instant, and that of the
// next window.
func (w Window) of(zone tzclock.Zone, at time.Time) (name string, start, end time.Time) {
	first := zone.Date(at)
	next := first
	switch w {
	case Hour:
		return hourOf(at.In(zone.Location()))
	case Week:
		first = first.Monday()
		year, week := first.ISOWeek()
		name, next = fmt.Sprintf("%04d-W%02d", year, week), first.AddDays(7)
	case Month:
		first.Day = 1
		name, next = first.String()[:len("2006-01")], first.AddDays(31)
		next.Day = 1
	default:
		name, next = first.String(), first.AddDays(1)
	}

	return name, zone.Start(first), zone.Start(next)
}

// hourOf returns the hour that a clock in the instant's location shows, as far as
// clocks do not change in it.
func hourOf(at time.Time) (name string, start, end time.Time) {
	const form = "2006-01-02T15-0700"
	_, minute, second := at.Clock()
	name = at.Format(form)
	start = at.Add(-time.Duration(60*minute+second)*time.Second - time.Duration(at.Nanosecond()))
	end = start.Add(time.Hour)
	from, to := at.ZoneBounds()
	if start.Format(form) != name {
		start = from
	}
	if end.Add(-time.Second).Format(form) != name {
		end = to
	}
	return name, start, end
}
