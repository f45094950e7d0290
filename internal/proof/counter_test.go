package proof_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/tzclock"
)

// mostUsed is the cap of every Take and Adjust.
const mostUsed = 3

func limits(p process) *counter.Store {
	return must(counter.New(p.api, "limits", tzclock.UTC, &counter.Config{Now: p.now, Rand: p.rand, MaxRecorded: 3}))
}

// counting makes a call on the nth event of a day.
func counting(name string, day time.Time, n int, do func(context.Context, *counter.Store, event.Event) (event.Outcome, bool, error)) call {
	return call{fmt.Sprintf("%s%d", name, n), func(ctx context.Context, p process) string {
		out, refused, err := do(ctx, limits(p), at(day, n))
		if refused {
			return "refused"
		}
		var weight *counter.WeightError
		if errors.As(err, &weight) {
			return "another weight"
		}
		return answer(out, err, counter.ErrFull, counter.ErrNotFound, counter.ErrBelowZero)
	}}
}

func take(day time.Time, n int) call {
	return counting("Take", day, n, func(ctx context.Context, s *counter.Store, ev event.Event) (event.Outcome, bool, error) {
		g, err := s.Take(ctx, counter.Take{Key: "chat", Event: ev, Weight: 2, Cap: mostUsed})
		return g.Outcome, g.Refused(), err
	})
}

func add(day time.Time, n int) call {
	return counting("Add", day, n, func(ctx context.Context, s *counter.Store, ev event.Event) (event.Outcome, bool, error) {
		total, err := s.Add(ctx, counter.Add{Key: "chat", Event: ev, Weight: 2})
		return total.Outcome, false, err
	})
}

func adjust(day time.Time, n int, to int64) call {
	return counting(fmt.Sprintf("AdjustTo%dOf", to), day, n, func(ctx context.Context, s *counter.Store, ev event.Event) (event.Outcome, bool, error) {
		g, err := s.Adjust(ctx, counter.Adjust{Key: "chat", Event: ev, From: 2, To: to, Cap: mostUsed})
		return g.Outcome, g.Refused(), err
	})
}

func refund(day time.Time, n int, tombstone bool) call {
	name := "Refund"
	if tombstone {
		name = "Tombstone"
	}
	return counting(name, day, n, func(ctx context.Context, s *counter.Store, ev event.Event) (event.Outcome, bool, error) {
		total, err := s.Refund(ctx, counter.Refund{Key: "chat", Event: ev, Weight: 2, Tombstone: tombstone})
		return total.Outcome, false, err
	})
}

// entries returns the entries of the only row, and the row.
func entries(all rows) (map[string]string, row) {
	found := map[string]string{}
	for _, r := range all {
		for name := range r {
			if ev, ok := strings.CutPrefix(name, "e_"); ok {
				found[ev], _, _ = strings.Cut(str(r, name), "~")
			}
		}
		return found, r
	}
	return found, nil
}

// countStep is the rule of a row: it is the sum of what its events hold, an event's
// weight changes once, and what was refunded stays so.
func countStep(adds bool) func(was, is rows, now time.Time) error {
	return func(was, is rows, now time.Time) error {
		old, _ := entries(was)
		held, r := entries(is)
		var sum int64
		for ev, entry := range held {
			if weight, err := strconv.ParseInt(strings.TrimPrefix(entry, "="), 10, 64); err == nil && !strings.HasPrefix(entry, "-") {
				sum += weight
			}
			stood, stands := old[ev]
			switch {
			case stands && stood != entry && strings.HasPrefix(stood, "-"):
				return fmt.Errorf("the refunded %s became %s", stood, entry)
			case stands && stood != entry && strings.HasPrefix(stood, "=") && !strings.HasPrefix(entry, "-"):
				return fmt.Errorf("the settled %s became %s", stood, entry)
			case stands && stood == "2" && entry == "=3" && num(r, "count") > mostUsed:
				return fmt.Errorf("a hold rose to 3, and the count to %d, above the cap", num(r, "count"))
			}
		}
		switch used := num(r, "count"); {
		case used != sum:
			return fmt.Errorf("the count is %d, and the events hold %d: %v", used, sum, held)
		case used > mostUsed && !adds:
			return fmt.Errorf("the count is %d, above the cap", used)
		case num(r, "recorded") != int64(len(held)), len(held) > 3:
			return fmt.Errorf("recorded is %d, with the events %v", num(r, "recorded"), held)
		case r == nil && len(was) > 0 && !expired(was, now):
			return errors.New("the row went")
		}
		return nil
	}
}

