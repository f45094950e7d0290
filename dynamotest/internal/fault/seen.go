package fault

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

// The most that is reported of what passed: kinds of requests, and tables of
// each.
const (
	mostKinds  = 8
	mostTables = 4
)

// sightings are the requests that passed while a fault did not fire. They show
// what is misspelt in it: a table may be made later, so Inject cannot check
// that.
type sightings struct {
	kinds  []sighting // in the order in which they first came
	others int        // requests of further kinds
}

type sighting struct {
	op, about string
	times     int
}

func (s *sightings) add(c call) {
	op, about := c.op, tablesOf(c)
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
func tablesOf(c call) string {
	var names []string
	for _, about := range c.targets {
		name := about.Table
		if about.Index != "" {
			name += "/" + about.Index
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

// A hint says what may be wrong with a fault. It is dropped if a table that
// passed fits the fault.
type hint struct {
	fits bool
	text string // about the first table that does not fit
}

// note takes what is wrong with the fault for one table, or "" if the table fits. Of
// several texts it keeps the first.
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
func (f *armed) see(c call) {
	if f.fired > 0 {
		return
	}

	f.passed.add(c)
	if f.tables == nil || f.Op != "" && f.Op != c.op {
		return
	}

	for _, about := range c.targets {
		if f.namesTable(about.Table) {
			f.compareKeys(about.Table)
			f.compareIndexes(about)
		}
	}
}

// compareKeys checks whether the Key could be one of a table.
func (f *armed) compareKeys(table string) {
	if f.Key == nil {
		return
	}

	parts := f.tables.KeyParts(table)
	if parts == nil {
		return
	}

	wrong := ""
	for _, field := range f.Key {
		i := slices.IndexFunc(parts, func(p keys.Part) bool { return p.Name == field.Name })
		switch {
		case i < 0:
			wrong = fmt.Sprintf("the key of %s is %s, without %s", table, strings.Join(keys.Names(parts), ", "), field.Name)
		case parts[i].Kind != field.Value.Kind():
			wrong = fmt.Sprintf("the key of %s has %s as %v, not as %v", table, field.Name, parts[i].Kind, field.Value.Kind())
		}
	}

	f.keyHint.note(wrong)
}

// compareIndexes checks whether the index could hold a write back.
func (f *armed) compareIndexes(about target.Target) {
	index := f.Effect.ByIndex
	if about.Read || index == "" {
		return
	}

	all, ok := f.tables.GlobalIndexes(about.Table)
	if !ok {
		return
	}

	wrong := ""
	if !slices.Contains(all, index) {
		slices.Sort(all)
		wrong = fmt.Sprintf("%s has no global index %s (it has %s)", about.Table, index, cmp.Or(strings.Join(all, ", "), "none"))
	}

	f.indexHint.note(wrong)
}

// idle returns why the test proves nothing, and what may be wrong with the
// fault.
func (f *armed) idle() string {
	text := fmt.Sprintf("fault %v never fired: %s matched; %v", &f.Fault, count(f.matched, "request"), &f.passed)
	if f.Effect.Kind == Throttle && f.Index != "" {
		text += "; Index finds reads only, ByIndex throttles writes"
	}
	if f.Key != nil && f.matched == 0 && f.passed.nameNoItems() {
		text += "; none of these names an item, so no Key finds them"
	}
	return text + f.keyHint.String() + f.indexHint.String()
}

// nameNoItems reports whether all requests that passed are of kinds that a Key
// never matches.
func (s *sightings) nameNoItems() bool {
	return len(s.kinds) > 0 && s.others == 0 &&
		!slices.ContainsFunc(s.kinds, func(k sighting) bool { return api.OperationNamed(k.op).NamesItems() })
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
