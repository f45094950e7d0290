package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/ledger"
)

const (
	historyLease     = 30 * time.Second
	historySkew      = 10 * time.Second
	historyRetention = 5 * time.Minute
	historyAttempts  = 3
)

// peer is a worker of a history, with a clock of its own.
type peer struct {
	store *ledger.Store
	now   func() time.Time
	tape  *tape
}

// grant is a claim as its holder sees it.
type grant struct {
	*ledger.Claim
	by      *peer
	settled bool // it completed or failed, to its own knowledge
}

// history is a run of random steps on one key: peers with skewed clocks claim,
// renew, complete and fail, whether they still hold the key or not; requests
// and replies are lost, requests arrive again much later, time passes, TTL
// deletes what it may. After each step the invariants are checked.
type history struct {
	*bench
	t     *testing.T
	rnd   *rand.Rand
	req   ledger.Request
	peers []*peer

	grants   []*grant
	top      int64     // the highest fence granted
	attempts int64     // grants in this life of the row, late duplicates left out
	result   string    // of the key when it is done
	done     time.Time // until when it must stay so; zero when it is not done
}

func TestHistories(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	histories, steps := 40, 80
	if !b.db.InProcess() {
		histories = 30
	}
	seen := map[string]int{}
	for n := range histories {
		h := b.newHistory(t, uint64(n))
		for step := range steps {
			what := h.step()
			seen[what]++
			if t.Failed() {
				t.Fatalf("history %d, step %d: %s", n, step, what)
			}
		}
	}
	for _, what := range []string{
		"granted", "granted anew", "busy", "done", "exhausted", "complete: held", "complete: lost", "fail: held",
		"fail: lost", "release: held", "release: lost", "renew: held", "renew: lost", "late: refused", "late: took effect", "swept",
	} {
		if seen[what] == 0 {
			t.Errorf("no history came to %q: %v", what, seen)
		}
	}
}

func (b *bench) newHistory(t *testing.T, n uint64) *history {
	h := &history{
		bench: &bench{db: b.db, client: b.client, table: b.table, clock: &clock{at: b.clock.Now()}},
		t:     t, rnd: rand.New(rand.NewPCG(n, 3)), req: ledger.Request{Key: fmt.Sprintf("history:%d", n)},
	}
	for _, skew := range []time.Duration{0, historySkew, historySkew / 2} {
		p := &peer{now: func() time.Time { return h.clock.Now().Add(skew) }, tape: &tape{API: b.client}}
		store, err := ledger.New(p.tape, b.table, &ledger.Config{
			Now: p.now, Lease: historyLease, MaxSkew: historySkew, Retention: historyRetention, MaxAttempts: historyAttempts,
		})
		must(t, err)
		p.store = store
		h.peers = append(h.peers, p)
	}
	return h
}

// step does something at random and says what came of it.
func (h *history) step() string {
	switch roll := h.rnd.IntN(100); {
	case roll < 35:
		return h.claim(h.peers[h.rnd.IntN(len(h.peers))])
	case roll < 60 && len(h.open()) > 0:
		open := h.open()
		return h.settle(open[h.rnd.IntN(len(open))])
	case roll < 75:
		return h.late()
	case roll < 80:
		return h.sweepIfDue()
	case roll < 81:
		h.clock.Add(historyRetention)
	case roll < 83:
		h.clock.Add(historyRetention + time.Hour)
	default:
		h.clock.Add(time.Duration(h.rnd.IntN(20_000)) * time.Millisecond)
	}
	return "time passes"
}

// open are the claims that do not know of their end, at most three: the last,
// and some long past.
func (h *history) open() []*grant {
	open := slices.DeleteFunc(slices.Clone(h.grants), func(g *grant) bool { return g.settled })
	return open[max(0, len(open)-3):]
}

// disturb loses a request or a reply of the next update, or neither.
func (h *history) disturb() {
	switch h.rnd.IntN(6) {
	case 0:
		h.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem"})
	case 1:
		h.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Op: "UpdateItem"})
	}
}

// expect reads the row and says, from the format alone, what a claim by this
// clock must come to.
func (h *history) expect(now time.Time) string {
	row := h.row(h.t, h.req.Key)
	if row == nil {
		return "granted anew"
	}
	attempts := number(h.t, row, "attempts")
	switch state := item.Text(row, "state"); {
	case number(h.t, row, "expiresAt")-3600 <= now.Unix():
		return "granted anew"
	case state == "done":
		return "done"
	case state == "claimed" && number(h.t, row, "lease") > now.Add(-historySkew).UnixMilli():
		return "busy"
	case attempts >= historyAttempts:
		return "exhausted"
	}
	return "granted"
}

func (h *history) claim(p *peer) string {
	want, attempt := h.expect(p.now()), int64(1)
	if want == "granted" {
		attempt = number(h.t, h.row(h.t, h.req.Key), "attempts") + 1
	}
	h.disturb()
	c, err := p.store.Claim(h.t.Context(), h.req)
	h.db.Heal()
	var busy *ledger.InProgressError
	var done *ledger.DoneError
	got := "trouble"
	switch {
	case err == nil:
		got = want // which of the two grants is told by the attempt
		if c.Attempt != attempt {
			got = fmt.Sprintf("attempt %d", c.Attempt)
		}
		h.granted(p, c, want == "granted anew")
	case errors.As(err, &busy):
		got = "busy"
	case errors.As(err, &done):
		got = "done"
		if result := string(done.Record.Result); result != h.result {
			h.t.Errorf("replayed %s, the result is %s", result, h.result)
		}
	case errors.Is(err, ledger.ErrTooManyAttempts):
		got = "exhausted"
	}
	if got != want {
		h.t.Errorf("claim: %s (%v), want %s", got, err, want)
	}
	return got
}

