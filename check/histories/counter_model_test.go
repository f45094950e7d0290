package histories_test

import (
	"fmt"
	"slices"
	"time"
)

// countedDay is a row of the counter, of a day or another window.
type countedDay struct {
	stands   bool
	bare     bool // without a TTL, by an older system
	used     int64
	recorded int64
	events   [mostEvents]counted
}

// counted is what a row knows about an event.
type counted struct {
	weight int64
	state  string // "" is held, "=" settled, "-" refunded
	nonce  string
}

const mostEvents = 10

// These are the calls of the counter. An event is its number in the history.
type (
	takes struct {
		event, weight, cap int64
		tx                 bool // in a transaction
	}
	adds    struct{ event, weight int64 }
	adjusts struct {
		event, from, to, cap int64
		tx                   bool // in a transaction
	}
	refunds struct {
		event, weight int64
		first, tx     bool // first: it may come before its Take; tx: in a transaction
	}
	unkeyed   struct{ weight int64 }
	counts    struct{}
	lowers    struct{ by int64 } // another system does
	erasesAll struct{}           // a call, of all windows
	erasure   struct{}           // what it does to one
)

func (t takes) String() string {
	return fmt.Sprintf("Take%s(event %d, %d of %d)", map[bool]string{true: "Item"}[t.tx], t.event, t.weight, t.cap)
}
func (a adds) String() string { return fmt.Sprintf("Add(event %d, %d)", a.event, a.weight) }
func (a adjusts) String() string {
	return fmt.Sprintf("Adjust%s(event %d, %d to %d of %d)", map[bool]string{true: "Item"}[a.tx], a.event, a.from, a.to, a.cap)
}

func (r refunds) String() string {
	return fmt.Sprintf("Refund%s(event %d, %d)", map[bool]string{true: "Item"}[r.tx]+map[bool]string{true: " or tombstone"}[r.first], r.event, r.weight)
}
func (u unkeyed) String() string { return fmt.Sprintf("AddUnkeyed(%d)", u.weight) }
func (counts) String() string    { return "Get" }
func (erasesAll) String() string { return "Erase" }
func (erasure) String() string   { return "a request of Erase deletes the row" }
func (l lowers) String() string  { return fmt.Sprintf("another system takes %d off the count", l.by) }

// These are the counter's answers.
type (
	// tally is a Grant or a Total.
	tally struct {
		ok, refused, created, duplicate, refunded bool
		used                                      int64
	}
	rowsErased  int
	committed   struct{} // the transaction was
	countOf     struct{ used, recorded int64 }
	tooOld      struct{}
	superseded  struct{}
	full        struct{}
	notFound    struct{}
	belowZero   struct{}
	otherWeight struct{ recorded int64 }
)

func (t tally) String() string {
	text := map[bool]string{true: "ok"}[t.ok] + map[bool]string{true: "refused"}[t.refused]
	for _, flag := range []struct {
		set  bool
		name string
	}{{t.created, "created"}, {t.duplicate, "duplicate"}, {t.refunded, "refunded"}} {
		if flag.set {
			text += " " + flag.name
		}
	}
	return fmt.Sprintf("[%s] used %d", text, t.used)
}

func (c countOf) String() string     { return fmt.Sprintf("used %d, recorded %d", c.used, c.recorded) }
func (committed) String() string     { return "committed" }
func (tooOld) String() string        { return "too old" }
func (superseded) String() string    { return "superseded" }
func (full) String() string          { return "full" }
func (notFound) String() string      { return "not found" }
func (belowZero) String() string     { return "below zero" }
func (o otherWeight) String() string { return fmt.Sprintf("recorded with weight %d", o.recorded) }

func (*counterStory) fresh() any { return countedDay{} }

func (s *counterStory) apply(state any, m *move) (any, bool) {
	stood := state.(countedDay)
	switch in := m.in.(type) {
	case sweep:
		return countedDay{}, stood.stands && in.at >= s.expiry(m.key).Unix()
	case erasure:
		return countedDay{}, stood.stands
	case erasesAll: // see the verdict
		return stood, true
	case olderDay:
		return countedDay{stands: true, bare: true, used: in.used}, !stood.stands
	case backfills:
		return s.backfilled(stood, m)
	case lowers:
		stood.used -= in.by
		return stood, stood.stands
	case counts:
		out := countOf{stood.used, stood.recorded}
		return stood, slices.ContainsFunc(m.clocks, func(now time.Time) bool {
			return m.out == out || m.out == countOf{} && !now.Before(s.expiry(m.key))
		})
	}
	young := slices.ContainsFunc(m.clocks, func(now time.Time) bool {
		return now.Before(s.expiry(m.key).Add(-counterSkew))
	})
	if !young {
		return stood, m.row == nil && m.out == tooOld{}
	}
	if m.out == (committed{}) && m.row == nil { // answered once more, by its token
		return stood, m.earlier != nil
	}
	if m.row == nil {
		return stood, m.out == s.refusal(stood, m)
	}
	next, out := s.write(stood, m)
	return next, out != nil && (m.out == nil || m.out == out)
}

