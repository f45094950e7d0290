package demo_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/quill/demo"
	"github.com/homeops/ddbpatterns/examples/quill/demo/stream"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
)

var (
	histories = flag.Int("histories", 16, "random histories to run")
	firstSeed = flag.Uint64("seed", 1, "of the first history")
)

// Several webhooks and two posters run side by side and end now and then, requests
// and replies are lost, and DynamoDB and Power BI throttle. In some histories Power
// BI cannot be asked, or all clocks jump, or a poster stands still for longer than
// its lease. In the end Power BI has each fact, and only once unless the posters
// say otherwise.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	for i := range uint64(*histories) {
		seed := *firstSeed + i
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { newHistory(t, seed).run() })
		})
	}
}

// history is one run.
type history struct {
	*world
	rand  *rand.Rand
	seed  uint64
	asks  bool // Power BI can be asked
	jumps bool // clocks jump

	mu        sync.Mutex
	processes []*process
}

const (
	historyEvents = 60
	webhooksAlive = 3
	postersAlive  = 2
	sendersAlive  = 4
)

func newHistory(t *testing.T, seed uint64) *history {
	h := &history{world: newWorld(t, 5*time.Millisecond), rand: rand.New(rand.NewPCG(seed, 1)), seed: seed}
	h.asks, h.jumps = seed%3 != 0, seed%4 == 0
	h.powerBI.RefuseAsking(!h.asks)
	return h
}

// disturb makes requests fail.
func (h *history) disturb() {
	for i, f := range []dynamotest.Fault{
		{Do: dynamotest.LoseReply},
		{Do: dynamotest.LoseRequest},
		{Do: dynamotest.Throttle},
		{Do: dynamotest.InternalError},
		{Do: dynamotest.Unavailable.After()},
		{Do: dynamotest.Conflict, Op: "TransactWriteItems"},
	} {
		f.Chance, f.Seed = 0.03, h.seed+uint64(i)<<32 // close seeds would be alike
		h.db.Server().Tap().Inject(f)
	}
	if h.seed%5 == 0 { // longer than the lease: another poster has taken over meanwhile
		h.db.Server().Tap().Inject(dynamotest.Fault{
			Do: dynamotest.Delay(4 * time.Minute), Op: "PutItem", Table: demo.FactsTable, Chance: 0.1, Seed: h.seed + 1<<48,
		})
	}
	for n := range 40 {
		fault := powerbitest.Fault(h.rand.IntN(16)) // mostly none
		if fault >= powerbitest.LoseRequest && fault <= powerbitest.UnavailableAfter {
			h.powerBI.OnPost(n+1, fault)
		}
		if h.rand.IntN(4) == 0 {
			h.powerBI.OnAsk(n+1, powerbitest.Fault(1+h.rand.IntN(4)))
		}
	}
	h.powerBI.Unauthorized(h.rand.IntN(3))
}

// born returns a process that ends at one of its first requests, or does not end
// with 0.
func (h *history) born(ctx context.Context, most int) *process {
	h.mu.Lock()
	defer h.mu.Unlock()
	nth := 0
	if most > 0 {
		nth = 1 + h.rand.IntN(most)
	}
	p := h.process(demo.NewLife(ctx, nth, h.rand.IntN(2) == 0))
	h.processes = append(h.processes, p)
	return p
}

// slot holds a process, and its successor when that has ended.
type slot struct {
	mu   sync.Mutex
	p    *process
	next func() *process
}

func (s *slot) current() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.p == nil || s.p.life.Over() {
		s.p = s.next()
	}
	return s.p
}

func (h *history) run() {
	h.disturb()
	ctx, stop := context.WithCancel(h.t.Context())
	defer stop()
	var posters sync.WaitGroup
	for range postersAlive {
		posters.Go(func() {
			for ctx.Err() == nil {
				p := h.born(ctx, 60)
				if err := p.Poster.Run(p.life.Context()); err != nil {
					h.t.Error(err)
				}
			}
		})
	}
	if h.jumps {
		posters.Go(func() {
			for h.Sleep(ctx, 20*time.Second) == nil {
				h.jump(90 * time.Second)
			}
		})
	}
	want := h.sendAll(ctx)
	_ = h.Sleep(ctx, time.Minute)
	stop()
	posters.Wait()
	h.db.Server().Tap().Heal()
	h.powerBI.Unauthorized(0)
	_ = h.Sleep(h.t.Context(), time.Hour) // leases and limits end
	last := h.process(demo.NewLife(h.t.Context(), 0, false))
	h.processes = append(h.processes, last)
	h.drain(func() *process { return last })
	h.judge(want)
}

