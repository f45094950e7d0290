package ledger_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
)

// losses are the ways in which the first request of a call can be lost.
var losses = map[string]dynamotest.Effect{"reply": dynamotest.LoseReply, "request": dynamotest.LoseRequest}

// exhausted is a key whose attempts are spent.
func exhausted(t *testing.T, store *ledger.Store) ledger.Record {
	t.Helper()
	for {
		c, err := store.Claim(t.Context(), order)
		if errors.Is(err, ledger.ErrTooManyAttempts) {
			return mustGet(t, store, order.Key)
		}
		must(t, err)
		must(t, c.Fail(t.Context(), errors.New("no connection")))
	}
}

// refused is a key that a permanent error has ended.
func refused(t *testing.T, store *ledger.Store) ledger.Record {
	t.Helper()
	must(t, mustClaim(t, store, order).Fail(t.Context(), ledger.Permanent(errors.New("card declined"))))
	return mustGet(t, store, order.Key)
}

// What has failed too often, or for good, is claimed again once it is reopened,
// and has all its attempts.
func TestReopen(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *ledger.Store) ledger.Record{"exhausted": exhausted, "refused": refused} {
		for lost, effect := range losses {
			b, store := opened(t, ledger.Config{MaxAttempts: 2, Retention: 24 * time.Hour})
			seen := end(t, store)
			b.clock.Add(23 * time.Hour)
			b.db.Inject(dynamotest.Fault{Do: effect, Op: "UpdateItem", Nth: 1})
			must(t, b.ops(t, store).Reopen(t.Context(), seen))
			r := mustGet(t, store, order.Key)
			if r.State != ledger.Failed || r.Attempts != 0 || r.LastError != "" || r.Fence != seen.Fence || !r.ExpiresAt.Equal(b.clock.Now().Add(24*time.Hour)) {
				t.Errorf("%s, lost %s: %+v", name, lost, r)
			}
			for attempt := range 2 {
				c := mustClaim(t, store, order)
				if c.Attempt != int64(attempt+1) || c.Fence <= seen.Fence {
					t.Errorf("%s: attempt %d, fence %d after %d", name, c.Attempt, c.Fence, seen.Fence)
				}
				must(t, c.Fail(t.Context(), errCut))
			}
			_, err := store.Claim(t.Context(), order)
			wantErr(t, "a third attempt", err, ledger.ErrTooManyAttempts)
			wantErr(t, "Reopen by the record of before", b.ops(t, store).Reopen(t.Context(), seen), ledger.ErrChanged)
		}
	}
}

func TestReopenedRow(t *testing.T) {
	t.Parallel()
	b, store := goldenBench(t)
	golden.Put(t, b.client, b.table, "testdata/refused.json")
	must(t, b.ops(t, store).Reopen(t.Context(), mustGet(t, store, order.Key)))
	golden.Want(t, b.client, b.table, "testdata/reopened.json", "pk")
	_, err := store.Claim(t.Context(), ledger.Request{Key: order.Key, Payload: []byte("another")})
	wantErr(t, "another payload", err, ledger.ErrFingerprintMismatch)
}

