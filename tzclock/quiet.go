package tzclock

import (
	"fmt"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/event"
)

// TimeOfDay is what a clock shows, from 00:00 to 23:59. The zero TimeOfDay is
// midnight.
type TimeOfDay struct {
	Hour   int
	Minute int
}

// parseTimeOfDay reads HH:MM and refuses any other form. The end of the day is
// written 00:00.
func parseTimeOfDay(text string) (TimeOfDay, error) {
	if t, err := time.Parse("15:04", text); err == nil && len(text) == len("15:04") {
		return TimeOfDay{Hour: t.Hour(), Minute: t.Minute()}, nil
	}
	return TimeOfDay{}, event.BadInput("tzclock", "time of day", fmt.Sprintf("must be HH:MM from 00:00 to 23:59, is %.32q", text))
}

// String returns HH:MM.
func (c TimeOfDay) String() string { return fmt.Sprintf("%02d:%02d", c.Hour, c.Minute) }

func (c TimeOfDay) valid() bool {
	return 0 <= c.Hour && c.Hour < 24 && 0 <= c.Minute && c.Minute < 60
}

// MarshalText returns HH:MM.
func (c TimeOfDay) MarshalText() ([]byte, error) {
	if !c.valid() {
		return nil, event.BadInput("tzclock", "time of day", "must be from 00:00 to 23:59, is "+c.String())
	}
	return []byte(c.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (c *TimeOfDay) UnmarshalText(text []byte) error {
	parsed, err := parseTimeOfDay(string(text))
	if err != nil {
		return err
	}
	*c = parsed
	return nil
}

func (c TimeOfDay) minutes() int { return 60*c.Hour + c.Minute }

// Quiet is a part of every day, from From up to, but not including, To. If To
// is earlier than From, the quiet hours run to midnight or past it, such as
// 22:00 to 07:00. If From and To are the same, no time is quiet. Of these only
// the zero Quiet is valid: [Quiet.MarshalText] refuses a Quiet from 08:00 to 08:00,
// because it could also mean all day.
type Quiet struct {
	From TimeOfDay
	To   TimeOfDay
}

// ParseQuiet reads quiet hours in the form "22:00-07:00".
func ParseQuiet(text string) (Quiet, error) {
	from, to, ok := strings.Cut(text, "-")
	if !ok {
		return Quiet{}, event.BadInput("tzclock", "quiet hours", fmt.Sprintf("must be HH:MM-HH:MM, is %.32q", text))
	}

	start, err := parseTimeOfDay(from)
	if err != nil {
		return Quiet{}, err
	}
	end, err := parseTimeOfDay(to)
	if err != nil {
		return Quiet{}, err
	}
	if start == end {
		return Quiet{}, event.BadInput("tzclock", "quiet hours", sameTimes)
	}

	return Quiet{From: start, To: end}, nil
}

const sameTimes = "must not start and end at the same time, which might mean all day or never"

// String returns the form that [ParseQuiet] reads, or "never" for the zero
// Quiet.
func (q Quiet) String() string {
	if q == (Quiet{}) {
		return "never"
	}
	return q.From.String() + "-" + q.To.String()
}

// MarshalText returns the form that [ParseQuiet] reads, or an empty text for
// the zero Quiet.
func (q Quiet) MarshalText() ([]byte, error) {
	switch {
	case q == (Quiet{}):
		return []byte{}, nil
	case !q.From.valid() || !q.To.valid():
		return nil, event.BadInput("tzclock", "quiet hours", "must have times from 00:00 to 23:59, is "+q.String())
	case q.From == q.To:
		return nil, event.BadInput("tzclock", "quiet hours", sameTimes)
	}
	return []byte(q.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (q *Quiet) UnmarshalText(text []byte) error { return unmarshal(q, text, ParseQuiet) }

// Contains reports whether the time that a clock in the zone shows at t is
// quiet.
func (q Quiet) Contains(z Zone, t time.Time) bool {
	now, from, to := z.Clock(t).minutes(), q.From.minutes(), q.To.minutes()
	if from <= to {
		return from <= now && now < to
	}
	return from <= now || now < to
}

// Ends returns the first instant after t that is not quiet, or false if t is
// not quiet. If clocks are later put back into the quiet hours, the quiet hours
// end a second time: Ends returns the first end.
func (q Quiet) Ends(z Zone, t time.Time) (time.Time, bool) {
	if !q.Contains(z, t) {
		return time.Time{}, false
	}
	return q.turns(z, t, q.To), true
}

// Begins returns the first instant after t at which quiet hours begin, or false
// if they never begin. If t is quiet, Begins returns the instant at which the
// next quiet hours begin; [Quiet.Ends] returns the end of the present ones.
func (q Quiet) Begins(z Zone, t time.Time) (time.Time, bool) {
	if q.From == q.To {
		return time.Time{}, false
	}
	if end, quiet := q.Ends(z, t); quiet {
		t = end
	}
	return q.turns(z, t, q.From), true
}

// turns returns the first instant after t at which it is quiet if it is not
// quiet at t, and the reverse: when a clock shows the time at which it turns, or
// is changed to one on the other side of it.
func (q Quiet) turns(z Zone, t time.Time, at TimeOfDay) time.Time {
	before := q.Contains(z, t)
	for t = t.In(z.Location()); ; {
		turn := t.Add(untilClockShows(at, t))
		change, changes := nextChange(t)
		if !changes || change.After(turn) {
			return turn
		}
		if q.Contains(z, change) != before {
			return change
		}
		t = change
	}
}

// nextChange returns when clocks change after t, and false if they do not.
//
// Package time may report the end of the span around a leap year's 31 December
// before that day; no clocks change then.
func nextChange(t time.Time) (time.Time, bool) {
	_, change := t.ZoneBounds()
	return change, change.After(t)
}

// untilClockShows returns how long it takes a clock that shows t, and is not
// changed, to get to c.
func untilClockShows(c TimeOfDay, t time.Time) time.Duration {
	const day = 24 * time.Hour
	hour, minute, second := t.Clock()
	now := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute +
		time.Duration(second)*time.Second + time.Duration(t.Nanosecond())
	return (time.Duration(c.minutes())*time.Minute - now + day) % day
}
