// Package planner reads all that is known of a person, and has a suggestion. It
// has no rows of its own: those that it reads belong to packages profile,
// promise, week and pattern, whose policies have the Query that it sends.
package planner

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/homeops/ddbpatterns/examples/homeops/profile"
	"github.com/homeops/ddbpatterns/examples/homeops/promise"
	"github.com/homeops/ddbpatterns/examples/homeops/week"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/tzclock"
)

// View is what is known of a person in a household.
type View struct {
	Profile   profile.Profile // at least the User
	Promises  []promise.Promise
	Summaries []week.Summary
	Balances  []week.Balance // of the whole household
	Habits    []pattern.Habit
}

// Planner reads Views.
type Planner struct {
	rows   *record.Rows[record.Item]
	weeks  *week.Store
	habits *pattern.Store
}

// New returns a Planner on the table of the profiles and promises.
func New(api record.API, table string, weeks *week.Store, habits *pattern.Store) (*Planner, error) {
	asItIs := func(row record.Item) (record.Item, error) { return row, nil }
	rows, err := record.New(api, table, record.Kind[record.Item]{Package: "planner", Type: "USER", Decode: asItIs}, nil)
	return &Planner{rows, weeks, habits}, err
}

// Read reads a View in one round trip: the person's rows of all types, the
// household's balances and the person's habits, side by side. Promises and
// summaries that cannot be read are left out.
//
// Price: 3 requests, 1.5 RCU. Each of the three costs 0.5 RCU for each 4 KB (some
// 12 promises and summaries, 16 balances or 4 habits) and 1 request for each MB.
func (p *Planner) Read(ctx context.Context, household, user string) (View, error) {
	var rows []record.Item
	var v View
	var g errgroup.Group
	g.Go(func() (err error) {
		rows, err = p.rows.All(ctx, record.Key("USER", user))
		return err
	})
	g.Go(func() (err error) { v.Balances, err = p.weeks.Balances(ctx, household); return err })
	g.Go(func() (err error) { v.Habits, err = p.habits.All(ctx, household, user); return err })
	if err := g.Wait(); err != nil {
		return View{}, err
	}
	for _, row := range rows {
		switch record.Read(row).Text("type") { // others are another program's
		case "USER":
			var err error
			if v.Profile, err = profile.Decode(row); err != nil {
				return View{}, fmt.Errorf("planner: Read: %w", err)
			}
		case "PROMISE":
			if one, err := promise.Decode(row); err == nil {
				v.Promises = append(v.Promises, one)
			}
		case "SUMMARY":
			if one, err := week.DecodeSummary(row); err == nil {
				v.Summaries = append(v.Summaries, one)
			}
		}
	}
	v.Profile.User = user
	return v, nil
}

// The least that makes a habit worth a suggestion, and the largest lead in the
// week's load at which somebody gets one.
const (
	leastTotal = 5
	leastDay   = 1.0 / 7
	leastHour  = 0.25
	mostAhead  = 3.0
)

// Suggestion is what somebody usually does now.
type Suggestion struct {
	View     View
	Activity string
	share    float64 // of the weekday, times that of the hour
}

// Suggest returns the best suggestion for a household's members at a time, the
// first of several equals; ok is false without one. It suggests nothing that
// anybody has done today or promised, and nothing to a member who carries over 3
// more this week than each of the others.
func Suggest(views []View, zone tzclock.Zone, at time.Time) (best Suggestion, ok bool) {
	day, hour, settled := zone.Date(at), zone.Hour(at), map[string]bool{}
	for _, v := range views {
		for _, h := range v.Habits {
			settled[h.Name] = settled[h.Name] || !zone.Date(h.LastSeen).Before(day)
		}
		for _, p := range v.Promises {
			settled[p.Activity] = settled[p.Activity] || p.Status == promise.Active
		}
	}
	for _, v := range views {
		for _, h := range v.Habits {
			idea := Suggestion{v, h.Name, h.DayShare(day.Weekday()) * h.HourShare(hour)}
			peak, _ := h.PeakHour() // only then, so that nothing is suggested twice a day
			if h.Total >= leastTotal && h.DayShare(day.Weekday()) >= leastDay && h.HourShare(hour) >= leastHour && peak == hour &&
				idea.share > best.share && !settled[h.Name] && !v.ahead(week.Period(day)) {
				best, ok = idea, true
			}
		}
	}
	return best, ok
}

// ahead reports whether the person carries more in a week than each of the others,
// by more than mostAhead.
func (v View) ahead(period string) (ahead bool) {
	for _, b := range v.Balances {
		if b.Period != period || b.A != v.Profile.User && b.B != v.Profile.User {
			continue
		}
		by := b.Delta()
		if b.B == v.Profile.User {
			by = -by
		}
		if by <= mostAhead {
			return false
		}
		ahead = true
	}
	return ahead
}
