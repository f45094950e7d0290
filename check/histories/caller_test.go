package histories_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// caller makes one call at a time, through the SDK's client with its retries.
type caller struct {
	id     int
	w      *world
	client *dynamodb.Client
	random *rand.ChaCha8 // for nonces
	calls  chan *call
	call   *call // the call under way; for the world to read

	mu     sync.Mutex // guards what follows
	offset time.Duration
	part   *part // under way
}

// call is a call for a caller to make.
type call struct {
	caller *caller
	key    string
	in     any
	// do makes the call and returns the answer, nil if the model should not
	// judge it.
	do     func(ctx context.Context) (answer any)
	cancel context.CancelFunc
}

// part is a call, or a step of a call that the model sees as several.
type part struct {
	caller     *caller
	key        string
	in         any
	out        any // nil without an answer
	start, end int64
	began      time.Time
	clocks     []time.Time // what the caller's clock said meanwhile
	heard      *arrival    // the last write whose reply the caller heard
	once       bool        // heard must not arrive twice
	long       bool        // the call may make new requests for any time
	op         string      // of the request whose reply is the answer, "" for any
}

func newCaller(w *world, id int) *caller {
	c := &caller{
		id: id, w: w, offset: randomOffset(w.rnd), calls: make(chan *call),
		random: rand.NewChaCha8([32]byte{byte(id), byte(w.seed), byte(w.seed >> 8), byte(w.seed >> 16), byte(w.seed >> 24)}),
	}
	c.client = w.server.Client(func(o *dynamodb.Options) {
		o.HTTPClient = carrier{w: w, caller: c}
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.RateLimiter = ratelimit.None
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	})
	return c
}

func (c *caller) busy() bool { return c.call != nil }

// live makes the calls. It ends with the world.
func (c *caller) live() {
	for call := range c.calls {
		ctx, cancel := context.WithCancel(context.Background())
		call.cancel = cancel
		out := call.do(ctx)
		cancel()
		c.answer(out)
		c.call = nil
	}
}

// begin lets an idle caller make a call.
func (w *world) begin(c *caller, call *call) {
	c.call = call
	c.turn(call.key, call.in)
	c.calls <- call
}

// turn begins a part, and ends the one before without an answer.
func (c *caller) turn(key string, in any) *part {
	p := &part{caller: c, key: key, in: in, start: 4*c.w.step.Load() + 2, began: c.w.clock()}
	c.mu.Lock()
	c.part = p
	c.mu.Unlock()
	c.w.mu.Lock()
	c.w.parts = append(c.w.parts, p)
	c.w.mu.Unlock()
	return p
}

// answer ends the part under way.
func (c *caller) answer(out any) {
	p := c.current()
	p.out, p.end = out, 4*c.w.step.Load()+3
}

func (c *caller) current() *part {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.part
}

// time returns what the caller's clock says.
func (c *caller) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.w.clock().Add(c.offset)
}

// now is the clock of the caller's stores. It remembers the times that they
// read, so that the model can judge by them.
func (c *caller) now() time.Time {
	now := c.time()
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.part; p != nil && !slices.ContainsFunc(p.clocks, now.Equal) {
		p.clocks = append(p.clocks, now)
	}
	return now
}

func (c *caller) set(offset time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset = offset
}

// gate is where work waits until the world says how it ends.
type gate struct {
	caller *caller
	opened chan int // a random number
}

// wait returns a random number when the world says so, and false if the context
// ends first.
func (c *caller) wait(ctx context.Context, heedless bool) (int, bool) {
	g := &gate{caller: c, opened: make(chan int, 1)}
	c.w.mu.Lock()
	c.w.gates = append(c.w.gates, g)
	c.w.mu.Unlock()
	ended := ctx.Done()
	if heedless {
		ended = nil
	}
	select {
	case n := <-g.opened:
		return n, true
	case <-ended:
		c.w.mu.Lock()
		c.w.gates = slices.DeleteFunc(c.w.gates, func(other *gate) bool { return other == g })
		c.w.mu.Unlock()
		return 0, false
	}
}

func (w *world) open(g *gate) {
	w.mu.Lock()
	w.gates = slices.DeleteFunc(w.gates, func(other *gate) bool { return other == g })
	w.mu.Unlock()
	g.opened <- w.rnd.IntN(100)
}
