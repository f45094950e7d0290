package proof_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/tzclock"
)

// takeAll takes for the nth event of a day from the shared row and from a row of its
// own.
func takeAll(day time.Time, n int) call {
	return call{"TakeAll" + strconv.Itoa(n), func(ctx context.Context, p process) string {
		s, ev := limits(p), at(day, n)
		of := func(key string) counter.TakeOf {
			return counter.TakeOf{Store: s, Take: counter.Take{Key: key, Event: ev, Weight: 2, Cap: mostUsed}}
		}
		grants, err := counter.TakeAll(ctx, of("chat"), of("own"+strconv.Itoa(n)))
		out := event.Duplicate
		for _, g := range grants {
			switch {
			case g.Refused():
				return "refused"
			case !g.OK:
				out = 0 // told unless another is refused
			case g.First() && out != 0:
				out = event.Created
			}
		}
		return answer(out, err, counter.ErrFull)
	}}
}

// each applies the rule of a row to every row.
func each(step func(was, is rows, now time.Time) error) func(was, is rows, now time.Time) error {
	return func(was, is rows, now time.Time) error {
		for key, r := range is {
			old := rows{}
			if was[key] != nil {
				old[key] = was[key]
			}
			if err := step(old, rows{key: r}, now); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
		}
		if len(is) < len(was) {
			return fmt.Errorf("of %d rows, %d are left", len(was), len(is))
		}
		return nil
	}
}

// together is the rule of TakeAll: an event that is in a row of its own is in the shared
// row, too. Only a single Take writes it to the shared row alone.
func together(singles bool) func(was, is rows, now time.Time) error {
	in := func(all rows, key string, ev event.Event) bool {
		for name, r := range all {
			if strings.HasPrefix(name, key+" ") && str(r, "e_"+ev.String()) != "" {
				return true
			}
		}
		return false
	}
	return func(was, is rows, now time.Time) error {
		for n := 1; n <= 2; n++ {
			ev, own := at(start.Truncate(24*time.Hour), n), "own"+strconv.Itoa(n)
			came := in(is, "chat", ev) && !in(was, "chat", ev)
			switch {
			case in(is, own, ev) && !in(is, "chat", ev), came && !in(is, own, ev) && !singles:
				return fmt.Errorf("a part of event %d is taken", n)
			}
		}
		return each(countStep(false))(was, is, now)
	}
}

// allTold finds in both rows what a caller of TakeAll was told.
func allTold(c call, told string, now rows) error {
	if !taken(told) || !strings.Contains(c.name, "TakeAll") {
		return nil
	}
	n := c.name[len(c.name)-1:]
	found := 0
	for key, r := range now {
		ev := at(start.Truncate(24*time.Hour), int(n[0]-'0')).String()
		if (strings.HasPrefix(key, "chat ") || strings.HasPrefix(key, "own"+n+" ")) && str(r, "e_"+ev) != "" {
			found++
		}
	}
	if found != 2 {
		return fmt.Errorf("%s was told %s, and %d rows have its event", c.name, told, found)
	}
	return nil
}

func TestTakeAll(t *testing.T) {
	day := start.Truncate(24 * time.Hour)
	s := &suite{
		table: limits(nobody).Table(), differs: []string{"updatedAt"}, serial: true,
		calls: [][]call{
			{takeAll(day, 1), takeAll(day, 2)},
			{takeAll(day, 1), takeAll(day, 1).again()},
		},
		step: together(false), told: allTold, moments: []time.Duration{5 * time.Minute},
		starts: []starting{
			{name: "absent"},
			{name: "one held", seeds: before(take(day, 1))},
			{name: "held", seeds: before(takeAll(day, 1))},
			{name: "refunded", seeds: before(takeAll(day, 1), refund(day, 1, false))},
			{name: "no room", seeds: before(take(day, 3))},
		},
	}
	t.Run("alone", s.prove)
	s.step = together(true)
	s.calls = [][]call{
		{takeAll(day, 1), take(day, 1)},
		{takeAll(day, 1), take(day, 2)},
		{takeAll(day, 1), refund(day, 1, true)},
		{takeAll(day, 1), takeAll(day, 2), refund(day, 1, true)},
	}
	t.Run("beside", s.prove)
}

// takeOfHour takes for the nth event of a day in its hour in Stockholm.
func takeOfHour(day time.Time, n int) call {
	return call{"Take" + strconv.Itoa(n), func(ctx context.Context, p process) string {
		s := must(counter.New(p.api, "limits", tzclock.Stockholm, &counter.Config{Now: p.now, Rand: p.rand, Window: counter.Hour}))
		g, err := s.Take(ctx, counter.Take{Key: "chat", Event: at(day, n), Weight: 2, Cap: mostUsed})
		if g.Refused() {
			return "refused"
		}
		return answer(g.Outcome, err)
	}}
}

// Clocks go back from 3 to 2 between the first event and the second, and the second and
// the third share an hour.
func TestTakeAtAChangeOfClocks(t *testing.T) {
	day := time.Date(2026, 10, 25, 0, 58, 59, 0, time.UTC)
	s := &suite{
		table: limits(nobody).Table(), differs: []string{"updatedAt"}, serial: true,
		calls: [][]call{
			{takeOfHour(day, 1), takeOfHour(day, 2)},
			{takeOfHour(day, 2), takeOfHour(day, 3)},
			{takeOfHour(day, 1), takeOfHour(day, 1).again()},
		},
		moments: []time.Duration{5 * time.Minute},
		starts:  []starting{{name: "absent", at: day.Add(10 * time.Minute)}, {name: "held", at: day.Add(10 * time.Minute), seeds: before(takeOfHour(day, 1))}},
		step: func(was, is rows, now time.Time) error {
			for key, r := range is {
				first := str(r, "e_"+at(day, 1).String()) != ""
				if hour := map[bool]string{true: "chat 2026-10-25T02+0200", false: "chat 2026-10-25T02+0100"}[first]; key != hour {
					return fmt.Errorf("the row %s, want %s", key, hour)
				}
			}
			return each(countStep(false))(was, is, now)
		},
	}
	s.prove(t)
}
