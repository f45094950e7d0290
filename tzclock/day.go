package tzclock

import "time"

// Date returns the local day of t: the one whose Start is not after t and
// whose End is. It is the date a clock shows, but for the minutes of a new day
// out of which clocks went back into the old one.
func (z Zone) Date(t time.Time) Date {
	d := dateOf(t.In(z.Location()))
	for t.Before(z.Start(d)) {
		d = d.AddDays(-1)
	}
	return d
}

// Start returns the first instant of a local day: the one from which on no
// clock in the zone shows an earlier day. That is midnight wherever there is
// one; the package comment says what it is on the other days.
func (z Zone) Start(d Date) time.Time {
	// The last moment at which a clock shows less than midnight is sought
	// backwards, through the spans of one offset, from where it is surely
	// later. Only the starts of the spans are used: package time may report
	// the end of the one around a leap year's 31 December before that day.
	midnight := d.utc()
	for t := midnight.Add(24 * time.Hour).In(z.Location()); ; {
		_, offset := t.Zone()
		reached := midnight.Add(-time.Duration(offset) * time.Second)
		span, _ := t.ZoneBounds() // zero if there was no span before it
		switch {
		case !span.IsZero() && !span.Before(reached):
			t = span.Add(-1)
		case reached.After(t): // not in this span: the next one jumped over it
			return t.Add(1)
		default:
			return reached.In(z.Location())
		}
	}
}

// End returns the instant at which a local day is over: the Start of the next
// day, which is not part of this one.
func (z Zone) End(d Date) time.Time { return z.Start(d.AddDays(1)) }

// Week returns the bounds of the local week of t: from the start of its Monday
// up to, and without, the start of the next.
func (z Zone) Week(t time.Time) (start, end time.Time) { return z.WeekOf(z.Date(t)) }

// WeekOf returns the bounds of the local week of d, as [Zone.Week] does.
func (z Zone) WeekOf(d Date) (start, end time.Time) {
	monday := d.Monday()
	return z.Start(monday), z.Start(monday.AddDays(7))
}

// Weekday returns the day of the week of the local day of t.
func (z Zone) Weekday(t time.Time) time.Weekday { return z.Date(t).Weekday() }

// Hour returns the hour, 0 to 23, that a clock shows at t.
func (z Zone) Hour(t time.Time) int { return t.In(z.Location()).Hour() }

// Clock returns the hour and minute that a clock shows at t.
func (z Zone) Clock(t time.Time) TimeOfDay {
	local := t.In(z.Location())
	return TimeOfDay{Hour: local.Hour(), Minute: local.Minute()}
}
