package histories_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/tzclock"
)

// window is a period of the calendar, which has a count of its own.
type window struct {
	name       string
	start, end time.Time
	near       bool // its end is past, or not far ahead
}

// places are where and when histories of the counter begin: at noon, and soon after a
// change of clocks.
var places = []struct {
	zone tzclock.Zone
	now  time.Time
}{
	{tzclock.UTC, epoch},
	{tzclock.Stockholm, time.Date(2026, 10, 25, 1, 10, 0, 0, time.UTC)},                      // it is two o'clock once more
	{tzclock.MustLoad("America/New_York"), time.Date(2026, 3, 8, 7, 10, 0, 0, time.UTC)},     // there was no two o'clock
	{tzclock.MustLoad("Australia/Lord_Howe"), time.Date(2026, 4, 4, 15, 20, 0, 0, time.UTC)}, // half an hour came once more
}

// windowOf finds the window of an instant by looking at clocks, every half hour.
func windowOf(kind counter.Window, zone tzclock.Zone, at time.Time) window {
	const step = 30 * time.Minute
	name := func(at time.Time) string {
		at = at.In(zone.Location())
		switch kind {
		case counter.Hour:
			return at.Format("2006-01-02T15-0700")
		case counter.Week:
			year, week := at.ISOWeek()
			return fmt.Sprintf("%04d-W%02d", year, week)
		case counter.Month:
			return at.Format("2006-01")
		}
		return at.Format(time.DateOnly)
	}
	of := window{name: name(at), start: at.Truncate(step), end: at.Truncate(step).Add(step)}
	for name(of.start.Add(-1)) == of.name {
		of.start = of.start.Add(-step)
	}
	for name(of.end) == of.name {
		of.end = of.end.Add(step)
	}
	return of
}

func (s *counterStory) grantOf(key string) func(counter.Grant, error) any {
	return func(g counter.Grant, err error) any {
		if left := max(0, g.Cap-max(0, g.Used)); g.Remaining != left || g.Refused() && (g.OK || err != nil) {
			return fmt.Errorf("%+v, %w: wrong in itself", g, err) // a model never accepts that
		}
		out := s.total(key)(g.Total, err)
		if t, ok := out.(tally); ok {
			t.ok, t.refused = g.OK, g.Refused()
			return t
		}
		return out
	}
}

func (s *counterStory) total(key string) func(counter.Total, error) any {
	return func(t counter.Total, err error) any {
		if of := s.windows[key]; !t.ResetsAt.IsZero() && !(t.StartsAt.Equal(of.start) && t.ResetsAt.Equal(of.end)) {
			return fmt.Errorf("%+v, %w: not the window %+v", t, err, of) // a model never accepts that
		}
		return said(tally{created: t.Outcome == event.Created, duplicate: t.Outcome == event.Duplicate, refunded: t.Refunded, used: t.Used}, err)
	}
}

// said returns the answer, or the answer in the error, or nil.
func said(out any, err error) any {
	var weight *counter.WeightError
	switch {
	case err == nil:
		return out
	case errors.Is(err, event.ErrTooOld):
		return tooOld{}
	case errors.Is(err, counter.ErrFull):
		return full{}
	case errors.Is(err, counter.ErrNotFound):
		return notFound{}
	case errors.Is(err, counter.ErrBelowZero):
		return belowZero{}
	case errors.As(err, &weight):
		return otherWeight{weight.Recorded}
	case strings.Contains(err.Error(), "no known reason"): // a refusal that the package does not understand
		return err // a model never accepts that
	}
	return nil
}
