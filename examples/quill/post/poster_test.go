package post_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/post"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
	"github.com/homeops/ddbpatterns/ledger"
)

// spaced is how far posts are apart in Power BI.
const spaced = 502 * time.Millisecond

func TestDrain(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	facts := mixed(6)
	e.put(facts...)
	p := e.poster()
	e.drain(p)
	e.wantOnce(facts...)
	// 3 contacts at 2 stages, 6 amounts of a deal
	want := post.Counts{Sums: outbox.Sums{Posted: 12, DimensionRows: 12}, Posts: 4}
	got := e.tally.Counts()
	if got.Waited > 3*spaced {
		t.Errorf("waited %s", got.Waited)
	}
	if got.Waited = 0; got != want || e.sums() != want.Sums {
		t.Errorf("counts %+v, stored %+v, want %+v", got, e.sums(), want)
	}
	if got := e.latest(fact.Deals)["HUBSPOT:DEAL:9"]["amount"]; fmt.Sprint(got) != "105" {
		t.Errorf("amount %v, want 105", got)
	}
	stored, _, err := e.outbox.Get(t.Context(), facts[0].Key)
	if err != nil || stored.Batch == "" {
		t.Errorf("stored: %+v, %v", stored, err)
	}
	row := e.bi.Rows(fact.Communications)[0]
	if row["batch"] != stored.Batch || row["at"] != fact.Time(facts[0].At) || row["receivedAt"] != fact.Time(stored.ReceivedAt) {
		t.Errorf("row %v of fact %+v", row, stored)
	}
	open, err := e.outbox.LoadPoster(t.Context())
	if err != nil || open.Batch != "" || open.Total[fact.Changes] != 6 {
		t.Errorf("poster: %+v, %v", open, err)
	}
	e.drain(p) // nothing is pending
	if got := e.sums(); got != want.Sums {
		t.Errorf("counts %+v after nothing, want %+v", got, want)
	}
	if err := p.LastError(); err != nil {
		t.Error(err)
	}
}

func TestDrainCosts(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	p := e.poster()
	cost := e.db.Meter(func() { e.drain(p) })
	cost.Want(t, dynamotest.Price{Requests: 5, RCU: 2, WCU: 2})
}

func TestDrainWhileAnotherPosts(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	e.put(call(1))
	claim, err := e.lease(e.db.Client()).Claim(t.Context(), ledger.Request{Key: "QUILL:POSTER"})
	if err != nil {
		t.Fatal(err)
	}
	p := e.poster()
	var busy *ledger.InProgressError
	if err := p.Drain(t.Context()); !errors.As(err, &busy) {
		t.Fatalf("error %v, want an InProgressError", err)
	}
	if err := p.LastError(); err != nil {
		t.Errorf("another's lease is no trouble: %v", err)
	}
	if err := claim.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.drain(p)
	e.wantOnce(call(1))
}

// There are more crashes than the attempts that a ledger usually allows.
func TestCrashesNeverLockTheLease(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	lease := e.lease(e.db.Client())
	for n := range 50 {
		if _, err := lease.Claim(t.Context(), ledger.Request{Key: "QUILL:POSTER"}); err != nil {
			t.Fatalf("after %d crashes: %v", n, err)
		}
		e.clock.advance(post.LeaseFor + 10*time.Second)
	}
	if _, err := post.NewLease(e.db.Client(), "t", &ledger.Config{Retention: time.Minute}); err == nil {
		t.Error("a retention shorter than the lease")
	}
}

// A holder is stopped just before it writes what it will post.
func TestTheFenceStopsAStalePoster(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	facts := plain(2)
	e.put(facts...)
	s := &hooked{Sink: e.client()}
	p := e.posterOf(s)
	e.db.Inject(dynamotest.Fault{Op: "PutItem", Table: "QuillFacts", Do: dynamotest.Before(func() {
		e.clock.advance(post.LeaseFor + time.Minute)
		e.drain(e.poster())
	})})
	if err := p.Drain(t.Context()); !errors.Is(err, outbox.ErrFenced) || !errors.Is(p.LastError(), outbox.ErrFenced) {
		t.Errorf("error %v, last error %v, want ErrFenced", err, p.LastError())
	}
	if len(s.sizes) > 0 {
		t.Errorf("the stale poster posted %d times", len(s.sizes))
	}
	e.wantOnce(facts...)
}

