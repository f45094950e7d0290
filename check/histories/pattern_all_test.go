package histories_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/pattern"
)

// observesAll is a call of ObserveAll. It does not have an answer of its own:
// each of its writes is a move, and so is what it says about each event.
type observesAll struct{ events []int } // ascending

func (o observesAll) String() string { return fmt.Sprintf("ObserveAll(events %v)", o.events) }

// told is what ObserveAll says about an event: at some moment of the call the
// event was in the row, or the row could not tell.
type told struct{ event int }

func (t told) String() string { return fmt.Sprintf("ObserveAll of event %d", t.event) }

// step returns the row after a write that counts as many of the events as one
// write can. A write does not count an event that it could not remember.
func (h habit) step(events []int) (next habit, taken int) {
	least := 0
	for _, n := range events {
		switch {
		case h.ring.judge(n) != nil:
			continue
		case taken == 0:
			least = n
		case h.ring.size == len(h.ring.events) && h.ring.events[0] == least:
			return h, taken
		}
		h, taken = h.with(n), taken+1
	}
	return h, taken
}

// writes reports whether a write of the call may have left the row. The write
// may begin at any of the events if those before are answered.
func (o observesAll) writes(stood habit, left row) (habit, bool) {
	for from := range o.events {
		next, taken := stood.step(o.events[from:])
		if taken > 0 && num(left, "totalCount") == next.total && bytes.Equal(bin(left, "recent"), next.ring.bytes()) {
			return next, true
		}
	}
	return habit{}, false
}

func (r ring) bytes() []byte {
	var all []byte
	for _, n := range r.events[:r.size] {
		ev := numbered(n)
		all = append(all, ev[:]...)
	}
	return all
}

// all returns a call of ObserveAll with a few events, or with more than one
// write can count.
func (p *patternStory) all(c *caller) *call {
	few := 1 + p.w.rnd.IntN(8)
	if p.w.rnd.IntN(4) == 0 {
		few = 40
	}
	numbers := p.w.rnd.Perm(50)[:few]
	in := observesAll{events: slices.Sorted(slices.Values(numbers))}
	return &call{caller: c, key: p.pk, in: in, do: func(ctx context.Context) any {
		o := pattern.ObserveAll{Scope: "home", Actor: "42", Name: "metric"}
		for _, n := range numbers {
			o.Events = append(o.Events, numbered(n))
		}
		part := c.current()
		outcomes, err := p.stores[c.id].ObserveAll(ctx, o)
		reasons := map[int]error{}
		if left, ok := errors.AsType[*event.LeftoverError](err); ok {
			for _, l := range left.Leftovers {
				reasons[l.Index] = l.Err
			}
		}
		for i, out := range outcomes {
			var answer any
			switch {
			case errors.Is(reasons[i], event.ErrTooOld):
				answer = tooOld{}
			case reasons[i] != nil:
				continue
			case out == event.Created:
				answer = created{}
			default:
				answer = duplicate{}
			}
			p.w.tells(part, told{numbers[i]}, answer)
		}
		return nil
	}}
}

func (p *patternStory) next(c *caller) *call {
	if p.w.rnd.IntN(5) == 0 {
		return p.all(c)
	}
	return p.averages.next(c)
}