// Reopen changes nothing that is done, held, or not as it was seen.
func TestReopenRefuses(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		since func(*testing.T, *bench, *ledger.Store) ledger.Record // returns what the operator goes by
		want  func(error) bool
	}{
		"marked": {func(t *testing.T, _ *bench, store *ledger.Store) ledger.Record {
			wantMark(t, store, order.Key, event.Created)
			return mustGet(t, store, order.Key)
		}, isDone},
		"held": {func(t *testing.T, _ *bench, store *ledger.Store) ledger.Record {
			mustClaim(t, store, order)
			return mustGet(t, store, order.Key)
		}, isBusy},
		"claimed since": {func(t *testing.T, b *bench, store *ledger.Store) ledger.Record {
			seen := exhausted(t, store)
			must(t, b.ops(t, store).Reopen(t.Context(), seen))
			mustClaim(t, store, order)
			return seen
		}, func(err error) bool { return errors.Is(err, ledger.ErrChanged) }},
		"of another fence": {func(t *testing.T, _ *bench, store *ledger.Store) ledger.Record {
			seen := refused(t, store)
			seen.Fence--
			return seen
		}, func(err error) bool { return errors.Is(err, ledger.ErrChanged) }},
		"of no fence": {func(t *testing.T, _ *bench, store *ledger.Store) ledger.Record {
			return ledger.Record{Key: order.Key, Nonce: refused(t, store).Nonce}
		}, func(err error) bool {
			return errors.Is(err, ledger.ErrChanged) && strings.Contains(err.Error(), "Fence")
		}},
		"expired": {func(t *testing.T, b *bench, store *ledger.Store) ledger.Record {
			seen := refused(t, store)
			b.clock.Add(14 * 24 * time.Hour)
			return seen
		}, func(err error) bool { return errors.Is(err, ledger.ErrNotFound) }},
		"gone": {func(t *testing.T, b *bench, store *ledger.Store) ledger.Record {
			seen := refused(t, store)
			b.remove(t, order.Key)
			return seen
		}, func(err error) bool { return errors.Is(err, ledger.ErrNotFound) }},
		"unreadable": {func(t *testing.T, b *bench, _ *ledger.Store) ledger.Record {
			b.put(t, ddb.Item{"pk": item.S(order.Key), "claim": item.S("x"), "state": item.S("paused"), "fence": item.N(1)})
			return ledger.Record{Key: order.Key, Nonce: "x", Fence: 1}
		}, isTrouble},
	} {
		b, store := opened(t, ledger.Config{})
		seen := tc.since(t, b, store)
		before := golden.Format(b.row(t, order.Key))
		if err := b.ops(t, store).Reopen(t.Context(), seen); !tc.want(err) {
			t.Errorf("%s: %v", name, err)
		}
		if after := golden.Format(b.row(t, order.Key)); after != before {
			t.Errorf("%s: the row is now %s, was %s", name, after, before)
		}
	}

	store, err := ledger.New(recordtest.Silent(t), "ledger", nil)
	must(t, err)
	ops, err := store.Operators(recordtest.Silent(t))
	must(t, err)
	recordtest.WantBad(t, ops.Reopen(t.Context(), ledger.Record{}), "ledger", "Record.Key")
	recordtest.WantBad(t, ops.Forget(t.Context(), ledger.Record{}), "ledger", "Record.Key")
	_, err = store.Operators((*dynamodb.Client)(nil))
	recordtest.WantBad(t, err, "ledger", "api")
	recordtest.WantBad(t, store.Erase(t.Context(), ""), "ledger", "key")
}

// A row that is never to expire is reopened as any other; and when its lease has
// lapsed a claim is still no case for Reopen.
func TestReopenAtTheEdges(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{Lease: time.Minute, MaxSkew: time.Second})
	b.put(t, ddb.Item{"pk": item.S("for ever"), "claim": item.S("x"), "state": item.S("refused"), "fence": item.N(7), "attempts": item.N(1)})
	must(t, b.ops(t, store).Reopen(t.Context(), mustGet(t, store, "for ever")))

	mustClaim(t, store, order)
	b.clock.Add(time.Hour)
	err := b.ops(t, store).Reopen(t.Context(), mustGet(t, store, order.Key))
	if want := "ledger: the key is claimed, and the lease has lapsed: the next delivery takes the key over if attempts are left; otherwise Forget frees it"; !isBusy(err) || err.Error() != want {
		t.Errorf("Reopen of a lapsed claim: %v, want %q", err, want)
	}
}

// stored are the attributes that hold what came with the work.
var stored = []string{"result", "lastError", "errorCode", "fingerprint", "notes", "lease"}

