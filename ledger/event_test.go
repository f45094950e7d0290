package ledger_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
)

func eventOf(t *testing.T, c *ledger.Claim, parts ...string) event.Event {
	t.Helper()
	ev, err := c.Event(parts...)
	must(t, err)
	return ev
}

// The event is made of when the key was first seen, and of the key.
func TestClaimEvent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.store(t, ledger.Config{})
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
	"after a failure": {next: func(t *testing.T, _ *bench, s *ledger.Store, c *ledger.Claim) *ledger.Claim {
		must(t, c.Fail(t.Context(), errCut))
		return mustClaim(t, s, order)
	}},
	"after a crash": {next: func(t *testing.T, b *bench, s *ledger.Store, _ *ledger.Claim) *ledger.Claim {
		b.clock.Add(time.Hour)
		return mustClaim(t, s, order)
	}},
	"after a lost reply": {next: func(t *testing.T, b *bench, s *ledger.Store, c *ledger.Claim) *ledger.Claim {
		must(t, c.Fail(t.Context(), errCut))
		b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: 1})
		return mustClaim(t, s, order)
	}},
	"given back": {next: func(t *testing.T, _ *bench, s *ledger.Store, c *ledger.Claim) *ledger.Claim {
		must(t, c.Release(t.Context()))
		return mustClaim(t, s, order)
	}},
	"twice 10 days later": {next: func(t *testing.T, b *bench, s *ledger.Store, c *ledger.Claim) *ledger.Claim {
		for range 2 {
			must(t, c.Fail(t.Context(), errCut))
			b.clock.Add(10 * 24 * time.Hour)
			c = mustClaim(t, s, order)
		}
		return c
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
		must(t, s.Reopen(t.Context(), mustGet(t, s, order.Key)))
		return mustClaim(t, s, order)
	}},
	"expired": {fresh: true, next: func(t *testing.T, b *bench, s *ledger.Store, _ *ledger.Claim) *ledger.Claim {
		b.clock.Add(14 * 24 * time.Hour)
		return mustClaim(t, s, order)
	}},
	"expired and deleted": {fresh: true, next: func(t *testing.T, b *bench, s *ledger.Store, _ *ledger.Claim) *ledger.Claim {
		b.clock.Add(14*24*time.Hour + time.Hour)
		b.sweep(t, order.Key)
		return mustClaim(t, s, order)
	}},
	"forgotten": {fresh: true, next: func(t *testing.T, b *bench, s *ledger.Store, c *ledger.Claim) *ledger.Claim {
		must(t, c.Fail(t.Context(), errCut))
		b.clock.Add(time.Minute)
		must(t, s.Forget(t.Context(), mustGet(t, s, order.Key)))
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
			b := newBench(t)
			store := b.store(t, ledger.Config{})
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

// DoTx calls the work again under one event, and so do later deliveries.
func TestTheEventUnderDoTx(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newOwnBench(t)
		store := b.store(t, ledger.Config{})
		seen := map[event.Event]int{}
		for delivery := range 3 {
			calls := 0
			_, err := ledger.DoTx(t.Context(), store, order, func(_ context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
				b.clock.Add(time.Second)
				seen[eventOf(t, c)]++
				if calls++; calls == 3 && delivery < 2 {
					return "", nil, errors.New("no connection")
				}
				if calls < 3 {
					b.put(t, map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "seat"}})
					return "", []types.TransactWriteItem{b.insert("seat")}, nil
				}
				return "paid", []types.TransactWriteItem{b.add("effect")}, nil
			})
			if (err == nil) != (delivery == 2) {
				t.Errorf("delivery %d: %v", delivery, err)
			}
		}
		if len(seen) != 1 || seen[recordtest.Event(t, goldenDay, order.Key)] != 9 {
			t.Errorf("events: %v", seen)
		}
	})
}
