// Package post brings each fact from the outbox to the sink once. One poster works
// at a time.
//
// # A post
//
// The poster that holds the lease reads what is pending. It first posts what
// this discloses about contacts and deals, and then the facts. For each post it
//
//  1. waits until the sink's limits allow it;
//  2. writes into the poster's row which batch it is about to post, under the fence
//     of its lease: if a successor has already written, the write is refused;
//  3. renews the lease;
//  4. posts;
//  5. marks the facts as posted.
//
// After a crash the next poster finds the batch in the poster's row and asks the
// sink which of its rows it has. The poster marks those, and posts the others
// again. It does the same when the reply to a post is lost.
//
// # What this promises
//
// A fact that is in the outbox reaches the sink. Only in these cases the sink has
// it twice, with one key, and the report's measures still count it once:
//
//   - A reply was lost, or the poster crashed, and the sink cannot be asked
//     (sink.ErrCannotAsk). Sums.Reposted counts the facts that were posted
//     again.
//   - The sink does not show an earlier post within AskAfter.
//   - A poster was stopped between steps 3 and 4 for longer than its lease, and
//     posts after its successor has already asked and posted. Its next post is
//     refused.
//
// Rows of contacts and deals have no batch: they are posted again after a lost
// reply or a crash. The last row of each is still right, because the last time of
// the rows is written down before they are posted, and rows of a successor get
// later times.
//
// # Trouble
//
// If the sink may accept rows later, the poster waits and keeps the lease. If the
// sink refuses rows, the poster halves the post until the fact at fault is alone,
// and leaves that fact aside. The fact stays pending and is logged with its key and
// the reason. A day later it is tried again with the others. A table that is full, or
// to which nothing gets through, is left aside for ten minutes: its facts are not even
// read, and facts of other tables go on. Facts that disclose something for a table of
// contacts or deals that is left aside wait for it, and a window of them holds up the
// others of their table. Only this process knows what it left aside: another process
// tries it at once. Facts of a table that is not one of fact.FactTables are never read:
// outbox.PutItem refuses them.
//
// # Figures
//
// outbox.Sums are in the poster's row. The write that begins the next batch counts the
// one before, so each batch is counted once: if its poster ends before, the next one
// settles and counts it. A poster that loses its lease during a post marks its facts
// with the batch's name and " late", and writes a row of its own about them: the facts
// that its successor had marked are in the sink twice. If it also dies before that, or
// never gets the answer, nobody sees it.
//
// # Words
//
//	turn    one holding of the lease, until nothing is pending (turn.go)
//	pass    a window of facts for each table in turn (facts.go)
//	group   the facts of one window, and before them what they disclose (dimensions.go)
//	pieces  the rows of a group in posts, halved when one is refused (pieces.go)
package post

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/internal/sleep"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
	"github.com/homeops/ddbpatterns/ledger"
)

const (
	leaseFor = 2 * time.Minute // how long everything waits after a crash, plus the ledger's MaxSkew
	renewAt  = leaseFor / 3
	grace    = 10 * time.Second // for a post under way when the context ends

	// window is how many facts are read at a time if the sink does not limit the
	// rows of a post. It is also how many facts may be left aside.
	window = 10_000
)

// Clock is the poster's time.
type Clock interface {
	Now() time.Time
	// Sleep returns an error if the context ends first. It is called before each
	// post, even with 0, and its error ends the turn there.
	Sleep(ctx context.Context, d time.Duration) error
}

// NewLease returns the store of the poster's lease, in the ledger's own table. The
// lease is never completed, and crashes must never lock it, so it has a Store of
// its own that allows any number of attempts. Everything else is as in the ledger's
// Config, whose Retention must be longer than the lease of two minutes.
func NewLease(db ledger.API, table string, cfg *ledger.Config) (*ledger.Store, error) {
	var c ledger.Config
	if cfg != nil {
		c = *cfg
	}
	c.Lease, c.MaxAttempts = leaseFor, math.MaxInt32
	return ledger.New(db, table, &c)
}

// Poster posts facts. Lease, Outbox and Sink must be set. Only one goroutine may
// use it, but others may read Tally and LastError.
type Poster struct {
	Lease  *ledger.Store // from NewLease
	Key    string        // of the lease; defaults to QUILL:POSTER
	Outbox *outbox.Store
	Sink   sink.Sink
	Clock  Clock        // defaults to the wall clock
	Log    *slog.Logger // defaults to none
	Tally  *Tally       // defaults to one of its own
	// AskAfter is how long after a post the poster asks the sink for it. Defaults
	// to two minutes.
	AskAfter time.Duration
	// Idle is how long Run waits when nothing is pending, or when another poster
	// holds the lease. Defaults to 5 s.
	Idle time.Duration

	once  sync.Once
	bad   error
	facts asides         // by the fact's key
	shut  asides         // by table
	size  map[string]int // of the next post to a table, after a refusal

	mu   sync.Mutex
	last error
}

func (p *Poster) fill() error {
	p.once.Do(func() {
		switch {
		case p.Lease == nil:
			p.bad = event.BadInput("post", "Lease", "must not be nil")
		case p.Outbox == nil:
			p.bad = event.BadInput("post", "Outbox", "must not be nil")
		case p.Sink == nil:
			p.bad = event.BadInput("post", "Sink", "must not be nil")
		}
		if p.Key == "" {
			p.Key = "QUILL:POSTER"
		}
		if p.Clock == nil {
			p.Clock = wall{}
		}
		if p.Log == nil {
			p.Log = slog.New(slog.DiscardHandler)
		}
		if p.Tally == nil {
			p.Tally = &Tally{}
		}
		if p.AskAfter == 0 {
			p.AskAfter = 2 * time.Minute
		}
		if p.Idle == 0 {
			p.Idle = 5 * time.Second
		}
		p.facts, p.shut, p.size = asides{}, asides{}, map[string]int{}
	})
	return p.bad
}