// Erase leaves a duplicate without a result, whatever stood, and for as long.
func TestErase(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(*testing.T, *bench, *ledger.Store){
		"done": func(t *testing.T, _ *bench, s *ledger.Store) {
			must(t, mustClaim(t, s, order).Complete(t.Context(), "secret"))
		},
		"claimed": func(t *testing.T, _ *bench, s *ledger.Store) { mustClaim(t, s, order) },
		"marked":  func(t *testing.T, _ *bench, s *ledger.Store) { wantMark(t, s, order.Key, event.Created) },
		"with a code and notes": func(t *testing.T, b *bench, s *ledger.Store) {
			refused(t, s)
			row := b.row(t, order.Key)
			row["errorCode"], row["notes"] = item.S("1:x"), item.S("secret")
			b.put(t, row)
		},
		"of an older system": func(t *testing.T, b *bench, _ *ledger.Store) {
			b.put(t, ddb.Item{"pk": item.S(order.Key), "notes": item.S("secret"), "expiresAt": item.N(b.clock.Now().Unix() + 100)})
		},
		"unreadable": func(t *testing.T, b *bench, _ *ledger.Store) {
			b.put(t, ddb.Item{"pk": item.S(order.Key), "claim": item.S("x"), "state": item.S("paused"), "result": item.S("secret"), "expiresAt": item.N(b.clock.Now().Unix() + 7200)})
		},
	} {
		for lost, effect := range losses {
			b, store := opened(t, ledger.Config{})
			write(t, b, store)
			before := b.row(t, order.Key)
			b.db.Inject(dynamotest.Fault{Do: effect, Op: "UpdateItem", Nth: 1})
			must(t, store.Erase(t.Context(), order.Key))
			must(t, store.Erase(t.Context(), order.Key)) // and again
			row := b.row(t, order.Key)
			for _, attribute := range stored {
				if item.Has(row, attribute) {
					t.Errorf("%s, lost %s: %s is still there", name, lost, attribute)
				}
			}
			if !sameAttribute(before["expiresAt"], row["expiresAt"]) || !sameAttribute(before["fence"], row["fence"]) {
				t.Errorf("%s: %v after %v", name, row, before)
			}
			wantDone(t, store, order, "")
			wantDone(t, store, ledger.Request{Key: order.Key, Payload: []byte("another")}, "")
			wantMark(t, store, order.Key, event.Duplicate)
		}
	}
}

func TestErasedRow(t *testing.T) {
	t.Parallel()
	b, store := goldenBench(t)
	golden.Put(t, b.client, b.table, "testdata/done.json")
	must(t, store.Erase(t.Context(), order.Key))
	golden.Want(t, b.client, b.table, "testdata/erased.json", "pk")
	if r := mustGet(t, store, order.Key); r.State != ledger.Done || r.Result != nil || r.Fence != 1774785600002 {
		t.Errorf("record: %+v", r)
	}
}

// Nothing that stood before an erasure is in what its holder writes after it.
func TestEraseUnderALiveHolder(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *ledger.Claim) error{
		"Complete": func(t *testing.T, c *ledger.Claim) error { return c.Complete(t.Context(), "secret") },
		"Fail":     func(t *testing.T, c *ledger.Claim) error { return c.Fail(t.Context(), errors.New("secret")) },
		"Renew":    func(t *testing.T, c *ledger.Claim) error { return c.Renew(t.Context()) },
		"Release":  func(t *testing.T, c *ledger.Claim) error { return c.Release(t.Context()) },
	} {
		b, store := opened(t, ledger.Config{})
		c := mustClaim(t, store, order)
		must(t, store.Erase(t.Context(), order.Key))
		erased := golden.Format(b.row(t, order.Key))
		wantErr(t, name, end(t, c), ledger.ErrLeaseLost)
		if row := golden.Format(b.row(t, order.Key)); row != erased {
			t.Errorf("%s: the row is now %s", name, row)
		}
	}
}

