package ledger_test

import (
	"context"
	"errors"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
)

// A renewal that was under way longer than the next one must not shorten the
// lease: the holder counts on the later.
func TestLateRenewalDoesNotShortenTheLease(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tape, store := b.taped(t, ledger.Config{Lease: time.Minute, MaxSkew: time.Second})
	c := mustClaim(t, store, order)
	b.clock.Add(time.Second)
	must(t, c.Renew(t.Context()))
	early := tape.last()
	b.clock.Add(30 * time.Second)
	must(t, c.Renew(t.Context()))
	if err := tape.deliver(t.Context(), early); err == nil {
		t.Error("the late duplicate took effect")
	}
	wantBusy(t, store, order, time.Minute+time.Second)
}

// A duplicate of the claim's own request, late, does not reopen what the claim
// gave up.
func TestLateClaimDoesNotReopen(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tape, store := b.taped(t, ledger.Config{})
	c := mustClaim(t, store, order)
	late := tape.last()
	must(t, c.Fail(t.Context(), errors.New("no connection")))
	if err := tape.deliver(t.Context(), late); err == nil {
		t.Error("the late duplicate took effect")
	}
	if next := mustClaim(t, store, order); next.Attempt != 2 {
		t.Errorf("attempt %d, want 2", next.Attempt)
	}
}

// When another worker has given the key up in between, the late duplicate is a
// claim that nobody holds: not its first sender either, whose nonce it bears.
func TestLateClaimGivesNobodyTheKey(t *testing.T) {
	t.Parallel()
	for what, call := range map[string]func(context.Context, *ledger.Claim) error{
		"Renew":    func(ctx context.Context, c *ledger.Claim) error { return c.Renew(ctx) },
		"Complete": func(ctx context.Context, c *ledger.Claim) error { return c.Complete(ctx, "stale") },
		"Fail":     func(ctx context.Context, c *ledger.Claim) error { return c.Fail(ctx, errCut) },
	} {
		b := newBench(t)
		tape, store := b.taped(t, ledger.Config{Lease: time.Minute, MaxSkew: time.Second})
		stale := mustClaim(t, store, order)
		late := tape.last()
		b.clock.Add(time.Hour)
		must(t, mustClaim(t, store, order).Fail(t.Context(), errors.New("no connection")))
		must(t, tape.deliver(t.Context(), late))
		before := b.row(t, order.Key)
		wantErr(t, what, call(t.Context(), stale), ledger.ErrLeaseLost)
		if diff := cmp.Diff(before, b.row(t, order.Key), cmp.Comparer(sameAttribute)); diff != "" {
			t.Errorf("%s of the stale changed the row:\n%s", what, diff)
		}
		if err := b.book(t, stale, "stale"); err == nil {
			t.Error("the stale claim's transaction went through")
		}
		must(t, mustClaim(t, store, order).Complete(t.Context(), "fresh")) // the late claim's lease is long over
	}
}

func sameAttribute(x, y types.AttributeValue) bool { return reflect.DeepEqual(x, y) }

// tape records the updates that pass, so that a test can deliver one again,
// later, as a network may.
type tape struct {
	ledger.API
	mu   sync.Mutex // guards sent
	sent []*dynamodb.UpdateItemInput
}

func (r *tape) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	r.mu.Lock()
	r.sent = append(r.sent, in)
	r.mu.Unlock()
	return r.API.UpdateItem(ctx, in, opts...)
}

func (r *tape) last() *dynamodb.UpdateItemInput {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent[len(r.sent)-1]
}

func (r *tape) at(i int) *dynamodb.UpdateItemInput {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent[i]
}

// deliver sends a recorded request again; nobody listens to its reply.
func (r *tape) deliver(ctx context.Context, in *dynamodb.UpdateItemInput) error {
	_, err := r.API.UpdateItem(ctx, in)
	return err
}

// taped is a ledger behind a tape.
func (b *bench) taped(t *testing.T, cfg ledger.Config) (*tape, *ledger.Store) {
	t.Helper()
	r := &tape{API: b.client}
	cfg.Now = b.clock.Now
	store, err := ledger.New(r, b.table, &cfg)
	must(t, err)
	return r, store
}

func TestFenceRisesAfterTheRowIsGone(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{Retention: time.Hour})
	c := mustClaim(t, store, order)
	must(t, c.Fail(t.Context(), errors.New("again")))
	c = mustClaim(t, store, order)
	b.clock.Add(3 * time.Hour)
	b.sweep(t, order.Key)
	if next := mustClaim(t, store, order); next.Fence <= c.Fence || next.Attempt != 1 {
		t.Errorf("fence %d after %d, attempt %d", next.Fence, c.Fence, next.Attempt)
	}
}

// Fences rise also from a worker whose clock is ahead to one whose clock is
// behind, when the row between them was deleted as early as it may be.
func TestFenceRisesAcrossClocks(t *testing.T) {
	t.Parallel()
	const skew = time.Hour
	now := time.Now().Truncate(time.Second)
	db := dynamotest.New(t, &dynamotest.Config{Now: func() time.Time { return now }})
	at := func(offset time.Duration) *ledger.Store {
		store, err := ledger.New(db.Client(), "ledger", &ledger.Config{
			Now: func() time.Time { return now.Add(offset) }, Lease: time.Second, MaxSkew: skew, Retention: time.Second + skew,
		})
		must(t, err)
		return store
	}
	ahead, behind := at(skew/2), at(-skew/2)
	must(t, schema.Create(t.Context(), db.Client(), ahead.Table()))
	first := mustClaim(t, ahead, order)
	must(t, first.Fail(t.Context(), errors.New("again")))
	second := mustClaim(t, behind, order)
	must(t, second.Fail(t.Context(), errors.New("again")))
	now = now.Add(-skew / 2).Add(time.Second + skew).Add(time.Hour + time.Second)
	if n := db.Server().ExpireTTL(); n != 1 {
		t.Fatalf("%d rows deleted", n)
	}
	if third := mustClaim(t, behind, order); second.Fence <= first.Fence || third.Fence <= second.Fence {
		t.Errorf("fences %d, %d, %d", first.Fence, second.Fence, third.Fence)
	}
}

