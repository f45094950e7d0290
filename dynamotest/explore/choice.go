package explore

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/network"
)

// The budgets.
const (
	faultLate = iota
	faultTwice
	faultUnheard
	faultDeath
	faultConflict
	faultThrottle
	faultFailure
	faultOldRead
	faultCut
	faultClock
	move // of time, which is not a fault
	faults
	free = -1
)

// choice is something that may happen next.
type choice struct {
	label  string
	about  *request // that it is about, or nil
	text   string   // what happens, for the drawing
	caller int      // -1 for none
	cost   int      // how far it is from a run in which nothing happens
	budget int      // that it takes from, or free
	goesOn bool     // it is the plain way on for the caller
	do     func()
}

// left reports whether the budget has something left, and Total, if it is of a fault.
func (w *world) left(budget int) bool {
	f := w.cfg.Faults
	if budget == free {
		return true
	}

	most := [faults]int{
		faultLate: f.Late, faultTwice: f.Twice, faultUnheard: f.Unheard, faultDeath: f.Deaths, faultConflict: f.Conflicts,
		faultThrottle: f.Throttles, faultFailure: f.Failures, faultOldRead: f.OldReads, faultCut: f.Cuts, faultClock: f.Clocks, move: w.cfg.Moves,
	}
	if w.used[budget] >= most[budget] {
		return false
	}

	total := 0
	for _, n := range w.used[:move] { // the faults come before move
		total += n
	}

	return budget == move || total < f.Total
}

// choices lists what may happen next: first the lives that may begin and what may become
// of the requests, the cheapest first, so that the caller that moved last goes on; then
// what no caller does. It is empty when the schedule is over.
func (w *world) choices() []choice {
	if w.finished {
		return nil
	}

	all := w.beginnings()
	// If all wait to begin, time cannot pass before one does, and what else may happen can
	// as well happen after that.
	if len(all) > 0 && !w.cfg.Full && !w.left(move) && !w.begun() {
		return all
	}

	later := min(1, len(all)) // what a request costs that goes before a life that may begin
	names := map[int]int{}
	for _, q := range w.open {
		if q.begins {
			continue
		}
		c := q.process.caller
		label, cost := c.name, w.changing(c)+later
		if names[c.index]++; names[c.index] > 1 { // not the plain order of its goroutines
			label = fmt.Sprintf("%s-%d", c.name, names[c.index])
			cost++
		}
		all = append(all, w.fates(q, label, cost)...)
	}

	slices.SortStableFunc(all, func(a, b choice) int { return a.cost - b.cost })
	switch {
	case len(w.open) > 0: // a request goes on
	case w.living():
		all = append(all, choice{label: "wait", text: "time passes", caller: -1, budget: free, do: w.wait})
	default:
		all = append(all, choice{label: "end", text: "all have returned", caller: -1, budget: free, do: func() { w.finished = true }})
	}

	all = append(all, w.arrivals()...)
	if len(w.open) > 0 && w.pausing() {
		all = append(all, choice{label: "pause", text: "a pause ends", caller: -1, cost: 1, budget: free, do: w.pause})
	}

	if len(w.open) > 0 && w.left(move) {
		all = append(all, w.moves()...)
	}
	return all
}

// beginnings are the lives that may begin now. A life reads its clock first, so it
// begins as soon as time has passed, in the order of the callers: later, or in another
// order, would be the same.
func (w *world) beginnings() []choice {
	var all []choice
	for _, q := range w.open {
		c := q.process.caller
		if q.begins && (c.index >= w.beginners || w.cfg.Full) {
			all = append(all, choice{label: c.name, about: q, caller: c.index, budget: free, goesOn: true, do: func() {
				w.beginners = c.index + 1
				w.answer(q, "reply", answer{})
			}})
		}
	}
	return all
}

// begun reports whether a life has begun and not returned: it may still sleep.
func (w *world) begun() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.schedule.callers, func(c *caller) bool {
		return c.lives() && !slices.ContainsFunc(w.open, func(q *request) bool { return q.begins && q.process == c.life })
	})
}

// errExpired is the error of a request that waited until it could not arrive any more.
// The SDK does not send such a request again: its call is over, too.
type errExpired struct{}

func (errExpired) Error() string       { return "explore: not sent within Config.Faults.LateWithin" }
func (errExpired) CanceledError() bool { return true }