// One that is deleted between the two is not there to be erased, and not made.
func TestEraseOfARowThatIsDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(t, ddb.Item{"pk": item.S(order.Key), "notes": item.S("secret")})
	b.between(func() { b.remove(t, order.Key) })
	for range 2 {
		wantErr(t, "Erase", b.store(t, ledger.Config{}).Erase(t.Context(), order.Key), ledger.ErrNotFound)
	}
	if row := b.row(t, order.Key); row != nil {
		t.Errorf("a row of nothing: %v", row)
	}
}

// A duplicate of an Erase that arrives late takes nothing from the next event of
// the key; another's clock that is ahead keeps nothing from being erased.
func TestALateErase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r, store := b.taped(t, ledger.Config{MaxSkew: 10 * time.Second})
	must(t, mustClaim(t, store, order).Complete(t.Context(), 1))
	must(t, store.Erase(t.Context(), order.Key))
	late := r.last()
	b.clock.Add(14 * 24 * time.Hour)
	c := mustClaim(t, store, order)
	if err := r.deliver(t.Context(), late); err == nil {
		t.Error("the late duplicate took effect")
	}
	must(t, c.Complete(t.Context(), 2))

	ahead := b.store(t, ledger.Config{Now: func() time.Time { return b.clock.Now().Add(10 * time.Second) }})
	wantMark(t, ahead, "ahead", event.Created)
	ctx, meter := dynamotest.WithMeter(t.Context())
	must(t, store.Erase(ctx, "ahead"))
	meter.Cost().Want(t, dynamotest.Price{Requests: 1, WCU: 1})
}

// A row whose seenAt cannot be compared is erased in a second request, which takes
// nothing from the next event either.
func TestEraseOfARowOfAnotherTime(t *testing.T) {
	t.Parallel()
	for name, seenAt := range map[string]types.AttributeValue{
		"of a clock far ahead": item.S("9026-01-01T00:00:00.000Z"), "a number": item.N(7), "no time": item.S("soon"),
	} {
		b := newBench(t)
		r, store := b.taped(t, ledger.Config{MaxSkew: 10 * time.Second})
		row := ddb.Item{"pk": item.S(order.Key), "claim": item.S("x"), "state": item.S("done"), "result": item.S("1"), "seenAt": seenAt}
		b.put(t, row)
		ctx, meter := dynamotest.WithMeter(t.Context())
		must(t, store.Erase(ctx, order.Key))
		if got := b.row(t, order.Key); item.Has(got, "result") || meter.Cost().Requests != 2 {
			t.Errorf("%s: %v after %v", name, got, meter.Cost())
		}
		row["claim"] = item.S("y")
		b.put(t, row)
		if err := r.deliver(t.Context(), r.last()); err == nil {
			t.Errorf("%s: the late duplicate took effect", name)
		}
	}
}

// A slow Erase erases a key that was first seen after it began, in its second request.
func TestASlowErase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(t, ddb.Item{"pk": item.S(order.Key)}) // an older system's
	store := b.store(t, ledger.Config{})
	b.between(func() {
		b.remove(t, order.Key)
		b.clock.Add(time.Minute)
		must(t, mustClaim(t, store, order).Complete(t.Context(), "secret"))
	})
	ctx, meter := dynamotest.WithMeter(t.Context())
	must(t, store.Erase(ctx, order.Key))
	if row := b.row(t, order.Key); item.Has(row, "result") || meter.Cost().ByOp["UpdateItem"] != 3 {
		t.Errorf("%v after %v", row, meter.Cost())
	}
}

func TestEraseGivesUpOnARestlessRow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	claimed := false
	b.db.Inject(dynamotest.Fault{Op: "UpdateItem", Times: -1, Do: dynamotest.Before(func() {
		row := ddb.Item{"pk": item.S(order.Key)}
		if claimed {
			row["claim"] = item.S("x")
		}
		claimed = !claimed
		b.put(t, row)
	})})
	if err := b.store(t, ledger.Config{}).Erase(t.Context(), order.Key); !isTrouble(err) || !strings.Contains(err.Error(), "changed with every try") {
		t.Errorf("Erase: %v", err)
	}
}
