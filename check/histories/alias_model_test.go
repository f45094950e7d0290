package histories_test

import (
	"fmt"
	"slices"
)

// spellings are those of each scope's one phrase: its normal form, and two older
// ones in the order of their sort keys.
var spellings = [3]string{"diska", "DISKA", "Diska"}

// entry is the row of a phrase under one spelling. Events are numbers from 1 on.
type entry struct {
	stands          bool
	name            string // "" when it was forgotten
	source, teacher string
	namedBy         int
	confirmedBy     int // of format 1
	confirmations   int64
	counted         int // of confirmers
	confirmers      [8]int
}

func (e entry) named() bool { return e.name != "" }

func (e entry) String() string {
	return fmt.Sprintf("%q by %d, %s %s, confirmed %d times by %v and %d", e.name, e.namedBy, e.source, e.teacher, e.confirmations, e.confirmers[:e.counted], e.confirmedBy)
}

// has reports whether the row remembers the event.
func (e entry) has(event int) bool {
	return e.confirmedBy == event || slices.Contains(e.confirmers[:e.counted], event)
}

// with returns the row with more events: it remembers the 8 greatest.
func (e entry) with(events ...int) entry {
	all := slices.Concat(e.confirmers[:e.counted], events)
	slices.Sort(all)
	all = slices.Compact(all)
	all = all[max(0, len(all)-8):]
	e.counted, e.confirmers = len(all), [8]int{}
	copy(e.confirmers[:], all)
	return e
}

// phrase is a phrase under all its spellings.
type phrase [3]entry

// spelled reports whether the phrase has a row under an older spelling, which no
// question gets over.
func (p phrase) spelled() bool { return p[1].stands || p[2].stands }

// These are the calls of alias: a write by an event, the reads, and the transaction
// of a Backfill, of the row as it was read. Among its answers are that the phrase
// belongs to another name, and that a row cannot be read.
type (
	writes struct {
		verb  string // Put, Correct, Confirm or Forget
		name  string
		event int
	}
	resolves struct{}
	gets     struct{}
	moves    struct {
		spelling int
		row      entry
	}
	disowns struct {
		actor string
		alone bool // nothing else is under way
	}
	olderBook struct{ rows phrase }

	taken      struct{ owner string }
	unreadable struct{}
)

func (w writes) String() string    { return fmt.Sprintf("%s(%q, event %d)", w.verb, w.name, w.event) }
func (resolves) String() string    { return "Resolve" }
func (gets) String() string        { return "Get" }
func (m moves) String() string     { return fmt.Sprintf("Backfill(%s: %v)", spellings[m.spelling], m.row) }
func (d disowns) String() string   { return "Disown(" + d.actor + ")" }
func (o olderBook) String() string { return fmt.Sprintf("the book begins as %v", o.rows) }
func (t taken) String() string     { return fmt.Sprintf("taken by %q", t.owner) }

func (*aliasStory) fresh() any { return phrase{} }

func (*aliasStory) apply(state any, m *move) (any, bool) {
	stood := state.(phrase)
	switch in := m.in.(type) {
	case olderBook:
		return in.rows, stood == phrase{}
	case erased:
		return phrase{}, stood != phrase{}
	case disowns:
		if m.row == nil {
			return stood, !in.alone || !slices.ContainsFunc(stood[:], func(e entry) bool { return e.stands && e.teacher == in.actor })
		}
		left := phraseOf(m.row)
		for i := range stood {
			if stood[i].teacher == in.actor && left[i].teacher == "" {
				stood[i].teacher = ""
				return stood, stood == left
			}
		}
		return stood, false
	case resolves:
		if stood.spelled() {
			return stood, m.out == unreadable{}
		}
		return stood, m.out == stood[0].alias()
	case gets:
		return stood, m.out == stood[0].alias()
	case moves:
		fits := !stood[0].stands && stood[in.spelling] == in.row
		switch {
		case m.row != nil:
			stood[0], stood[in.spelling] = in.row, entry{}
			return stood, fits && stood == phraseOf(m.row)
		case m.out == created{}: // its first reply was lost
			return stood, m.earlier != nil
		}
		return stood, m.out == duplicate{} && !fits
	case writes:
		if m.row == nil {
			return stood, m.out == in.refused(stood)
		}
		next, answer := in.written(stood)
		return next, answer != nil && phraseOf(m.row) == next && (m.out == nil || m.out == answer)
	}
	return stood, false
}

// written returns the phrase after the write, and its answer. The answer is nil
// if the write must not happen.
func (w writes) written(p phrase) (phrase, any) {
	row := p[0]
	answer := any(created{})
	named := entry{stands: true, name: w.name, source: "learned", teacher: w.teacher(), namedBy: w.event}
	if w.verb != "Confirm" && row.namedBy >= w.event {
		return p, nil
	}
	switch w.verb {
	case "Put":
		if row.named() {
			return p, nil
		}
		row = named
	case "Correct":
		if row.name == w.name {
			row.namedBy, row.source, row.teacher = named.namedBy, named.source, named.teacher
		} else {
			row = named
		}
	case "Forget":
		if !row.named() {
			answer = notFound{}
		}
		row = entry{stands: true, namedBy: w.event}
	case "Confirm":
		full := row.counted == len(row.confirmers) && w.event < row.confirmers[0]
		if row.name != w.name || row.namedBy > w.event || row.confirmedBy >= w.event || row.has(w.event) || full {
			return p, nil
		}
		row = row.with(w.event)
		row.confirmations++
	}
	p[0] = row
	return p, answer
}

// teacher returns who teaches in the event.
func (w writes) teacher() string {
	if w.verb == "Put" && w.event%3 == 0 {
		return "" // unknown
	}
	return fmt.Sprint(w.event % 2)
}

// refused is the answer to a write that changes nothing, nil if it would change
// something.
func (w writes) refused(p phrase) any {
	row := p[0]
	switch w.verb {
	case "Put":
		switch {
		case row.name == w.name:
			return duplicate{}
		case row.named():
			return taken{row.name}
		case row.namedBy >= w.event:
			return superseded{}
		}
	case "Correct":
		switch {
		case row.namedBy > w.event, row.namedBy == w.event && !row.named():
			return superseded{}
		case row.namedBy == w.event && row.name == w.name:
			return duplicate{}
		case row.namedBy == w.event:
			return taken{row.name}
		}
	case "Forget":
		switch {
		case row.namedBy == w.event && !row.named():
			return duplicate{}
		case row.namedBy >= w.event:
			return superseded{}
		}
	case "Confirm":
		return w.unconfirmed(row)
	}
	return nil
}

func (w writes) unconfirmed(row entry) any {
	switch {
	case row.has(w.event):
		return duplicate{}
	case row.namedBy > w.event:
		return superseded{}
	case !row.named():
		return notFound{}
	case row.name != w.name:
		return taken{row.name}
	case row.confirmedBy > w.event, row.counted == len(row.confirmers) && w.event < row.confirmers[0]:
		return tooOld{}
	}
	return nil
}
