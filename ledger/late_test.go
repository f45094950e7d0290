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
)

func sameAttribute(x, y types.AttributeValue) bool { return reflect.DeepEqual(x, y) }

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
		check := stale.CheckItem()
		if reasons := b.transact(t, check.Item); reasons == nil {
			t.Error("the stale claim's check went through")
		} else if _, err := check.Outcome(reasons[0]); !isLost(err) {
			t.Errorf("the stale claim's check: %v", err)
		}
		must(t, mustClaim(t, store, order).Complete(t.Context(), "fresh")) // the late claim's lease is long over
	}
}

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

func (r *tape) at(i int) *dynamodb.UpdateItemInput {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent[i]
}

func (r *tape) last() *dynamodb.UpdateItemInput {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent[len(r.sent)-1]
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