// Another holder has the lease, and has written nothing yet.
func TestALeaseThatIsLostBeforeAPost(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	e.put(plain(2)...)
	s := &hooked{Sink: e.client()}
	p := e.posterOf(s)
	e.db.Inject(dynamotest.Fault{Op: "PutItem", Table: "QuillFacts", Do: dynamotest.Before(func() {
		e.clock.advance(post.LeaseFor + time.Minute)
		if _, err := e.lease(e.db.Client()).Claim(t.Context(), ledger.Request{Key: "QUILL:POSTER"}); err != nil {
			t.Error(err)
		}
	})})
	if err := p.Drain(t.Context()); !errors.Is(err, ledger.ErrLeaseLost) {
		t.Errorf("error %v, want ErrLeaseLost", err)
	}
	if len(s.sizes) > 0 {
		t.Errorf("the stale poster posted %d times", len(s.sizes))
	}
}

// The process is asked to end while a post is under way, or while it waits for the sink.
func TestTheContextEnds(t *testing.T) {
	t.Parallel()
	for _, wait := range []bool{false, true} {
		e := open(t, powerbitest.Config{})
		e.bi.RefuseAsking(true)
		facts := plain(4)
		e.put(facts...)
		ctx, end := context.WithCancel(t.Context())
		p := e.posterOf(&hooked{Sink: e.client(), limits: sink.Limits{RowsAPost: 2}, post: func(next func() error) error {
			end()
			if wait {
				return &sink.WaitError{Err: errors.New("later")}
			}
			return next()
		}})
		if err := p.Drain(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
		if want := map[bool]int{false: 2, true: 4}[wait]; e.pending() != want {
			t.Errorf("%d facts are pending, want %d", e.pending(), want)
		}
		open, err := e.outbox.LoadPoster(t.Context())
		if err != nil || open.Batch != "" {
			t.Errorf("a batch is open: %+v, %v", open, err)
		}
		e.drain(e.poster()) // at once: the lease was given back
		e.wantOnce(facts...)
		if got := e.tally.Counts(); !wait && got.Reposted+got.Asked > 0 {
			t.Errorf("counts %+v", got)
		}
	}
}

// ending is a clock that ends waits.
type ending struct {
	*clock
	over bool
}

func (c *ending) Sleep(ctx context.Context, d time.Duration) error {
	if c.over {
		return errDead
	}
	return c.clock.Sleep(ctx, d)
}

// A poster whose clock ends its waits finishes the post in hand and begins no
// other, even if it would not have to wait.
func TestTheClockEnds(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	facts := plain(6)
	e.put(facts...)
	c := &ending{clock: e.clock}
	s := &hooked{Sink: e.client(), limits: sink.Limits{RowsAPost: 2}, post: func(next func() error) error {
		c.over = true
		return next()
	}}
	p := e.posterOf(s)
	p.Clock = c
	if err := p.Drain(t.Context()); !errors.Is(err, errDead) {
		t.Errorf("error %v, want the clock's", err)
	}
	if n := e.pending(); n != 4 {
		t.Errorf("%d facts are pending, want 4", n)
	}
	if open, err := e.outbox.LoadPoster(t.Context()); err != nil || open.Batch != "" {
		t.Errorf("a batch is open: %+v, %v", open, err)
	}
	var log strings.Builder
	p.Log, c.over = slog.New(slog.NewTextHandler(&log, nil)), false
	if err := p.Run(t.Context()); err != nil || strings.Contains(log.String(), "ERROR") {
		t.Errorf("an end is not an error: %v, %s", err, log.String())
	}
	e.drain(e.poster())
	e.wantOnce(facts...)
}

// However many processes post, one after the other, they keep within the posts of a
// minute, and a new one waits no longer than the last one would have.
func TestPostsKeepTheirDistance(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	facts := plain(250)
	began := e.clock.Now()
	for n, f := range facts {
		e.put(f)
		if n%3 == 0 {
			e.drain(e.poster())
		}
	}
	e.drain(e.poster())
	if took := e.clock.Now().Sub(began); took > 50*time.Second {
		t.Errorf("84 posts took %s", took)
	}
	for n := range 150 {
		f := change(n)
		f.Dimension = nil
		e.put(f)
		e.drain(e.poster())
	}
	e.wantOnce(facts...)
}

// Another holder takes over while the poster waits. The poster learns this from its
// next renewal, within a third of a lease, and posts nothing.
func TestALeaseThatIsLostInAWait(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	e.put(call(1))
	lease := e.lease(e.db.Client())
	var stolen *ledger.Claim
	s := &hooked{Sink: e.client()}
	s.post = func(func() error) error {
		return &sink.WaitError{After: time.Hour, Err: errors.New("later")}
	}
	p := e.posterOf(s)
	p.Clock = &stealing{clock: e.clock, steal: func() {
		if stolen != nil {
			return
		}
		e.clock.advance(post.LeaseFor + time.Minute)
		var err error
		if stolen, err = lease.Claim(t.Context(), ledger.Request{Key: "QUILL:POSTER"}); err != nil {
			t.Error(err)
		}
	}}
	err := p.Drain(t.Context())
	if !errors.Is(err, ledger.ErrLeaseLost) {
		t.Errorf("error %v, want ErrLeaseLost", err)
	}
	if n := len(s.sizes); n != 1 {
		t.Errorf("%d posts, want 1", n)
	}
	if err := stolen.Renew(t.Context()); err != nil {
		t.Errorf("the successor's lease was given back: %v", err)
	}
}

type stealing struct {
	*clock
	steal func()
}

func (s *stealing) Sleep(ctx context.Context, d time.Duration) error {
	if d > 0 {
		s.steal()
	}
	return s.clock.Sleep(ctx, d)
}

// The lease holds through long waits: no other process gets it at any time.
func TestTheLeaseHoldsInAWait(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	e.put(call(1))
	waits := []time.Duration{time.Hour, 0, 0}
	p := e.posterOf(&hooked{Sink: e.client(), post: func(next func() error) error {
		if len(waits) == 0 {
			return next()
		}
		wait := waits[0]
		waits = waits[1:]
		return &sink.WaitError{After: wait, Err: errors.New("later")}
	}})
	lease := e.lease(e.db.Client())
	asked := 0
	p.Clock = &stealing{clock: e.clock, steal: func() {
		asked++
		var busy *ledger.InProgressError
		if _, err := lease.Claim(t.Context(), ledger.Request{Key: "QUILL:POSTER"}); !errors.As(err, &busy) || busy.Wait < post.LeaseFor/2 {
			t.Errorf("error %v, want an InProgressError of more than half a lease", err)
		}
	}}
	e.drain(p)
	e.wantOnce(call(1))
	if asked < 90 {
		t.Errorf("%d naps in an hour", asked)
	}
	if got := e.tally.Counts(); got.Waited < time.Hour || got.Waited > time.Hour+10*time.Second || got.Posts != 5 {
		t.Errorf("counts %+v", got)
	}
}

func TestThrottled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		after time.Duration
		want  time.Duration // of three waits
	}{{0, 7 * time.Second}, {20 * time.Second, time.Minute}} {
		e := open(t, powerbitest.Config{})
		f := call(1)
		f.Dimension = nil
		e.put(f)
		n := 0
		p := e.posterOf(&hooked{Sink: e.client(), post: func(next func() error) error {
			if n++; n <= 3 {
				return &sink.WaitError{After: c.after, Err: errors.New("429")}
			}
			return next()
		}})
		e.drain(p)
		e.wantOnce(f)
		if got := e.tally.Counts(); got.Waited.Round(time.Second) != c.want || got.Posts != 4 || got.Reposted+got.Refused+got.Asked > 0 {
			t.Errorf("after %s: counts %+v, want %s", c.after, got, c.want)
		}
		if err := p.LastError(); err != nil {
			t.Error(err)
		}
	}
}

