package explore

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// point is a moment of a schedule at which something had to be chosen.
type point struct {
	state   hash
	callers []hash
	labels  []string
	costs   []int
	chosen  int
}

// player runs one schedule: first the script, then what pick chooses.
type player struct {
	cfg     *Config
	from    *dynamotest.Snapshot
	program func(*Schedule)
	script  []string
	pick    func([]choice) int // the first choice if it is nil
	seen    func(hash) bool    // ends the schedule after the script; may be nil
	expect  *point             // the state before the script's last choice; may be nil
	trace   bool

	progress func(what string)

	points  []point // all
	err     error   // what a check or the explorer found
	drawing *drawing
}

// play runs the schedule in a bubble of its own, and on a goroutine of its own, which
// ends with the bubble's test: by FailNow, or after a data race.
func (p *player) play(t *testing.T) {
	var one sync.WaitGroup
	one.Go(func() { p.bubble(t) })
	one.Wait()
}

func (p *player) bubble(t *testing.T) {
	over, ended := false, false
	defer func() {
		switch cause := recover(); {
		case cause != nil && over, p.err != nil:
			// Goroutines of a caller that wait for each other stay when the schedule is over.
		case cause != nil:
			p.err = fmt.Errorf("the schedule cannot end: %v (does a caller wait for another, or for a goroutine that is gone?)", cause)
		case !ended:
			p.err = errors.New("the schedule was ended by FailNow or by the race detector: let a check return an error instead")
		}
	}()

	synctest.Test(t, func(*testing.T) {
		time.Sleep(time.Until(p.cfg.Start))
		w := newWorld(p.cfg, p.from, p.program)
		defer w.end()

		if p.trace {
			w.trace = newDrawing(w)
			p.drawing = w.trace
		}
		defer func() {
			if cause := recover(); cause != nil {
				var stack [4 << 10]byte
				p.err = fmt.Errorf("a check or an effect panicked: %v\n%s", cause, stack[:runtime.Stack(stack[:], false)])
			}
		}()

		p.run(w)
		over = true
	})

	ended = true
}

// mostSteps is how long a schedule may be.
const mostSteps = 2000

// run makes one choice after the other.
func (p *player) run(w *world) {
	for _, c := range w.schedule.callers {
		if p.cfg.Faults.Clocks > 0 && !p.choose(w, w.clocks(c)) {
			return
		}
		w.begin(c)
		w.settle()
	}

	w.beginners = 0 // the choice of a clock is not a step
	for p.err == nil {
		choices := w.choices()
		if len(choices) == 0 {
			if len(w.open) > 0 { // lives that did not begin in time: as if they had
				return
			}
			break
		}

		if len(p.points) == mostSteps {
			p.err = fmt.Errorf("the schedule does not end after %d steps: does a caller repeat a request without end?", mostSteps)
			return
		}

		if !p.choose(w, choices) {
			return
		}

		w.settle()
		if p.err = w.wrong; w.void {
			return
		}
	}

	if p.err == nil && w.schedule.end != nil {
		p.err = w.schedule.end(&View{w})
	}
}

// errUnfit is the error of a replay.
var errUnfit = errors.New("the program does not make the requests of this schedule: has it changed (run it without -explore.replay), or does it act at random?")

// choose takes one of the choices, and reports whether the schedule goes on.
func (p *player) choose(w *world, choices []choice) bool {
	n := len(p.points)
	now := point{}
	if n >= len(p.script)-1 { // before, it is known
		now.state, now.callers = w.state()
	}

	for _, c := range choices {
		now.labels = append(now.labels, c.label)
		now.costs = append(now.costs, c.cost)
	}

	switch {
	case n == len(p.script)-1 && p.expect != nil && p.expect.state != now.state:
		p.diverge(w, now)
		return false
	case n < len(p.script):
		if now.chosen = slices.Index(now.labels, p.script[n]); now.chosen < 0 {
			p.err = fmt.Errorf("%w: step %d is %q, but what may happen is %s", errUnfit, n+1, p.script[n], strings.Join(now.labels, ", "))
			return false
		}
	case p.seen != nil && p.seen(now.state):
		return false
	case p.pick != nil:
		now.chosen = p.pick(choices)
	}

	p.points = append(p.points, now)
	c := choices[now.chosen]
	if p.progress != nil {
		p.progress(c.label)
	}

	if w.trace != nil {
		w.trace.step(c)
	}

	w.take(c)
	return true
}

// diverge says which caller did something else than in an earlier schedule that began
// in the same way.
func (p *player) diverge(w *world, now point) {
	who := "the tables or the clock"
	for i, c := range w.schedule.callers {
		if i < len(p.expect.callers) && p.expect.callers[i] != now.callers[i] {
			who = c.name
			break
		}
	}
	p.err = fmt.Errorf("%s did not do the same as in an earlier schedule that began in the same way: "+
		"does it use a clock, a random source, a goroutine or the order of a map, which the explorer does not know?", who)
}

// made returns the choices that were made.
func made(points []point) []string {
	labels := make([]string, len(points))
	for i, at := range points {
		labels[i] = at.labels[at.chosen]
	}
	return labels
}

// sampler chooses as PCT does: the caller of the highest priority goes on, and at a few
// random steps its priority falls below all others. Faults and moves of time happen at
// random, as far as the budgets allow.
type sampler struct {
	rnd        *rand.Rand
	priorities map[int]int
	step       int
	changes    []int
}

// sampledSteps is the length of a schedule for which changes of priority are drawn.
const sampledSteps = 40

func newSampler(seed, n uint64) *sampler {
	s := &sampler{rnd: rand.New(rand.NewPCG(seed, n)), priorities: map[int]int{}}
	for range s.rnd.IntN(4) { // up to three steps at which a priority falls
		s.changes = append(s.changes, s.rnd.IntN(sampledSteps))
	}
	return s
}

func (s *sampler) pick(choices []choice) int {
	s.step++
	if s.rnd.IntN(8) == 0 {
		return s.rnd.IntN(len(choices))
	}

	best := -1
	for i, c := range choices {
		if !c.goesOn {
			continue
		}
		if _, ok := s.priorities[c.caller]; !ok {
			s.priorities[c.caller] = 1 + s.rnd.IntN(1<<20)
		}
		if best < 0 || s.priorities[c.caller] > s.priorities[choices[best].caller] {
			best = i
		}
	}

	if best < 0 {
		return 0
	}

	if slices.Contains(s.changes, s.step) {
		s.priorities[choices[best].caller] = -s.step
	}
	return best
}
