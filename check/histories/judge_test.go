package histories_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// model is what a package promises for one key.
type model interface {
	// keyOf is the key of the history to which a row belongs.
	keyOf(row) string
	// fresh is the state of an untouched key.
	fresh() any
	// apply returns the state after the move, and false if the move is
	// impossible in this state.
	apply(state any, m *move) (any, bool)
}

// move is what happened to a key: a call with its answer, or a write.
type move struct {
	key string
	in  any
	out any // nil if nobody heard an answer
	// row is what a write left: the write that this move is, or whose reply was
	// the answer. It is nil without one.
	row row
	op  string // of the request, if nobody got its reply
	// earlier is what an earlier attempt of the call left, if its reply was
	// lost.
	earlier  row
	born, at time.Time   // when a write's call began, and when the write took effect
	clocks   []time.Time // what the caller's clock said
	caller   int         // who made the call; -1 for nobody
	text     string
}

func (m *move) String() string { return m.text }

// note is a line of the history that is not a move.
type note struct {
	step int64
	key  string // "" for all keys
	text string
}

func (w *world) note(key, format string, args ...any) {
	w.notes = append(w.notes, note{step: w.step.Load(), key: key, text: fmt.Sprintf(format, args...)})
}

// happened notes a write that did not come from a caller.
func (w *world) happened(key string, in any, left row) {
	p := &part{key: key, in: in, start: 4 * w.step.Load(), end: 4*w.step.Load() + 1}
	if left != nil {
		p.heard = &arrival{row: left}
	}
	w.parts = append(w.parts, p)
}

// tells notes what a call that ends now says in addition to its answer.
func (w *world) tells(of *part, in, answer any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parts = append(w.parts, &part{
		caller: of.caller, key: of.key, in: in, out: answer, start: of.start, end: 4*w.step.Load() + 3, began: of.began,
	})
}

// operations returns the moves of the history by key: each call with an answer,
// and each write that is not the answer of a call.
func (w *world) operations() map[string][]porcupine.Operation {
	all := map[string][]porcupine.Operation{}
	add := func(key string, client int, start, end int64, m *move) {
		all[key] = append(all[key], porcupine.Operation{ClientId: client, Input: m, Call: start, Return: end, Output: m.out})
	}
	answered := map[*arrival]bool{}
	for _, p := range w.parts {
		m := &move{key: p.key, in: p.in, out: p.out, clocks: p.clocks, caller: -1}
		if len(m.clocks) == 0 { // it never read its clock
			m.clocks = []time.Time{{}}
		}
		if p.heard != nil {
			m.row, m.born, m.at = p.heard.row, p.began, p.heard.at
		}
		if p.caller == nil {
			m.text = fmt.Sprintf("somebody else  %v", p.in)
			add(p.key, len(w.callers), p.start, p.end, m)
			continue
		}
		if p.out == nil {
			continue
		}
		answered[p.heard] = true
		if mine := w.written(p); p.heard == nil && mine != nil {
			m.earlier = mine.row
		}
		m.caller = p.caller.id
		m.text = fmt.Sprintf("caller %d  %-28v %v%s", m.caller, p.in, p.out, m.left())
		start, end := p.start, p.end
		if p.heard != nil { // a write happens when it arrives
			start, end = 4*p.heard.step, 4*p.heard.step+1
			m.text += fmt.Sprintf(" (called at %d, answered at %d)", p.start/4, p.end/4)
		}
		add(p.key, m.caller, start, end, m)
	}
	for _, a := range w.arrivals {
		if answered[a] {
			continue
		}
		p := a.flight.part
		m := &move{key: p.key, in: p.in, row: a.row, op: a.flight.Op, born: p.began, at: a.at, clocks: p.clocks, caller: p.caller.id}
		m.text = fmt.Sprintf("network   caller %d's %v takes effect, unheard%s", p.caller.id, p.in, m.left())
		add(p.key, len(w.callers), 4*a.step, 4*a.step+1, m)
	}
	return all
}

// written returns the last write of the part, whether its reply was heard or
// not.
func (w *world) written(p *part) *arrival {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range slices.Backward(w.arrivals) {
		if a.flight.part == p && 4*a.step < cmp.Or(p.end, 1<<62) {
			return a
		}
	}
	return nil
}

// left returns what the move's write left, as text.
func (m *move) left() string {
	if m.row == nil {
		return ""
	}
	return "\n" + strings.Repeat(" ", 22) + "leaves " + text(m.row)
}

// fault is a key whose moves have no possible order.
type fault struct {
	key  string
	slow bool // porcupine gave up searching
	ops  []porcupine.Operation
	info porcupine.LinearizationInfo
}

// judge returns the keys whose moves the model cannot put into an order.
func (w *world) judge() []fault {
	var faults []fault
	all := w.operations()
	for _, key := range slices.Sorted(maps.Keys(all)) {
		result, info := porcupine.CheckOperationsVerbose(porcupineModel(w.story), all[key], 30*time.Second)
		if result != porcupine.Ok {
			faults = append(faults, fault{key: key, slow: result == porcupine.Unknown, ops: all[key], info: info})
		}
	}
	return faults
}

func porcupineModel(m model) porcupine.Model {
	return porcupine.Model{
		Init: m.fresh,
		Step: func(state, in, _ any) (bool, any) {
			next, ok := m.apply(state, in.(*move))
			return ok, next
		},
		DescribeOperation: func(in, _ any) string { return in.(*move).text },
		DescribeState:     func(state any) string { return fmt.Sprintf("%+v", state) },
	}
}

// print writes the history of the key at fault.
func (w *world) print(f fault) string {
	type line struct {
		step int64
		text string
	}
	var longest []porcupine.Operation
	for _, orders := range f.info.PartialLinearizationsOperations() {
		for _, order := range orders {
			if len(order) > len(longest) {
				longest = order
			}
		}
	}
	place := map[any]int{}
	horizon := int64(1) << 62 // the earliest end of a move without a place
	for i, op := range longest {
		place[op.Input] = i + 1
	}
	for _, op := range f.ops {
		if len(longest) > 0 && place[op.Input] == 0 {
			horizon = min(horizon, op.Return)
		}
	}
	var lines []line
	for _, op := range f.ops {
		mark := "    "
		switch at := place[op.Input]; {
		case at > 0:
			mark = fmt.Sprintf("%3d ", at)
		case len(longest) > 0 && op.Call <= horizon:
			mark = "  > "
		}
		span := fmt.Sprintf("%d-%d", op.Call/4, op.Return/4)
		if op.Call/4 == op.Return/4 {
			span = fmt.Sprint(op.Call / 4)
		}
		lines = append(lines, line{step: op.Call, text: fmt.Sprintf("%s %-9s %v", mark, span, op.Input)})
	}
	for _, n := range w.notes {
		if n.key == "" || n.key == f.key {
			lines = append(lines, line{step: 4 * n.step, text: fmt.Sprintf("     %-9d -- %s", n.step, n.text)})
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.step, b.step) })
	var b strings.Builder
	for i, l := range lines {
		if l.step > horizon {
			fmt.Fprintf(&b, "     and %d lines more, of what came later\n", len(lines)-i)
			break
		}
		fmt.Fprintln(&b, l.text)
	}
	return b.String()
}
