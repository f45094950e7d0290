package histories_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

// story is for a package under test: what callers do with it, and its model.
type story interface {
	tables() []schema.Table
	// begin writes the first rows and returns the calls that are made before
	// the trouble begins.
	begin() []*call
	// next returns a call that the caller may make.
	next(c *caller) *call
	// intrude may write something as an older system.
	intrude()
	// keen reports whether the caller has something to continue.
	keen(c *caller) bool
	// waited reports whether it would be a rare event if the request arrived
	// now.
	waited(f *flight) bool
	// delay is the greatest age at which a request may still arrive.
	delay() time.Duration
	// leaps returns spans of time after which the state is different.
	leaps() []time.Duration
	// wrong says what is wrong at this moment, or "".
	wrong() string
	// end returns the calls that read the final rows.
	end() []*call
	// verdict says what is wrong with the final rows, or "".
	verdict() string

	model
}

// clockRange is how far callers' clocks may be off, in either direction.
const clockRange = time.Minute

// world is a history under way. Its methods run on one goroutine, and only
// while all others wait for it.
type world struct {
	seed   uint64
	rnd    *rand.Rand
	mood   mood
	server *dynamotest.Server
	raw    *dynamodb.Client // a network without faults
	story  story

	callers []*caller
	left    int  // calls still to make
	calm    bool // no more faults
	step    atomic.Int64
	broken  string // what went wrong at some moment

	mu     sync.Mutex // guards what follows: a timer may wake several callers
	now    time.Time  // true time, which is the server's
	frozen bool       // while callers come to rest
	woke   time.Time  // the bubble's time when now was set
	sky    []*flight  // requests whose callers wait
	gates  []*gate    // work that waits to be told how it ends

	ahead    time.Duration // of the bubble's clock before now
	past     []*flight     // requests that may arrive, or arrive again
	arrivals []*arrival    // that took effect
	parts    []*part
	notes    []note
}

// epoch is when histories begin: noon in UTC.
var epoch = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func newWorld(seed uint64, tell func(*world) story) *world {
	w := &world{seed: seed, rnd: rand.New(rand.NewPCG(seed, 0)), now: epoch, frozen: true}
	w.server = dynamotest.NewServer(&dynamotest.Config{Now: w.clock})
	w.raw = w.server.Client()
	w.mood = moods[w.rnd.IntN(len(moods))]
	for id := range 8 {
		w.callers = append(w.callers, newCaller(w, id))
	}
	w.left = 25 + w.rnd.IntN(30)
	w.story = tell(w)
	return w
}

// clock is the true time.
func (w *world) clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.frozen {
		return w.now
	}
	return w.now.Add(time.Since(w.woke))
}

// run makes the history, in a bubble.
func (w *world) run(ctx context.Context) error {
	if err := schema.Create(ctx, w.raw, w.story.tables()...); err != nil {
		return err
	}
	defer func() {
		for _, c := range w.callers {
			close(c.calls)
		}
	}()
	for _, c := range w.callers {
		go c.live()
	}
	w.finish(w.story.begin())
	w.calm = false
	for w.broken == "" && (w.left > 0 || slices.ContainsFunc(w.callers, (*caller).busy)) {
		if w.step.Load() > 20_000 {
			return fmt.Errorf("the history has no end")
		}
		w.next()
	}
	w.calm = true
	for _, c := range w.callers {
		if c.call != nil {
			c.call.cancel()
		}
	}
	w.finish(nil)
	for range 3 {
		w.late()
		w.turn()
	}
	w.finish(w.story.end())
	return nil
}

// finish makes calls one by one, without faults.
func (w *world) finish(calls []*call) {
	w.calm = true
	for {
		switch {
		case len(w.sky) > 0:
			w.serve(w.sky[0])
		case len(w.gates) > 0:
			w.open(w.gates[0])
		case slices.ContainsFunc(w.callers, (*caller).busy):
			w.pass(time.Second)
		case len(calls) > 0:
			w.begin(calls[0].caller, calls[0])
			calls = calls[1:]
		default:
			return
		}
		w.turn()
	}
}