func TestOneHolderAmongMany(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{MaxAttempts: 100, Lease: time.Minute, MaxSkew: time.Second})
	last := int64(0)
	for round := range 4 {
		winner := oneOfMany(t, isBusy, func() (*ledger.Claim, error) { return store.Claim(t.Context(), order) })
		if winner.Fence <= last {
			t.Errorf("round %d: fence %d after %d", round, winner.Fence, last)
		}
		last = winner.Fence
		if round%2 == 0 { // a failure, then a crash
			must(t, winner.Fail(t.Context(), errors.New("again")))
		} else {
			b.clock.Add(time.Minute + time.Second)
		}
	}
}

// oneOfMany makes calls at once, of which one gets a claim and the others an error.
func oneOfMany(t *testing.T, loses func(error) bool, call func() (*ledger.Claim, error)) *ledger.Claim {
	t.Helper()
	won := make(chan *ledger.Claim, 12)
	var wg sync.WaitGroup
	for range cap(won) {
		wg.Go(func() {
			if c, err := call(); err == nil {
				won <- c
			} else if !loses(err) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Fatalf("%d holders", len(won))
	}
	return <-won
}

func eventOf(t *testing.T, c *ledger.Claim, parts ...string) event.Event {
	t.Helper()
	ev, err := c.Event(parts...)
	must(t, err)
	return ev
}

func TestClaimEvent(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{})
	now := b.clock.Now()
	c := mustClaim(t, store, order)
	other := mustClaim(t, store, ledger.Request{Key: "another"}) // in the same millisecond
	if !c.SeenAt.Equal(now) || eventOf(t, c) != recordtest.Event(t, now, order.Key) ||
		eventOf(t, c, "fee", "1") != recordtest.Event(t, now, order.Key, "fee", "1") {
		t.Errorf("seen at %v, %v", c.SeenAt, eventOf(t, c))
	}
	if eventOf(t, c) == eventOf(t, other) || eventOf(t, c, "fee") == eventOf(t, other, "fee") || eventOf(t, c) == eventOf(t, c, "fee") {
		t.Error("two events are one")
	}
	_, err := c.Event("")
	recordtest.WantBad(t, err, "event", "parts[1]")
}

// attempts are ways to come to another attempt of a key that is claimed.
var attempts = map[string]struct {
	next  func(*testing.T, *bench, *ledger.Store, *ledger.Claim) *ledger.Claim
	fresh bool // the event is a new one
}{
	"after a crash": {next: func(t *testing.T, b *bench, s *ledger.Store, _ *ledger.Claim) *ledger.Claim {
		b.clock.Add(time.Hour)
		return mustClaim(t, s, order)
	}},
	"given back": {next: func(t *testing.T, _ *bench, s *ledger.Store, c *ledger.Claim) *ledger.Claim {
		must(t, c.Release(t.Context()))
		return mustClaim(t, s, order)
	}},
	"resumed": {next: func(t *testing.T, b *bench, s *ledger.Store, c *ledger.Claim) *ledger.Claim {
		b.clock.Add(time.Second)
		b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: 1})
		c, err := s.Resume(t.Context(), c.Token())
		must(t, err)
		return c
	}},
	"reopened": {next: func(t *testing.T, b *bench, s *ledger.Store, c *ledger.Claim) *ledger.Claim {
		must(t, c.Fail(t.Context(), ledger.Permanent(errCut)))
		b.clock.Add(time.Second)
		must(t, b.ops(t, s).Reopen(t.Context(), mustGet(t, s, order.Key)))
		return mustClaim(t, s, order)
	}},
	"expired": {fresh: true, next: func(t *testing.T, b *bench, s *ledger.Store, _ *ledger.Claim) *ledger.Claim {
		b.clock.Add(14 * 24 * time.Hour)
		return mustClaim(t, s, order)
	}},
	"forgotten": {fresh: true, next: func(t *testing.T, b *bench, s *ledger.Store, c *ledger.Claim) *ledger.Claim {
		must(t, c.Fail(t.Context(), errCut))
		b.clock.Add(time.Minute)
		must(t, b.ops(t, s).Forget(t.Context(), mustGet(t, s, order.Key)))
		return mustClaim(t, s, order)
	}},
}

// Every attempt of a key has the same event, until the key is forgotten: then it
// has that of the time when it is first seen again. The clock of the first caller
// may have been ahead of that of the next.
func TestTheEventOfAllAttempts(t *testing.T) {
	t.Parallel()
	for name, tc := range attempts {
		for _, ahead := range []time.Duration{0, 10 * time.Second} {
			b, store := opened(t, ledger.Config{})
			first := b.store(t, ledger.Config{Now: func() time.Time { return b.clock.Now().Add(ahead) }})
			b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: 1})
			c := mustClaim(t, first, order)
			b.clock.Add(2 * ahead)
			next := tc.next(t, b, store, c)
			want := eventOf(t, c)
			if tc.fresh {
				want = recordtest.Event(t, b.clock.Now(), order.Key)
			}
			if got := eventOf(t, next); got != want || (got == eventOf(t, c)) == tc.fresh {
				t.Errorf("%s, %v ahead: the event of %v after that of %v", name, ahead, next.SeenAt, c.SeenAt)
			}
		}
	}
}
