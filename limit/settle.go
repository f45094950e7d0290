package limit

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/homeops/ddbpatterns/event"
)

// Settle sets what a take holds to its final weights, by the names of its limits,
// such as the tokens that a request did use. A limit that is not named keeps its
// weight; 0 of all gives the take back. Give the Take of the [Grant]: the event, the
// limits and their weights must be as they were taken. A take is settled once. What it
// is settled to above what was taken is a debt: later takes wait for it.
//
// The answer is Created or, if the event was settled to the same weights before,
// Duplicate.
//
// Errors: an [*event.InputError], also for a debt that comes back only after
// Config.MaxWait; [*WeightError]; [ErrForgotten]; [ErrContended]; the API's error,
// after which it is safe to call again.
//
// Price: 1 request, 1 WCU. A debt needs a second request if the key is not busy.
func (s *Store) Settle(ctx context.Context, t Take, to map[string]int64) (event.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	asked, err := s.asked(t)
	if err == nil {
		err = t.Event.Check(pkg, "Take.Event", s.cfg.Now())
	}
	if err != nil {
		return 0, err
	}
	w := write{asked: asked, taken: asked.entry(taken, nil), event: t.Event.String() + settled, entry: asked.entry(settled, to)}
	known := 0
	var busy []int64 // a debt is mostly that of a busy key
	for i, l := range asked.Limits {
		weight, given := to[l.Name]
		if !given {
			weight = l.Weight
		} else {
			known++
		}
		if weight < 0 || weight-l.Weight > int64(s.cfg.MaxWait)/asked.spans[i].unit {
			return 0, event.BadInput(pkg, "to", fmt.Sprintf("must not be negative, nor above what was taken by more than comes back in Config.MaxWait, %v; is %d of %s", s.cfg.MaxWait, weight, l.Name))
		}
		w.adds, w.rooms, busy = append(w.adds, span(weight-l.Weight, asked.spans[i].unit)), append(w.rooms, math.MaxInt64), append(busy, asked.now+1)
	}
	if known < len(to) {
		return 0, event.BadInput(pkg, "to", "must name limits of the take only")
	}
	out, err := s.settle(ctx, w, busy)
	return out, s.wrap("Settle", err)
}

func (s *Store) settle(ctx context.Context, w write, times []int64) (event.Outcome, error) {
	for range tries {
		row, after, refused, err := s.send(ctx, w, times)
		if err != nil {
			return 0, err
		}
		s.memory.learn(w.asked, after)
		switch text, weights := entryOf(row, w.Event); {
		case !refused:
			return event.Created, nil
		case text == w.entry:
			return event.Duplicate, nil
		case strings.HasPrefix(text, w.event):
			return 0, &WeightError{Recorded: weights, Given: w.entry[len(w.event):]}
		case text != w.taken:
			return 0, ErrForgotten
		}
		times, w.now = after, s.cfg.Now().UnixNano()
	}
	return 0, ErrContended
}