// next is one step of the history.
func (w *world) next() {
	idle := slices.DeleteFunc(slices.Clone(w.callers), (*caller).busy)
	begin := w.mood.begin
	if w.left == 0 || len(idle) == 0 {
		begin = 0
	}
	choices := []struct {
		weight int
		do     func()
	}{
		{begin, func() { w.left--; c := w.who(idle); w.begin(c, w.story.next(c)) }},
		{w.mood.serve * min(1, len(w.sky)), func() { w.serve(pick(w.rnd, w.sky)) }},
		{w.mood.serve * min(1, len(w.gates)), func() { w.open(pick(w.rnd, w.gates)) }},
		{w.mood.late * min(1, len(w.past)), w.late},
		{w.mood.pass, func() { w.pass(time.Duration(w.rnd.Int64N(int64(4 * time.Minute)))) }},
		{w.mood.leap, func() { w.pass(pick(w.rnd, w.story.leaps())) }},
		{w.mood.sweep, w.sweep},
		{w.mood.cancel * min(1, len(w.callers)-len(idle)), w.cancel},
		{2, w.shift},
		{w.mood.intrude, w.story.intrude},
	}
	total := 0
	for _, c := range choices {
		total += c.weight
	}
	roll := w.rnd.IntN(total)
	for _, c := range choices {
		if roll -= c.weight; roll < 0 {
			c.do()
			break
		}
	}
	w.turn()
}

// who chooses the idle caller that makes the next call.
func (w *world) who(idle []*caller) *caller {
	keen := slices.DeleteFunc(slices.Clone(idle), func(c *caller) bool { return !w.story.keen(c) })
	if len(keen) > 0 && w.rnd.IntN(2) == 0 {
		return pick(w.rnd, keen)
	}
	return pick(w.rnd, idle)
}

// turn ends a step, when all goroutines wait.
func (w *world) turn() {
	w.settle(time.Millisecond)
	slices.SortStableFunc(w.sky, func(a, b *flight) int { return a.part.caller.id - b.part.caller.id })
	slices.SortStableFunc(w.gates, func(a, b *gate) int { return a.caller.id - b.caller.id })
	if w.broken == "" {
		w.broken = w.story.wrong()
	}
	w.step.Add(1)
}

// settle waits until nothing moves. It lets pauses up to the given length pass
// without moving the clocks, because the seed does not determine the length of
// a pause.
func (w *world) settle(pauses time.Duration) {
	synctest.Wait()
	time.Sleep(pauses)
	w.ahead += pauses
	synctest.Wait()
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	w.note("", "%v pass", d.Round(time.Millisecond))
	slept := max(0, d-w.ahead)
	w.ahead = max(0, w.ahead-d)
	w.mu.Lock()
	w.now = w.now.Add(d - slept)
	w.frozen, w.woke = false, time.Now()
	w.mu.Unlock()
	time.Sleep(slept)
	synctest.Wait()
	w.mu.Lock()
	w.now, w.frozen = w.now.Add(slept), true
	w.mu.Unlock()
}

// sweep deletes expired rows as TTL does.
func (w *world) sweep() {
	before := w.rows()
	if w.server.ExpireTTL() == 0 {
		return
	}
	after := w.rows()
	for key := range before {
		if after[key] == nil {
			w.happened(key, sweep{at: w.clock().Unix()}, nil)
		}
	}
}

// sweep is what TTL did to a key, at a time in Unix seconds.
type sweep struct{ at int64 }

func (sweep) String() string { return "TTL deletes the row" }

func (w *world) cancel() {
	busy := slices.DeleteFunc(slices.Clone(w.callers), func(c *caller) bool { return !c.busy() })
	c := pick(w.rnd, busy)
	w.note("", "caller %d's context is cancelled", c.id)
	c.call.cancel()
}

// shift sets a caller's clock.
func (w *world) shift() {
	c := pick(w.rnd, w.callers)
	c.set(randomOffset(w.rnd))
	w.note("", "caller %d's clock is %v off", c.id, c.offset)
}

func randomOffset(rnd *rand.Rand) time.Duration {
	return time.Duration(rnd.Int64N(int64(2*clockRange)))/time.Millisecond*time.Millisecond - clockRange
}

func pick[T any](rnd *rand.Rand, from []T) T { return from[rnd.IntN(len(from))] }

// mood says what happens often in a history.
type mood struct {
	begin, serve, late, pass, leap, sweep, cancel, intrude int
	loseRequest, loseReply, holdReply, conflict            int // of a hundred
}

var moods = []mood{
	{begin: 30, serve: 60, late: 4, pass: 6, leap: 2, sweep: 2, cancel: 1, intrude: 1, loseRequest: 10, loseReply: 10, holdReply: 20, conflict: 5},
	{begin: 30, serve: 60, late: 25, pass: 8, leap: 4, sweep: 2, cancel: 1, intrude: 1, loseRequest: 10, loseReply: 10, holdReply: 10, conflict: 2},
	{begin: 30, serve: 40, late: 10, pass: 4, leap: 1, sweep: 1, cancel: 4, intrude: 3, loseRequest: 15, loseReply: 25, holdReply: 30, conflict: 10},
	{begin: 30, serve: 60, late: 6, pass: 5, leap: 5, sweep: 8, cancel: 1, intrude: 2, loseRequest: 5, loseReply: 5, holdReply: 20, conflict: 2},
}