// write returns the row after a write, and its answer, which is nil if this row
// should have refused the write.
func (s *counterStory) write(stood countedDay, m *move) (countedDay, any) {
	next := stood
	next.stands, next.bare = true, false
	switch in := m.in.(type) {
	case takes:
		if in.weight > in.cap || stood.used+in.weight > in.cap || !s.record(&next, in.event, in.weight, m) {
			return stood, nil
		}
		if in.tx {
			return next, committed{}
		}
		return next, tally{ok: true, created: true, used: next.used}
	case adjusts:
		known := &next.events[in.event]
		more := in.to - in.from
		if known.weight != in.from || known.state != "" || noRoom(stood, in) || more < 0 && stood.used < -more {
			return stood, nil
		}
		*known = counted{weight: in.to, state: "=", nonce: s.nonce(m.row, in.event)}
		next.used += more
		if in.tx {
			return next, committed{}
		}
		return next, tally{ok: true, created: true, used: next.used}
	case adds:
		if !s.record(&next, in.event, in.weight, m) {
			return stood, nil
		}
		return next, tally{created: true, used: next.used}
	case refunds:
		if !s.refund(&next, in, m) {
			return stood, nil
		}
		if in.tx {
			return next, committed{}
		}
		return next, tally{created: true, refunded: true, used: next.used}
	case unkeyed:
		next.used += in.weight
		return next, tally{created: true, used: next.used}
	}
	return stood, nil
}

// record counts an event, and is false if that is impossible.
func (s *counterStory) record(day *countedDay, event, weight int64, m *move) bool {
	if day.events[event].weight != 0 || day.recorded >= s.most {
		return false
	}
	day.events[event] = counted{weight: weight, nonce: s.nonce(m.row, event)}
	day.used += weight
	day.recorded++
	return true
}

// refund gives an event back, or marks it as given back before it came. It is
// false if neither is possible.
func (s *counterStory) refund(day *countedDay, in refunds, m *move) bool {
	known := &day.events[in.event]
	switch {
	case known.weight == 0 && in.first && day.recorded < s.most:
		day.recorded++
	case known.weight == in.weight && known.state != "-" && day.used >= in.weight:
		day.used -= in.weight
	default:
		return false
	}
	*known = counted{weight: in.weight, state: "-", nonce: s.nonce(m.row, in.event)}
	return true
}

// refusal is the answer of a row that a call does not change.
func (s *counterStory) refusal(stood countedDay, m *move) any {
	switch in := m.in.(type) {
	case takes:
		known := stood.events[in.event]
		switch {
		case known.weight != 0 && known.state == "" && known.weight != in.weight:
			return otherWeight{known.weight}
		case known.weight != 0:
			return s.held(known, in.event, stood, m)
		case in.weight > in.cap || stood.used+in.weight > in.cap:
			return tally{refused: true, used: stood.used}
		case stood.recorded >= s.most:
			return full{}
		}
	case adds:
		known := stood.events[in.event]
		switch {
		case known.weight != 0 && known.state == "" && known.weight != in.weight:
			return otherWeight{known.weight}
		case known.weight != 0:
			return s.known(known, in.event, stood, m)
		case stood.recorded >= s.most:
			return full{}
		}
	case adjusts:
		return s.unsettled(stood, in, m)
	case refunds:
		known := stood.events[in.event]
		switch {
		case known.weight == 0 && !in.first:
			return notFound{}
		case known.weight == 0 && stood.recorded >= s.most:
			return full{}
		case known.weight == 0:
			return nil
		case known.weight != in.weight:
			return otherWeight{known.weight}
		case known.state == "-":
			return s.known(known, in.event, stood, m)
		case stood.used < in.weight:
			return belowZero{}
		}
	}
	return nil // it changes the row
}

// unsettled is the answer to a call that settles a hold and changes nothing.
func (s *counterStory) unsettled(stood countedDay, in adjusts, m *move) any {
	known, more := stood.events[in.event], in.to-in.from
	switch {
	case known.weight == 0:
		return notFound{}
	case known.state == "=" && known.weight != in.to, known.state == "" && known.weight != in.from:
		return otherWeight{known.weight}
	case known.state != "":
		return s.held(known, in.event, stood, m)
	case noRoom(stood, in):
		return tally{refused: true, used: stood.used}
	case more < 0 && stood.used < -more:
		return belowZero{}
	}
	return nil
}

// noRoom reports whether the cap refuses a settlement.
func noRoom(stood countedDay, in adjusts) bool {
	more := in.to - in.from
	return more > 0 && (more > in.cap || stood.used+more > in.cap)
}

// known is the answer for an event that the row has.
func (s *counterStory) known(known counted, event int64, stood countedDay, m *move) tally {
	own := m.earlier != nil && s.nonce(m.earlier, event) == known.nonce
	return tally{created: own, duplicate: !own, refunded: known.state == "-", used: stood.used}
}

// held is the same for a call that asks whether the event is held.
func (s *counterStory) held(known counted, event int64, stood countedDay, m *move) any {
	t := s.known(known, event, stood, m)
	t.ok, t.refused = !t.refunded, t.refunded
	return t
}

const counterSkew = 10 * time.Minute

// expiry is when the row of a key and window is forgotten.
func (s *counterStory) expiry(key string) time.Time {
	return s.windows[key].end.Add(s.retention)
}