func TestLostReplies(t *testing.T) {
	t.Parallel()
	faults := map[string]powerbitest.Fault{
		"request": powerbitest.LoseRequest, "reply": powerbitest.LoseReply,
		"503": powerbitest.Unavailable, "503 after": powerbitest.UnavailableAfter,
	}
	for name, f := range faults {
		for nth := 1; nth <= 4; nth++ {
			for _, asking := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s/%d/asking=%t", name, nth, asking), func(t *testing.T) {
					t.Parallel()
					e := open(t, powerbitest.Config{VisibleAfter: 10 * time.Second})
					e.bi.RefuseAsking(!asking)
					e.bi.OnPost(nth, f)
					e.bi.OnAsk(1, f)
					facts := mixed(3)
					e.put(facts...)
					e.drain(e.poster())
					e.wantCounts(e.extra(facts...), asking, nth%2 == 1, f)
				})
			}
		}
	}
}

func (e *env) wantCounts(extra int, asking, dimension bool, f powerbitest.Fault) {
	e.t.Helper()
	c := e.tally.Counts()
	took := f == powerbitest.LoseReply || f == powerbitest.UnavailableAfter
	want := post.Counts{Sums: outbox.Sums{Posted: 6, DimensionRows: 6}, Posts: 5}
	switch {
	case dimension:
		want.RowsReposted = 3
	case !asking:
		want.Reposted, want.Asked = 3, c.Asked
	case took:
		want.Recovered, want.Posted, want.Asked, want.Posts = 3, 3, 2, 4
	default:
		want.Asked = 2
	}
	if c.Waited = 0; c != want || c.Sums != e.sums() {
		e.t.Errorf("counts %+v, stored %+v, want %+v", c, e.sums(), want)
	}
	if twice := !dimension && !asking && took; (extra > 0) != twice {
		e.t.Errorf("%d facts twice", extra)
	}
}