// granted checks a grant against all that went before.
func (h *history) granted(p *peer, c *ledger.Claim, anew bool) {
	if c.Fence <= h.top {
		h.t.Errorf("fence %d after %d", c.Fence, h.top)
	}
	if p.now().Before(h.done) {
		h.t.Errorf("granted at %v, done until %v", p.now(), h.done)
	}
	for _, other := range h.grants {
		if !other.settled && other.by.now().Before(other.LeaseUntil()) {
			h.t.Errorf("granted while the claim of fence %d counts on %v more", other.Fence, other.LeaseUntil().Sub(other.by.now()))
		}
	}
	if anew {
		h.attempts, h.done = 0, time.Time{}
	}
	if h.attempts++; h.attempts > historyAttempts {
		h.t.Errorf("%d attempts", h.attempts)
	}
	h.top = c.Fence
	h.grants = append(h.grants, &grant{Claim: c, by: p})
}

// settle lets a claim complete, fail, release or renew, whether it holds or not.
func (h *history) settle(g *grant) string {
	row := h.row(h.t, h.req.Key)
	holds := row != nil && item.Text(row, "state") == "claimed" && number(h.t, row, "fence") == g.Fence
	if holds && g.Fence != h.top {
		h.t.Errorf("the row is held by fence %d, granted was %d", g.Fence, h.top)
	}
	what, call := "renew", g.Renew
	result := fmt.Sprintf(`"by %d"`, g.Fence)
	switch h.rnd.IntN(12) {
	case 11:
		what, call = "release", g.Release
	case 0, 1, 2:
		what, call = "complete", func(ctx context.Context) error { return g.Complete(ctx, fmt.Sprintf("by %d", g.Fence)) }
	case 3, 4, 5, 6, 7:
		what, call = "fail", func(ctx context.Context) error { return g.Fail(ctx, errors.New("no connection")) }
	}
	h.disturb()
	err := call(h.t.Context())
	h.db.Heal()
	if !holds {
		wantErr(h.t, what, err, ledger.ErrLeaseLost)
		g.settled = true
		return what + ": lost"
	}
	if err != nil {
		h.t.Errorf("%s of the holder: %v", what, err)
	}
	g.settled = what != "renew"
	if what == "release" {
		h.attempts--
	}
	if what == "complete" {
		h.result = result
		h.done = time.Unix(number(h.t, h.row(h.t, h.req.Key), "expiresAt"), 0).Add(-time.Hour)
	}
	return what + ": held"
}

// late delivers a request of the past once more. Whatever it does, the checks
// of the steps that follow must hold.
func (h *history) late() string {
	p := h.peers[h.rnd.IntN(len(h.peers))]
	if len(p.tape.sent) == 0 {
		return "nothing sent yet"
	}
	before := h.row(h.t, h.req.Key)
	if before == nil { // a network keeps nothing for as long as a row lives
		p.tape.sent = nil
		return "forgotten"
	}
	in := p.tape.sent[h.rnd.IntN(len(p.tape.sent))]
	if _, refused := ddb.Refused(p.tape.deliver(h.t.Context(), in)); refused {
		return "late: refused"
	}
	h.lateTookEffect(in, before)
	return "late: took effect"
}

// lateTookEffect allows a late duplicate two effects: a renewal that says what
// stands, and a claim of a key that another worker gave up or let lapse, which
// nobody then holds. That one uses up a fence and an attempt.
func (h *history) lateTookEffect(in *dynamodb.UpdateItemInput, before ddb.Item) {
	after := h.row(h.t, h.req.Key)
	if item.Text(before, "state") == "done" && number(h.t, before, "expiresAt")-3600 > h.clock.Now().Add(historySkew).Unix() {
		h.t.Errorf("a late %s changed what is done", *in.UpdateExpression)
	}
	if fence := number(h.t, after, "fence"); fence != number(h.t, before, "fence") {
		h.top = max(h.top, fence)
		return
	}
	if number(h.t, before, "lease") != number(h.t, after, "lease") {
		h.t.Errorf("a late %s moved the lease", *in.UpdateExpression)
	}
}

// sweepIfDue is TTL, by the server's clock, which is that of the first peer. By
// no peer's clock may the row still live.
func (h *history) sweepIfDue() string {
	row := h.row(h.t, h.req.Key)
	if row == nil || number(h.t, row, "expiresAt") > h.clock.Now().Unix() {
		return "nothing to sweep"
	}
	for _, p := range h.peers {
		if _, ok, err := p.store.Get(h.t.Context(), h.req.Key); ok || err != nil {
			h.t.Errorf("swept while it lives: %v", err)
		}
	}
	h.remove(h.t, h.req.Key)
	return "swept"
}