// wanted is the right outcome of a history.
type wanted struct {
	stream.Want
	facts map[string]bool
	known demo.Knowledge
}

// sendAll makes the senders send all requests, each until it is answered.
func (h *history) sendAll(ctx context.Context) wanted {
	want := wanted{facts: map[string]bool{}, known: demo.Knowledge{}}
	var slots []*slot
	for range webhooksAlive {
		lives := 0
		slots = append(slots, &slot{next: func() *process {
			if lives++; lives > 4 { // a sender does not try for ever
				return h.born(ctx, 0)
			}
			return h.born(ctx, 200)
		}})
	}
	requests := make(chan stream.Request)
	var senders sync.WaitGroup
	for range sendersAlive {
		senders.Go(func() {
			n := 0
			s := h.sender(func() *process { n++; return slots[n%webhooksAlive].current() })
			for r := range requests {
				answer, _, err := s.Send(ctx, r)
				if w := r.Want; err != nil || answer.Received != w.Received || answer.Refused != w.Refused || answer.Ignored != w.Ignored ||
					answer.New+answer.Duplicate+answer.Waiting != w.New+w.Duplicate+w.Waiting {
					h.t.Errorf("seed %d: %s with %d events was answered %+v: %v", h.seed, r.Path, w.Received, answer, err)
				}
			}
		})
	}
	for r := range stream.Of(h.seed, historyEvents) {
		for _, old := range r.Old {
			for demo.WriteOld(ctx, h.db.Client(), old, h.Now()) != nil { // disturbed, too
				_ = h.Sleep(ctx, time.Second)
			}
		}
		want.Add(r.Want)
		for _, key := range r.Want.Facts {
			want.facts[key] = true
		}
		want.known.Add(r.Want.Known)
		requests <- r
		_ = h.Sleep(ctx, 300*time.Millisecond)
	}
	close(requests)
	senders.Wait()
	return want
}

func (h *history) judge(want wanted) {
	twice, wrong := h.judgeFacts(want.facts)
	for _, w := range append(wrong, want.known.Wrong(h.powerBI)...) {
		h.t.Errorf("seed %d: %s", h.seed, w)
	}
	unknown := 0
	var sum intake.Counts
	for _, p := range h.processes {
		c := p.in.Snapshot()
		if c.New+c.Duplicate+c.Refused+c.Waiting+c.Ignored != c.Received {
			h.t.Errorf("seed %d: the counts do not add up: %+v", h.seed, c)
		}
		sum.New += c.New
		unknown += c.Unstored
	}
	if facts := len(want.facts); sum.New > facts || sum.New+unknown < facts {
		h.t.Errorf("seed %d: %d facts, and %d are counted as new, %d as unstored", h.seed, facts, sum.New, unknown)
	}
	sums := h.sums(h.processes[len(h.processes)-1])
	again := sums.Reposted + sums.Doubled
	h.t.Logf("seed %d: %d facts, %d processes, %d twice, %d again, %d unstored, asks %t jumps %t", h.seed, len(want.facts), len(h.processes), twice, again, unknown, h.asks, h.jumps)
	if h.jumps { // a poster may be overtaken between its renewal and its post
		return
	}
	if n := sums.Posted + sums.Recovered; n != len(want.facts) {
		h.t.Errorf("seed %d: %+v of %d facts", h.seed, sums, len(want.facts))
	}
	if twice > again || h.asks && twice > 0 {
		h.t.Errorf("seed %d: %d facts are in Power BI twice, and %d are reported", h.seed, twice, again)
	}
}

// sums are the stored figures of all posters.
func (w *world) sums(p *process) outbox.Sums {
	w.t.Helper()
	stored, err := p.Outbox.LoadPoster(w.t.Context())
	late, err2 := p.Outbox.Late(w.t.Context())
	if err := errors.Join(err, err2); err != nil {
		w.t.Fatal(err)
	}
	return stored.Sums.Plus(late)
}