func expired(all rows, now time.Time) bool {
	for _, r := range all {
		if ttl := num(r, "ttl"); ttl == 0 || ttl > now.Unix() {
			return false
		}
	}
	return true
}

// countTold finds in the row what a caller was told.
func countTold(day time.Time) func(c call, told string, now rows) error {
	return func(c call, told string, now rows) error {
		held, r := entries(now)
		if told == "another weight" && (strings.HasPrefix(c.name, "Take") || strings.HasPrefix(c.name, "Add")) {
			return fmt.Errorf("%s was told that its event has another weight", c.name)
		}
		if !taken(told) || r == nil {
			return nil
		}
		entry, stands := held[at(day, int(c.name[len(c.name)-1]-'0')).String()]
		gone := strings.HasPrefix(entry, "-")
		switch {
		case !stands,
			(strings.HasPrefix(c.name, "Refund") || strings.HasPrefix(c.name, "Tombstone")) && !gone,
			strings.HasPrefix(c.name, "AdjustTo") && !gone && entry != "="+c.name[len("AdjustTo"):len("AdjustTo")+1]:
			return fmt.Errorf("%s was told %s, and the row has %v", c.name, told, held)
		}
		return nil
	}
}

func counters(day time.Time, adds bool, pairs [][]call) *suite {
	return &suite{
		table: limits(nobody).Table(), differs: []string{"updatedAt"}, serial: true, calls: pairs,
		step: countStep(adds), told: countTold(day), moments: []time.Duration{5 * time.Minute},
	}
}

func TestCounter(t *testing.T) {
	day := start.Truncate(24 * time.Hour)
	starts := []starting{
		{name: "absent"},
		{name: "held", seeds: before(take(day, 1))},
		{name: "settled", seeds: before(take(day, 1), adjust(day, 1, 1))},
		{name: "refunded", seeds: before(take(day, 1), refund(day, 1, false))},
		{name: "tombstone", seeds: before(refund(day, 1, true))},
		{name: "full", seeds: before(refund(day, 4, true), refund(day, 5, true), refund(day, 6, true))},
	}
	s := counters(day, false, [][]call{
		{take(day, 1), take(day, 2)},
		{take(day, 1), take(day, 1).again()},
		{take(day, 1), refund(day, 1, false)},
		{take(day, 1), refund(day, 1, true)},
		{take(day, 2), adjust(day, 1, 3)},
		{adjust(day, 1, 1), refund(day, 1, false)},
		{adjust(day, 1, 3), adjust(day, 1, 1)},
		{take(day, 1), take(day, 2), refund(day, 1, true)},
		{take(day, 1), adjust(day, 1, 1), refund(day, 1, false)},
	})
	s.starts = starts
	t.Run("cap", s.prove)
	s = counters(day, true, [][]call{{add(day, 1), take(day, 2)}, {add(day, 1), refund(day, 1, true)}, {add(day, 1), add(day, 2)}, {add(day, 2), adjust(day, 1, 3)}, {add(day, 1), add(day, 2), take(day, 3)}})
	s.starts = starts
	t.Run("add", s.prove)

	// The row expires within the schedule.
	old := day.AddDate(0, 0, -9)
	s = counters(old, false, [][]call{{take(old, 1), take(old, 2)}, {take(old, 1), refund(old, 1, true)}})
	s.starts = []starting{{name: "expires", at: day.AddDate(0, 0, -1).Add(-6 * time.Minute)}}
	s.serial = false
	t.Run("old", s.prove)
}
