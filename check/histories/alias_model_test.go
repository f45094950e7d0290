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

// first is the older spelling that has the phrase if the normal form does not,
// or 0. A spelling with a name comes before one without.
func (p phrase) first() int {
	switch {
	case p[2].named() && !p[1].named():
		return 2
	case p[1].stands:
		return 1
	case p[2].stands:
		return 2
	}
	return 0
}

// top returns the row that says what the phrase stands for.
func (p phrase) top() entry {
	if p[0].stands {
		return p[0]
	}
	return p[p.first()]
}

// settled reports whether no older spelling says what the phrase stands for.
func (p phrase) settled() bool { return p[0].stands || p.first() == 0 }

// These are the calls of alias, a write by an event and the reads, and its
// answers: the phrase belongs to another name, and the spellings that Adopt
// left.
type (
	writes struct {
		verb  string // Put, Correct, Confirm or Forget
		name  string
		event int
	}
	resolves struct{}
	gets     struct{}
	adopts   struct{}
	leaves   struct{ spelling int } // Adopt's, for a reason
	disowns  struct {
		actor string
		alone bool // nothing else is under way
	}
	olderBook struct{ rows phrase }

	taken    struct{ owner string }
	leftover struct{ spellings [3]bool }
)

func (w writes) String() string    { return fmt.Sprintf("%s(%q, event %d)", w.verb, w.name, w.event) }
func (resolves) String() string    { return "Resolve" }
func (gets) String() string        { return "Get" }
func (adopts) String() string      { return "Adopt" }
func (l leaves) String() string    { return "Adopt of " + spellings[l.spelling] }
func (d disowns) String() string   { return "Disown(" + d.actor + ")" }
func (o olderBook) String() string { return fmt.Sprintf("the book begins as %v", o.rows) }
func (t taken) String() string     { return fmt.Sprintf("taken by %q", t.owner) }

func (*aliasStory) fresh() any { return phrase{} }

func (*aliasStory) apply(state any, m *move) (any, bool) {
	stood := state.(phrase)
	if m.op == "TransactWriteItems" { // whichever call sent it
		next, ok := stood.adopted(phraseOf(m.row))
		return next, ok
	}
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
		return stood, m.out == stood.top().alias()
	case gets:
		return stood, m.out == stood[0].alias()
	case adopts:
		left, ok := m.out.(leftover)
		return stood, ok && (left.spellings[1] || !stood[1].stands) && (left.spellings[2] || !stood[2].stands)
	case leaves:
		row := stood[in.spelling]
		return stood, row.named() && stood[0].named() && row.name != stood[0].name && m.out == taken{stood[0].name}
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
	if w.verb != "Confirm" && (!p.settled() || row.namedBy >= w.event) {
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
		switch top := p.top(); {
		case top.name == w.name:
			return duplicate{}
		case top.named():
			return taken{top.name}
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
		return w.unconfirmed(p)
	}
	return nil
}

func (w writes) unconfirmed(p phrase) any {
	row := p[0]
	switch {
	case row.has(w.event):
		return duplicate{}
	case row.namedBy > w.event:
		return superseded{}
	case !row.named() && p.settled():
		return notFound{}
	case !row.named():
		return nil
	case row.name != w.name:
		return taken{row.name}
	case row.confirmedBy > w.event, row.counted == len(row.confirmers) && w.event < row.confirmers[0]:
		return tooOld{}
	}
	return nil
}

// adopted returns the phrase after one row with an older spelling was merged
// into the row in normal form, and whether that is possible.
func (p phrase) adopted(left phrase) (phrase, bool) {
	at := 1
	if p[2].stands && !left[2].stands {
		at = 2
	}
	older, normal := p[at], p[0]
	switch {
	case !older.stands, !normal.stands && at != p.first():
		return p, false // nothing to adopt, or another row comes first
	case older.named() && normal.named() && older.name != normal.name:
		return p, false
	}
	p[0], p[at] = merged(older, normal), entry{}
	return p, p == left
}

// merged returns one row made of two that do not have different names.
func merged(older, normal entry) entry {
	row := normal
	switch {
	case !normal.stands:
		return older
	case older.named() && normal.named():
		if older.namedBy > normal.namedBy || older.namedBy == normal.namedBy && normal.source == "seed" {
			row = older
		}
		row.confirmations = older.confirmations + normal.confirmations - both(older, normal)
		row = row.with(slices.Concat(older.confirmers[:older.counted], normal.confirmers[:normal.counted])...)
		row.confirmedBy = max(older.confirmedBy, normal.confirmedBy)
	case older.named() && (older.namedBy > normal.namedBy || normal.namedBy == 0):
		row = older
	}
	row.namedBy = max(older.namedBy, normal.namedBy)
	return row
}

// both is how many events both rows remember.
func both(a, b entry) (n int64) {
	for event := 1; event <= aliasEvents; event++ {
		if a.has(event) && b.has(event) {
			n++
		}
	}
	return n
}
