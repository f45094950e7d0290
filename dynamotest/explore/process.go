package explore

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// caller is a process of a schedule, in all of its lives.
type caller struct {
	name   string
	index  int
	run    func(context.Context, *Process)
	offset time.Duration // of its clock
	life   *Process      // the present one

	// heard is the hash of all that the present life knows: the requests that were
	// answered, with the answers and the times.
	heard hash

	received int  // deliveries, by [Handler]
	gaveUp   bool // a request of the present one, at a deadline
}

// lives reports whether the caller has begun, and has still to return.
func (c *caller) lives() bool { return c.life != nil && !c.life.returned }

// Process is one life of a caller.
type Process struct {
	// Life counts the lives of the caller from 1. A later one begins when the caller
	// has died. It remembers nothing; the clock goes on.
	Life int

	w      *world
	caller *caller
	client *dynamodb.Client
	random *lockedRand
	cancel context.CancelFunc

	// The world's mutex guards what follows.
	dead     bool      // the process stands still
	read     time.Time // the last reading of its clock
	returned bool
}

// Client is a client whose requests the explorer orders. It makes Config.Attempts
// attempts without a pause between them, and takes the tokens of transactions from
// Rand.
func (p *Process) Client() *dynamodb.Client { return p.client }

// Now is the caller's clock. It stands still unless the explorer lets time pass.
func (p *Process) Now() time.Time {
	p.mustLive()
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	now := p.w.now()
	if p.read != now { // its future may depend on that
		p.read = now
		p.caller.heard = sum(fmt.Appendf(p.caller.heard[:], " read %d", now.UnixNano()))
	}
	return now.Add(p.caller.offset)
}

// mustLive returns only in a process that lives. If it is dead, or the schedule is over,
// its goroutine waits for the end of the schedule and ends.
func (p *Process) mustLive() {
	p.w.mu.Lock()
	gone := p.dead || p.w.done
	p.w.mu.Unlock()
	if gone {
		p.w.endGoroutine()
	}
}

// Rand is a random source that gives the same bytes in each schedule. Stores of this
// module take it as Config.Rand. It is safe for concurrent use.
func (p *Process) Rand() io.Reader { return p.random }

// Do has an effect outside DynamoDB, such as a message that is sent. The explorer
// orders it like a request: the caller may die before or after it, and its reply may
// be lost. Then Do returns an error although f was called. F may be nil; it must not
// make requests or wait. [View.Effects] counts the effects by name, even if f returns an
// error. If the receiver refuses a second effect with the same key, leave the effect out
// of [Deliveries].Once. Of the kinds of [Faults], only Deaths and Unheard are for effects.
func (p *Process) Do(name string, f func() error) error {
	q := &request{process: p, effect: name, do: f, answered: make(chan answer, 1)}
	got, err := p.w.send(context.Background(), q)
	if err != nil {
		return err
	}
	return got.err
}

// Note adds to the notes that [View.Notes] returns. Their order is part of the state,
// so a check that depends on the order of what callers did must read it from notes,
// and not from variables that callers share.
func (p *Process) Note(format string, args ...any) {
	p.mustLive()
	p.w.note(p.caller.name + ": " + fmt.Sprintf(format, args...))
}

// lockedRand is a random source for several goroutines.
type lockedRand struct {
	mu  sync.Mutex
	src *rand.ChaCha8
}

func (r *lockedRand) Read(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.src.Read(b)
}

// GetIdempotencyToken gives a transaction its token.
func (r *lockedRand) GetIdempotencyToken() (string, error) {
	var b [16]byte
	_, err := r.Read(b[:])
	return fmt.Sprintf("%x", b), err
}

// begin starts the next life of a caller.
func (w *world) begin(c *caller) {
	life := 1
	if c.life != nil {
		life = c.life.Life + 1
	}

	ctx, cancel := context.WithCancel(context.Background())
	p := &Process{
		Life: life, w: w, caller: c, cancel: cancel,
		random: &lockedRand{src: rand.NewChaCha8([32]byte{byte(c.index), byte(life)})},
	}
	p.client = w.server.Client(func(o *dynamodb.Options) {
		o.HTTPClient = &client{w, p}
		o.IdempotencyTokenProvider = p.random
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.RateLimiter, o.MaxAttempts = ratelimit.None, w.cfg.Attempts
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	})

	c.life = p
	// It has heard nothing yet: the hash begins with who it is, and when.
	c.heard = sum(fmt.Appendf(nil, "%s %d %d %d", c.name, life, c.offset, time.Now().UnixNano()))
	w.lives = append(w.lives, p)
	go func() {
		defer p.ends()
		if w.cfg.Moves > 0 { // it waits here until the explorer lets it begin, perhaps later
			_, _ = w.send(ctx, &request{process: p, begins: true, answered: make(chan answer, 1)})
		}
		c.run(ctx, p)
	}()
}

// ends is called when a life returns, panics or goes.
func (p *Process) ends() {
	cause := recover()
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.returned = true
	if cause != nil && !p.dead && p.w.broken == nil {
		var stack [4 << 10]byte
		p.w.broken = fmt.Errorf("%s panicked: %v\n%s", p.caller.name, cause, stack[:runtime.Stack(stack[:], false)])
	}
	if !p.dead || p.w.done {
		p.w.wake()
	}
}

// View is what a check sees.
type View struct{ w *world }

// Client is a client without faults. The explorer does not order its requests.
func (v *View) Client() *dynamodb.Client { return v.w.raw }

// Items returns the items of a table. It panics if the table does not exist, and the
// schedule fails.
func (v *View) Items(table string) []map[string]types.AttributeValue {
	pages := dynamodb.NewScanPaginator(v.w.raw, &dynamodb.ScanInput{TableName: &table, ConsistentRead: new(true)})
	var items []map[string]types.AttributeValue
	for pages.HasMorePages() {
		page, err := pages.NextPage(context.Background())
		if err != nil {
			panic(fmt.Sprintf("explore: Items of table %s: %v", table, err))
		}
		items = append(items, page.Items...)
	}
	return items
}

// Now is the server's clock.
func (v *View) Now() time.Time { return time.Now() }

// Notes returns the notes of all callers, in the order in which they were made; those of
// callers that woke together, by name. Each begins with its caller, as in "ann: paid".
func (v *View) Notes() []string {
	v.w.mu.Lock()
	defer v.w.mu.Unlock()
	return slices.Clone(v.w.notes)
}

// Effects returns how often each effect of [Process.Do] happened, by name.
func (v *View) Effects() map[string]int {
	v.w.mu.Lock()
	defer v.w.mu.Unlock()
	return maps.Clone(v.w.effects)
}