// LastError returns what keeps the poster from posting all that is pending. It is
// nil after a turn that posted all, and as long as nothing has gone wrong. While
// the poster waits for the sink, it is the reason.
func (p *Poster) LastError() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

func (p *Poster) setLast(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = err
}

// Run posts what is pending until the context or the clock ends, and then returns
// nil. While another poster holds the lease, it waits. After an error it tries
// again after a second, and after twice as long each time, up to a minute.
func (p *Poster) Run(ctx context.Context) error {
	if err := p.fill(); err != nil {
		return err
	}
	for troubles := 0; ; {
		wait := p.Idle
		var left *LeftError
		err := p.drainPending(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil, isBusy(err):
			troubles = 0
		case errors.As(err, &left): // logged; many of them make each read expensive
			wait = max(wait, min(time.Duration(left.Facts)*10*time.Millisecond, time.Minute))
			troubles = 0
		case errors.Is(err, ledger.ErrLeaseLost), errors.Is(err, outbox.ErrFenced):
			p.Log.Info("another poster has taken over", "error", err)
		default:
			if end := p.Clock.Sleep(ctx, 0); end != nil && errors.Is(err, end) {
				return nil
			}
			wait = backOff(troubles)
			troubles++
			p.Log.Error("posting failed", "error", err, "again", wait)
		}
		if p.Clock.Sleep(ctx, wait) != nil {
			return nil
		}
	}
}

// drainPending is a Drain that takes the lease only when something is pending.
func (p *Poster) drainPending(ctx context.Context) error {
	left := &LeftError{}
	for _, table := range fact.FactTables {
		if p.isShut(table, left) {
			continue
		}
		facts, err := p.Outbox.Pending(ctx, table, 1)
		if err != nil {
			p.setLast(err)
			return err
		}
		if len(facts) > 0 {
			return p.Drain(ctx)
		}
	}
	p.setLast(left.orNil())
	return left.orNil()
}

// Drain takes the lease, posts all that is pending and gives the lease back. If
// another poster holds it, Drain returns a *ledger.InProgressError at once: that
// poster posts the same facts. The error is a *LeftError when facts were left aside
// and all others posted.
//
// When the context ends, a post under way has ten seconds to be answered, and its
// facts have ten seconds to be marked. The next turn asks the sink about the rest.
//
// Price: 5 requests without a fact: claim, three reads, release. Each post adds a write
// of the poster's row (1 or 2 WCU) and a renewal (1 WCU) to what the outbox's Pending,
// Known, Learn and MarkPosted cost for its facts.
func (p *Poster) Drain(ctx context.Context) error {
	if err := p.fill(); err != nil {
		return err
	}
	err := p.turn(ctx)
	if !isBusy(err) && ctx.Err() == nil {
		p.setLast(err)
	}
	return err
}

// turn is one holding of the lease.
func (p *Poster) turn(ctx context.Context) error {
	claim, err := p.Lease.Claim(ctx, ledger.Request{Key: p.Key, Lease: leaseFor})
	if err != nil {
		return err
	}
	t := &turn{Poster: p, claim: claim, renewed: p.Clock.Now(), alone: map[string]int{}}
	defer t.release(ctx)
	used, err := p.Outbox.LoadPoster(ctx)
	if err != nil {
		return err
	}
	t.budget = newBudget(p.Sink.Limits(), used, p.Clock.Now())
	t.saved, t.budget.used.Fence = used.Batch, claim.Fence
	if err := t.takeOver(ctx); err != nil {
		return err
	}
	for {
		left, over, err := t.pass(ctx)
		if err != nil {
			return err
		}
		if over {
			return cmp.Or(t.close(ctx), left.orNil())
		}
	}
}

func isBusy(err error) bool {
	_, ok := errors.AsType[*ledger.InProgressError](err)
	return ok
}

// LeftError says that facts or tables were left aside. They stay pending.
type LeftError struct {
	Facts  int      // among the facts that were read
	Tables []string // whose facts were not read
	Err    error    // why one of them was left aside
}

// Error says how many facts, which tables, and why one of them was left aside.
func (e *LeftError) Error() string {
	what := fmt.Sprintf("%d pending facts", e.Facts)
	if len(e.Tables) > 0 {
		what += " and all facts of " + strings.Join(e.Tables, ", ")
	}
	return fmt.Sprintf("post: %s are left aside: %v", what, e.Err)
}

// Unwrap returns the reason.
func (e *LeftError) Unwrap() error { return e.Err }

func (e *LeftError) orNil() error {
	if e.Err == nil {
		return nil
	}
	return e
}

// backOff is how long to wait after so many failures in a row.
func backOff(troubles int) time.Duration {
	return min(time.Second<<min(troubles, 10), time.Minute)
}

// wall is the wall clock.
type wall struct{}

func (wall) Now() time.Time { return time.Now() }

func (wall) Sleep(ctx context.Context, d time.Duration) error {
	return sleep.For(ctx, d)
}
