package tzclock

import "time"

// Date returns the local day of t: the day whose Start is not after t and whose
// End is after t. That day is the date that a clock shows at t, with one
// exception. If clocks went back from a new day into the old day, the time from
// midnight to that change belongs to the old day.
func (z Zone) Date(t time.Time) Date {
	t = t.In(z.Location())
	d := dateOf(t)
	if settled(t) { // no clock goes back out of the day: saves looking for its start
		return d
	}
	for t.Before(z.Start(d)) {
		d = d.AddDays(-1)
	}
	return d
}

// Start returns the first instant of a local day: from that instant on, no
// clock in the zone shows an earlier day. On most days that instant is the only
// midnight of the day. The package comment explains the other days.
func (z Zone) Start(d Date) time.Time {
	loc, midnight := z.Location(), d.utc()
	if before := midnight.Add(-mostOffset).In(loc); settled(before) {
		return clockShows(midnight, before) // as on most days
	}

	// The last moment at which a clock shows less than midnight is sought
	// backwards, one span of the same offset after the other, from a time that
	// is surely later.
	for t := midnight.Add(mostOffset).In(loc); ; {
		reached := clockShows(midnight, t)
		began := spanStart(t)
		switch {
		case !began.IsZero() && !began.Before(reached):
			t = began.Add(-1)
		case reached.After(t): // not in this span: the next one jumped over it
			return t.Add(1)
		default:
			return reached
		}
	}
}

// mostOffset is more than any clock differs from UTC, so that two clocks differ
// by less than twice as much.
const mostOffset = 24 * time.Hour

// settled reports whether no clocks change for twice mostOffset after t. It may
// be false although none change, because package time may report an end of the
// span that is too early: see spanStart.
func settled(t time.Time) bool {
	_, change := t.ZoneBounds()
	return change.IsZero() || change.Sub(t) > 2*mostOffset
}

// clockShows returns the instant at which a clock that is set as at t shows
// what a clock in UTC shows at the instant utc.
func clockShows(utc, t time.Time) time.Time {
	_, offset := t.Zone()
	return utc.Add(-time.Duration(offset) * time.Second).In(t.Location())
}

// spanStart returns an instant not after t since when the offset is what it is
// at t, and before which it may be another; zero if it has always been so.
//
// ZoneBounds alone is not enough. After the last change that a zone's file
// lists, it returns the start of that year, which may be too early. On 31
// December of a leap year it returns an end at which no clocks change; hence
// the "may be".
func spanStart(t time.Time) time.Time {
	start, _ := t.ZoneBounds()
	for !start.IsZero() {
		_, end := start.ZoneBounds()
		if !end.After(start) || end.After(t) {
			break
		}
		start = end
	}
	return start
}

// End returns the instant at which a local day is over: the Start of the next
// day. The instant itself is not part of d.
func (z Zone) End(d Date) time.Time { return z.Start(d.AddDays(1)) }

// At returns the first instant of a local day at which a clock in the zone shows
// c. If clocks jump over c, At returns the instant of the jump, at which they
// show a later time. If the day ends before a clock shows c, At returns the End
// of the day.
func (z Zone) At(d Date, c TimeOfDay) time.Time {
	end := z.End(d)
	for t := z.Start(d); t.Before(end); {
		if z.Clock(t).minutes() >= c.minutes() {
			return t
		}
		shown := t.Add(untilClockShows(c, t))
		change, changes := nextChange(t)
		if !changes || shown.Before(change) {
			return shown
		}
		t = change
	}

	return end
}

// Week returns the bounds of the local week of t: from the start of the week's
// Monday up to, but not including, the start of the next Monday.
func (z Zone) Week(t time.Time) (start, end time.Time) {
	monday := z.Date(t).Monday()
	return z.Start(monday), z.Start(monday.AddDays(7))
}

// Weekday returns the day of the week of the local day of t.
func (z Zone) Weekday(t time.Time) time.Weekday { return z.Date(t).Weekday() }

// Hour returns the hour, 0 to 23, that a clock shows at t.
func (z Zone) Hour(t time.Time) int { return t.In(z.Location()).Hour() }

// Clock returns the hour and minute that a clock shows at t.
func (z Zone) Clock(t time.Time) TimeOfDay {
	hour, minute, _ := t.In(z.Location()).Clock()
	return TimeOfDay{Hour: hour, Minute: minute}
}