func TestTheHourIsKeptAcrossHolders(t *testing.T) {
	t.Parallel()
	limits := sink.Limits{RowsAPost: 4, RowsAnHour: 10, PostsAMinute: 2, LargeTable: 1000, PostsAnHour: 100, RowsATable: 100, TextUnits: 4000}
	e := open(t, powerbitest.Config{Limits: limits})
	var facts []fact.Fact
	for n := range 35 {
		f := call(n)
		f.Dimension = nil
		facts = append(facts, f)
	}
	start := e.clock.Now()
	for n := range 7 {
		e.put(facts[5*n : 5*n+5]...)
		p := e.posterOf(&hooked{Sink: e.client(), limits: limits}) // a new holder each time
		e.drain(p)
	}
	e.wantOnce(facts...)
	if n := e.bi.Counts().Throttled; n > 0 {
		t.Errorf("%d posts were throttled", n)
	}
	if took := e.clock.Now().Sub(start); took < 3*time.Hour || took > 3*(time.Hour+12*time.Minute) {
		t.Errorf("35 rows took %s", took)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	ctx, stop := context.WithCancel(t.Context())
	facts := mixed(2)
	naps := 0
	p := e.posterOf(&hooked{Sink: e.client(), limits: sink.Limits{RowsAPost: 100}})
	p.Clock = &stealing{clock: e.clock, steal: func() {
		switch naps++; naps {
		case 1: // nothing was pending, so the lease was not taken
			e.put(facts[0])
		case 2:
			e.wantOnce(facts[0])
			e.put(facts[1:]...)
			e.db.Inject(dynamotest.Fault{Do: dynamotest.InternalError, Op: "PutItem", Times: 3})
		case 3:
			if p.LastError() == nil {
				t.Error("no error after a failed write")
			}
		case 4:
			e.wantOnce(facts...)
			if err := p.LastError(); err != nil {
				t.Error(err)
			}
			stop()
		}
	}}
	if err := p.Run(ctx); err != nil {
		t.Error(err)
	}
	if naps < 4 {
		t.Errorf("%d naps", naps)
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	e := open(t, powerbitest.Config{})
	for _, c := range []struct {
		field string
		p     *post.Poster
	}{
		{"Lease", &post.Poster{Outbox: e.outbox, Sink: e.client()}},
		{"Outbox", &post.Poster{Lease: e.lease(e.db.Client()), Sink: e.client()}},
		{"Sink", &post.Poster{Lease: e.lease(e.db.Client()), Outbox: e.outbox}},
	} {
		var bad *event.InputError
		if err := c.p.Drain(t.Context()); !errors.As(err, &bad) || bad.Field != c.field {
			t.Errorf("error %v, want one about %s", err, c.field)
		}
		if err := c.p.Run(t.Context()); !errors.As(err, &bad) || bad.Field != c.field {
			t.Errorf("Run: error %v, want one about %s", err, c.field)
		}
	}
}
