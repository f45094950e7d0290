package explore

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
)

const (
	// batch is how many schedules run before the states that they saw count as seen.
	// It does not depend on the number of cores, so that a search is the same on every
	// machine.
	batch = 32
	// stuckAfter is how long no schedule may make a step, in real time.
	stuckAfter = time.Minute
	// tellAfter is how often a long search says how far it is.
	tellAfter = 10 * time.Second
)

// branch is a schedule that is still to run: a script whose last choice was not made
// yet after the others.
type branch struct {
	script []string
	before *point // the last choice
}

// search explores the schedules in the order of their cost: first those in which
// nothing happens, then those with one fault, one move of time or one change of
// callers, and so on. So the first failure is a short one.
type search struct {
	t       *testing.T
	cfg     *Config
	program func(*Schedule)
	from    *dynamotest.Snapshot

	begun  time.Time
	told   time.Time
	queues [][]branch // by cost
	mixed  *rand.Rand // mixes branches that cannot all run; may be nil
	seen   map[hash]bool
	report Report

	steps atomic.Int64
	doing sync.Map // what each schedule under way did last
}

func newSearch(t *testing.T, cfg *Config, program func(*Schedule)) *search {
	s := &search{
		t: t, cfg: cfg, program: program, from: cfg.Server.Snapshot(), begun: time.Now(), told: time.Now(),
		queues: [][]branch{{{}}}, seen: map[hash]bool{},
	}
	if cfg.Seed != 0 {
		s.mixed = rand.New(rand.NewPCG(cfg.Seed, 0))
	}
	return s
}

func (s *search) player(script []string) *player {
	p := &player{cfg: s.cfg, from: s.from, program: s.program, script: script}
	p.progress = func(what string) {
		s.steps.Add(1)
		s.doing.Store(p, what)
	}
	return p
}

// run explores.
func (s *search) run() Report {
	defer s.watch()()
	for s.report.Failure == nil && s.within() {
		branches, cost := s.next(min(batch, s.cfg.Schedules-s.report.Schedules))
		if len(branches) == 0 {
			break
		}

		players := make([]*player, len(branches))
		for i, b := range branches {
			players[i] = s.player(b.script)
			players[i].expect = b.before
			if !s.cfg.Full {
				players[i].seen = func(state hash) bool { return s.seen[state] }
			}
		}

		s.play(players)
		for _, p := range players {
			s.report.Schedules++
			if s.absorb(p, cost) {
				break
			}
		}

		s.tell()
	}

	s.report.Left = s.left()
	s.report.Exhausted = s.report.Left == 0 && s.report.Failure == nil
	if s.report.Left > 0 && s.report.Failure == nil {
		s.sample()
	}

	s.report.States = len(s.seen)
	return s.report
}

// next takes the cheapest branches.
func (s *search) next(most int) (branches []branch, cost int) {
	for cost, queue := range s.queues {
		if n := min(most, len(queue)); n > 0 {
			if s.mixed != nil && s.cfg.Schedules-s.report.Schedules < len(queue) {
				s.mixed.Shuffle(len(queue), func(i, k int) { queue[i], queue[k] = queue[k], queue[i] })
			}
			s.queues[cost] = queue[n:]
			return queue[:n], cost
		}
	}
	return nil, 0
}

// left counts the branches that are still to run.
func (s *search) left() int {
	left := 0
	for _, queue := range s.queues {
		left += len(queue)
	}
	return left
}

// within reports whether schedules may begin.
func (s *search) within() bool {
	return s.report.Schedules < s.cfg.Schedules && time.Since(s.begun) < s.cfg.Within
}

// play runs schedules on all cores.
func (s *search) play(players []*player) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(players)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(players); i = next.Add(1) - 1 {
				players[i].play(s.t)
				s.doing.Delete(players[i])
			}
		})
	}
	workers.Wait()
}

// absorb adds what a schedule found: its states, and the branches that begin at them.
// It reports whether the schedule failed.
func (s *search) absorb(p *player, cost int) bool {
	for i := len(p.script); i < len(p.points); i++ { // the branches before are known
		at := &p.points[i]
		if s.seen[at.state] && !s.cfg.Full {
			return false // seen by another of the batch
		}
		s.seen[at.state] = true
		for n, label := range at.labels {
			if n != at.chosen {
				s.branch(p.points[:i], at, label, cost+at.costs[n])
			}
		}
	}

	if p.err == nil {
		return false
	}

	s.fail(p)
	return true
}

// branch adds a branch after some points.
func (s *search) branch(points []point, at *point, label string, cost int) {
	for len(s.queues) <= cost {
		s.queues = append(s.queues, nil)
	}
	s.queues[cost] = append(s.queues[cost], branch{append(made(points), label), at})
}

// fail reports a failure, after the schedule has run once more for the drawing.
func (s *search) fail(p *player) {
	schedule := made(p.points)
	again := s.player(schedule)
	again.trace = true
	again.play(s.t)
	f := &Failure{Err: p.err, Schedule: strings.Join(schedule, ","), Drawing: again.drawing.String()}
	if again.err == nil {
		f.Err = fmt.Errorf("%w (the same schedule once more did not fail: does a check read what callers of other schedules write?)", p.err)
	}
	if f.Schedule == "end" {
		f.Err = fmt.Errorf("%w (no caller made a request: do they use p.Client?)", f.Err)
	}
	s.report.Failure = f
}

// replay runs one schedule.
func (s *search) replay(schedule string) Report {
	defer s.watch()()
	p := s.player(strings.Split(schedule, ","))
	p.trace = true
	p.play(s.t)
	s.report.Schedules, s.report.replayed = 1, true
	if p.err != nil {
		s.report.Failure = &Failure{Err: p.err, Schedule: schedule, Drawing: p.drawing.String()}
	}
	return s.report
}

// sample runs random schedules, and counts the states that nothing had seen.
func (s *search) sample() {
	for n := 0; n < s.cfg.Samples && s.report.Failure == nil; {
		var players []*player
		for ; len(players) < batch && n < s.cfg.Samples; n++ {
			p := s.player(nil)
			p.pick = newSampler(s.cfg.Seed, uint64(n)).pick
			players = append(players, p)
		}

		s.play(players)
		for _, p := range players {
			s.report.Schedules++
			for _, at := range p.points {
				s.seen[at.state] = true
			}
			if p.err != nil {
				s.fail(p)
				break
			}
		}

		s.tell()
	}
}

// tell says how far a long search is.
func (s *search) tell() {
	if time.Since(s.told) < tellAfter {
		return
	}
	s.told = time.Now()
	s.t.Logf("explore: %d schedules, %d states, %d schedules to go, after %v", s.report.Schedules, len(s.seen), s.left(), time.Since(s.begun).Round(time.Second))
}

// watch panics if no schedule makes a step for long: a bubble hangs, and nothing can
// end it.
func (s *search) watch() (stop func()) {
	done := make(chan struct{})
	go func() {
		for last := int64(-1); ; {
			select {
			case <-done:
				return
			case <-time.After(stuckAfter):
			}

			if now := s.steps.Load(); now != last {
				last = now
				continue
			}

			var steps []string
			s.doing.Range(func(_, what any) bool { steps = append(steps, what.(string)); return true })
			stacks := make([]byte, 1<<20)

			panic(fmt.Sprintf("explore: %s: nothing moves after the step %s: does a caller hold a mutex during a request, use a socket, or loop without end?\n\n%s",
				s.t.Name(), strings.Join(steps, " or "), stacks[:runtime.Stack(stacks, true)]))
		}
	}()

	return func() { close(done) }
}
