package dynamotest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

// How much is told of what passed: kinds of requests, and tables of each.
const (
	mostKinds  = 8
	mostTables = 4
)

// sightings are the requests that passed while a fault waited in vain. They
// show what is misspelt in it: a table may be made later, so Inject cannot know.
type sightings struct {
	kinds  []sighting // in the order in which they first came
	others int        // requests of further kinds
}

type sighting struct {
	op, about string
	times     int
}

func (s *sightings) add(call *engine.Call) {
	op, about := call.Operation, tablesOf(call)
	i := slices.IndexFunc(s.kinds, func(k sighting) bool { return k.op == op && k.about == about })
	switch {
	case i >= 0:
		s.kinds[i].times++
	case len(s.kinds) < mostKinds:
		s.kinds = append(s.kinds, sighting{op, about, 1})
	default:
		s.others++
	}
}

// String writes "seen: TransactWriteItems ×1 on slots, tickets; Query ×3 on
// tickets/by-visitor".
func (s *sightings) String() string {
	if len(s.kinds) == 0 {
		return "none was seen"
	}
	var parts []string
	for _, k := range s.kinds {
		parts = append(parts, fmt.Sprintf("%s ×%d%s", k.op, k.times, k.about))
	}
	if s.others > 0 {
		parts = append(parts, fmt.Sprintf("%d others", s.others))
	}
	return "seen: " + strings.Join(parts, "; ")
}

// tablesOf names the tables and indexes that a call is about, each once, sorted.
func tablesOf(call *engine.Call) string {
	var names []string
	for _, target := range call.Targets {
		name := target.Table
		if target.Index != "" {
			name += "/" + target.Index
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names) // clients send a batch's tables in any order
	more := ""
	if n := len(names) - mostTables; n > 0 {
		names, more = names[:mostTables], fmt.Sprintf(" and %d more", n)
	}
	if len(names) == 0 {
		return ""
	}
	return " on " + strings.Join(names, ", ") + more
}

// A hint is what may be wrong with a fault, unless a table that passed fits it.
type hint struct {
	fits bool
	text string // about the first that does not
}

func (h *hint) note(wrong string) {
	switch {
	case wrong == "":
		h.fits = true
	case h.text == "":
		h.text = "; " + wrong
	}
}

func (h *hint) String() string {
	if h.fits {
		return ""
	}
	return h.text
}

// see notes a call that passes while the fault has not fired yet.
func (f *fault) see(call *engine.Call) {
	if f.fired > 0 {
		return
	}
	f.passed.add(call)
	if f.server == nil || f.Op != "" && f.Op != call.Operation {
		return
	}
	for _, target := range call.Targets {
		if f.about(target.Table) {
			f.compareKeys(target.Table)
			f.compareIndexes(target)
		}
	}
}

// compareKeys finds out whether the Key could be one of a table.
func (f *fault) compareKeys(table string) {
	if f.key == nil {
		return
	}
	kinds := f.server.engine.KeyKinds(table)
	if kinds == nil {
		return
	}
	wrong := ""
	for _, part := range f.key {
		switch kind := kinds[part.Name]; kind {
		case part.Value.Kind():
		case 0:
			names := strings.Join(f.server.engine.KeyNames(table), ", ")
			wrong = fmt.Sprintf("the key of %s is %s, without %s", table, names, part.Name)
		default:
			wrong = fmt.Sprintf("the key of %s has %s as %v, not as %v", table, part.Name, kind, part.Value.Kind())
		}
	}
	f.keyHint.note(wrong)
}

// compareIndexes finds out whether a write could be held back by the Index.
func (f *fault) compareIndexes(about target.Target) {
	if about.Read || !f.holdsBack() {
		return
	}
	names, ok := f.server.engine.GlobalIndexes(about.Table)
	if !ok {
		return
	}
	wrong := ""
	if !slices.Contains(names, f.Index) {
		slices.Sort(names)
		wrong = fmt.Sprintf("%s has no global index %s (it has %s)", about.Table, f.Index, cmp.Or(strings.Join(names, ", "), "none"))
	}
	f.indexHint.note(wrong)
}

// about tells whether the fault may be about a table.
func (f *Fault) about(table string) bool { return f.Table == "" || f.Table == table }

// idle says why the test proves nothing, and what may be wrong with the fault.
func (f *fault) idle() string {
	text := fmt.Sprintf("fault %v never fired: %d requests matched; %v", &f.Fault, f.matched, &f.passed)
	if f.Do == Throttle && f.Index != "" && f.Op == "" {
		text += "; an Index without an Op that writes is of reads only"
	}
	return text + f.keyHint.String() + f.indexHint.String()
}
