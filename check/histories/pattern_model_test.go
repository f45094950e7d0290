package histories_test

import (
	"fmt"
	"time"
)

// habit is a row of pattern.
type habit struct {
	stands bool
	days   [7]int64
	hours  [24]int64
	total  int64
	seen   int64 // last, in ms
	ring   ring
}

func (h habit) String() string {
	return fmt.Sprintf("total %d, days %v, hours %v, last seen %s", h.total, h.days, h.hours, time.UnixMilli(h.seen).UTC().Format(time.DateTime))
}

func (*patternStory) fresh() any { return habit{} }

func (*patternStory) apply(state any, m *move) (any, bool) {
	stood := state.(habit)
	switch in := m.in.(type) {
	case erased:
		return habit{}, stood.stands
	case olderBare:
		return habit{stands: true}, !stood.stands
	case olderCount:
		stood.stands = true
		stood.days[time.Monday]++
		stood.hours[9]++
		stood.total++
		return stood, stood.ring.size == 0 // it does not touch a row with a version
	case fetches:
		seen := stood
		seen.ring = ring{}
		return stood, m.out == any(seen)
	case observes:
		if m.row == nil {
			return stood, m.out == stood.ring.judge(in.event)
		}
		next := stood.with(in.event)
		written := num(m.row, "totalCount") == next.total
		return next, written && stood.ring.judge(in.event) == nil && (m.out == nil || m.out == created{})
	case observesAll:
		return in.writes(stood, m.row)
	case told:
		if m.out == any(tooOld{}) {
			return stood, stood.ring.tooOld(in.event)
		}
		return stood, stood.ring.has(in.event)
	}
	return stood, false
}

// with returns the row with one more event.
func (h habit) with(n int) habit {
	at := when(n)
	h.stands = true
	h.days[at.Weekday()]++
	h.hours[at.Hour()]++
	h.total++
	h.seen = max(h.seen, at.UnixMilli())
	h.ring = h.ring.plus(n)
	return h
}