// fates are what may become of a request that waits.
func (w *world) fates(q *request, label string, cost int) []choice {
	c := q.process.caller
	plain := choice{label: label, about: q, caller: c.index, cost: cost, budget: free, goesOn: true}
	if q.arrives() && time.Since(q.born) > w.cfg.Faults.LateWithin {
		plain.label, plain.text = label+":lost", "× it is too late to arrive"
		plain.do = func() { w.answer(q, "lost", answer{err: errExpired{}}) }
		return []choice{plain}
	}

	plain.do = func() { w.answer(q, "reply", w.serve(q)) }
	all := []choice{plain}
	add := func(suffix, text string, budget int, do func()) {
		if w.left(budget) {
			all = append(all, choice{label: label + ":" + suffix, about: q, text: text, caller: c.index, cost: cost + 1, budget: budget, do: do})
		}
	}
	if q.arrives() {
		add("late", "× the caller gives up, and the request may arrive later", faultLate, func() {
			w.later = append(w.later, late{q, free})
			w.answer(q, "lost", answer{err: network.ErrLost})
		})
	}

	add("unheard", "× the reply is lost", faultUnheard, func() {
		w.serve(q)
		w.answer(q, "lost", answer{err: network.ErrLost})
	})

	add("dies", "× dies before", faultDeath, func() { w.kill(q.process) })
	add("done-dies", "× dies after", faultDeath, func() {
		w.serve(q)
		w.mu.Lock()
		w.remove(q)
		w.mu.Unlock()
		w.kill(q.process)
	})

	if q.effect != "" {
		return all
	}

	if w.left(faultConflict) && w.mayConflict(q) {
		add("conflict", "× a transaction is in the way", faultConflict, func() { w.answer(q, "conflict", w.conflict(q)) })
	}

	add("throttled", "× throttled", faultThrottle, func() {
		w.answer(q, "throttled", refusal(http.StatusBadRequest, "ProvisionedThroughputExceededException"))
	})

	failed := refusal(http.StatusInternalServerError, "InternalServerError")
	add("500", "× 500, no effect", faultFailure, func() { w.answer(q, "500", failed) })
	if !q.reads() {
		add("done-500", "× 500 after the effect", faultFailure, func() {
			w.serve(q)
			w.answer(q, "500", failed)
		})
	}

	w.readings(q, add)
	return all
}

// changing returns 1 if another caller moved last and could go on, else 0.
func (w *world) changing(to *caller) int {
	if to.index != w.last && slices.ContainsFunc(w.open, func(o *request) bool { return o.process.caller.index == w.last }) {
		return 1
	}
	return 0
}

// readings adds the fates of requests about several items, or about an earlier state.
func (w *world) readings(q *request, add func(suffix, text string, budget int, do func())) {
	if q.mayBeOld() {
		for back := 1; back < min(len(w.versions), 4); back++ {
			add(fmt.Sprintf("old%d", back), fmt.Sprintf("shows the state %d writes ago", back), faultOldRead, func() {
				past := dynamotest.NewServer(&dynamotest.Config{From: w.versions[len(w.versions)-1-back].of})
				w.answer(q, "old", q.join(w.perform(past, q)))
			})
		}
	}

	if !w.left(faultCut) { // before the request is parsed
		return
	}

	if first, _ := q.cuttable(); first != nil {
		add("cut", "its first item only; the others follow", faultCut, func() {
			if a, whole := w.cut(q); whole {
				w.answer(q, "reply", a)
			}
		})
	}
}

// arrivals are the requests that may arrive although nobody waits for them.
func (w *world) arrivals() []choice {
	w.later = slices.DeleteFunc(w.later, func(l late) bool {
		return time.Since(l.born) > w.cfg.Faults.LateWithin
	})

	slices.SortStableFunc(w.later, func(a, b late) int {
		if by := a.process.caller.index - b.process.caller.index; by != 0 {
			return by
		}
		return slices.Compare(a.Body, b.Body)
	})

	var all []choice
	for i, l := range w.later {
		if !w.left(l.costs) {
			continue
		}
		all = append(all, choice{label: fmt.Sprintf("late%d", i+1), about: l.request, text: "arrives, and nobody hears the reply", caller: l.process.caller.index, cost: 1, budget: l.costs, do: func() {
			w.later = slices.Delete(w.later, i, i+1)
			w.serve(l.request)
		}})
	}

	return all
}

// moves are the ways in which time may pass, while requests wait.
func (w *world) moves() []choice {
	var all []choice
	add := func(label, text string, do func()) {
		all = append(all, choice{label: label, text: text, caller: -1, cost: 1, budget: move, do: do})
	}

	add("wait", "time passes until a timer", w.wait)
	for _, then := range w.moments() {
		add("@"+then.Sub(w.cfg.Start).String(), "it is "+then.UTC().Format("2 January 15:04:05.000"), func() { w.move(then) })
	}

	if w.server.Fork().ExpireTTL() > 0 {
		add("sweep", "TTL deletes what has expired", func() {
			w.server.ExpireTTL()
			if w.look() {
				w.check()
			}
		})
	}
	return all
}

// clocks are the choices before a caller begins.
func (w *world) clocks(c *caller) []choice {
	all := []choice{{label: c.name + "@0", text: "its clock is right", caller: c.index, budget: free, do: func() {}}}
	if w.left(faultClock) {
		for _, off := range []time.Duration{w.cfg.Faults.ClockOff, -w.cfg.Faults.ClockOff} {
			all = append(all, choice{
				label: c.name + "@" + off.String(), text: "its clock is " + off.String() + " off",
				caller: c.index, cost: 1, budget: faultClock, do: func() { c.offset = off },
			})
		}
	}
	return all
}

// take lets a choice happen.
func (w *world) take(c choice) {
	if c.budget != free {
		w.used[c.budget]++
	}
	if c.caller >= 0 {
		w.last = c.caller
	}
	w.beginners = len(w.schedule.callers)
	c.do()
}
