package histories_test

import (
	"fmt"
	"slices"
)

const (
	mostExact = 12
	oldExact  = 4 // of them expire during the history
)

// balance is a row of an exact Kind, and what the rows of its events say.
type balance struct {
	stands  bool
	version int64
	figures
	by [mostExact]string // who counted the event; it stays when the event's row expires
}

type figures struct{ sum, n, last int64 }

func (f figures) String() string { return fmt.Sprintf("%d of %d events", f.sum, f.n) }

func balanceOf(r row) balance {
	b := balance{stands: len(r) > 0, version: num(r, "version"), figures: figures{num(r, "sum"), num(r, "n"), num(r, "last")}}
	for n := range b.by {
		b.by[n] = str(r, exactEvent(n).String())
	}
	return b
}

// amountOf returns what an event adds. Every third takes away.
func amountOf(n int) int64 {
	if n%3 == 2 {
		return -int64(20 + n)
	}
	return int64(10 + n)
}

// These are the calls that count in an exact row.
type (
	counts1 struct {
		event           int
		next, floor, tx bool
	}
	countsAll struct {
		events []int
		next   bool
	}
	belowFloor struct{ stands int64 }
)

func (c counts1) String() string {
	return fmt.Sprintf("Apply%s(event %d%s%s)", map[bool]string{true: "Item"}[c.tx], c.event, map[bool]string{true: ", Next"}[c.next], map[bool]string{true: ", floor"}[c.floor])
}

func (c countsAll) String() string {
	return fmt.Sprintf("ApplyAll(events %v%s)", c.events, map[bool]string{true: ", Next"}[c.next])
}
func (b belowFloor) String() string { return fmt.Sprintf("below the floor, %d stands", b.stands) }

func (*exactStory) fresh() any { return balance{} }

func (*exactStory) apply(state any, m *move) (any, bool) {
	stood := state.(balance)
	switch in := m.in.(type) {
	case erased:
		return balance{}, stood.stands
	case fetches:
		return stood, m.out == any(stood.figures)
	case counts1:
		if m.row != nil {
			next, ok := stood.with(m, []int{in.event}, in.next)
			ok = ok && (!in.floor || next.sum >= 0)
			return next, ok && (m.out == nil || m.out == created{} || m.out == committed{})
		}
		return stood, stood.answers(in, m)
	case countsAll: // some of the events; the others are answered
		if m.row == nil {
			return stood, false
		}
		var counted []int
		after := balanceOf(m.row)
		for _, n := range in.events {
			if stood.by[n] == "" && after.by[n] != "" {
				counted = append(counted, n)
			}
		}
		slices.SortFunc(counted, func(a, b int) int { return exactEvent(a).Compare(exactEvent(b)) })
		next, ok := stood.with(m, counted, in.next)
		return next, ok && len(counted) > 0
	case told: // by ApplyAll
		if m.out == (tooOld{}) {
			return stood, in.event < oldExact
		}
		return stood, stood.by[in.event] != ""
	}
	return stood, false
}

// with returns the row after a write that counts the events, and whether it is what
// the write left. The rows of old events may have expired by then.
func (b balance) with(m *move, events []int, computed bool) (balance, bool) {
	after := balanceOf(m.row)
	next, ok := b, true
	for _, n := range events {
		ok = ok && b.by[n] == "" && after.by[n] != "" && after.by[n] == after.by[events[0]]
		next.by[n] = after.by[n]
		next.sum += amountOf(n)
		next.n++
		if computed {
			next.last = int64(n)
		}
	}
	for n, by := range next.by {
		expired := n < oldExact && !m.at.Before(exactEvent(n).Time().Add(exactRetention))
		ok = ok && (after.by[n] == by || after.by[n] == "" && expired)
	}
	ok = ok && after.figures == next.figures && (!b.stands && after.version > 0 || after.version == b.version+1)
	next.stands, next.version = true, after.version
	return next, ok
}

// answers reports whether the row answers so to a call that does not change it.
func (b balance) answers(in counts1, m *move) bool {
	edge := exactEvent(in.event).Time().Add(exactRetention - exactSkew)
	if m.out == (tooOld{}) {
		for _, now := range m.clocks {
			if !now.Before(edge) {
				return true
			}
		}
		return false
	}
	by := b.by[in.event]
	own := by != "" && m.earlier != nil && balanceOf(m.earlier).by[in.event] == by
	switch out := m.out.(type) {
	case created:
		return own
	case committed: // answered once more, by its token
		return m.earlier != nil
	case duplicate:
		return by != "" && !own
	case belowFloor:
		return by == "" && in.floor && out.stands == b.sum && b.sum+amountOf(in.event) < 0
	}
	return false
}
