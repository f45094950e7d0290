package ledger_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
)

var lock = ledger.Request{Key: "LOCK:prices", Holder: "worker-1"}

// While a worker works, however long, the others are told who it is. Then the key is
// free at once, and nothing is stored.
func TestHold(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]error{"done": nil, "failed": errCut, "refused": ledger.Permanent(errCut)} {
		synctest.Test(t, func(t *testing.T) {
			_, store := newLineBy(t, ledger.Config{MaxAttempts: 1})
			for range 3 {
				err := ledger.Hold(t.Context(), store, lock, func(ctx context.Context, c *ledger.Claim) error {
					time.Sleep(5 * time.Minute)
					err := ledger.Hold(t.Context(), store, lock, func(context.Context, *ledger.Claim) error { panic("two hold it") })
					busy, ok := errors.AsType[*ledger.InProgressError](err)
					if !ok || busy.Holder != "worker-1" || !strings.Contains(err.Error(), `"worker-1" holds`) || ctx.Err() != nil {
						t.Errorf("%s: %v, %v", name, err, ctx.Err())
					}
					return result
				})
				if err != result {
					t.Errorf("%s: %v", name, err)
				}
				if r := mustGet(t, store, lock.Key); r.State != ledger.Failed || r.Attempts != 0 || r.Result != nil || r.LastError != "" {
					t.Errorf("%s: %+v", name, r)
				}
			}
		})
	}
}

func TestHoldRefuses(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
	recordtest.WantBad(t, ledger.Hold(t.Context(), store, lock, nil), "ledger", "work", "no work")
	must(t, mustClaim(t, store, ledger.Request{Key: "done"}).Complete(t.Context(), 1))
	must(t, mustClaim(t, store, ledger.Request{Key: "refused"}).Fail(t.Context(), ledger.Permanent(errCut)))
	for key, want := range map[string]func(error) bool{"done": isDone, "refused": isPermanent} {
		if err := ledger.Hold(t.Context(), store, ledger.Request{Key: key}, func(context.Context, *ledger.Claim) error { panic(key) }); !want(err) {
			t.Errorf("%s: %v", key, err)
		}
	}
	silent, err := ledger.New(recordtest.Silent(t), "ledger", nil)
	must(t, err)
	for name, holder := range map[string]string{"long": strings.Repeat("x", 65), "not UTF-8": "\xff"} {
		_, err := silent.Claim(t.Context(), ledger.Request{Key: "k", Holder: holder})
		recordtest.WantBad(t, err, "ledger", "Request.Holder", name)
	}
	mustClaim(t, store, ledger.Request{Key: "k", Holder: strings.Repeat("x", 64)})
}

// Holders that crash use up the attempts of Do, and not those of Hold.
func TestALockIsNotPoison(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{MaxAttempts: 1})
	for range 3 {
		func() {
			defer func() { _ = recover() }()
			_ = ledger.Hold(t.Context(), store, lock, func(context.Context, *ledger.Claim) error { panic("crash") })
		}()
		b.clock.Add(time.Hour)
	}
	if r := mustGet(t, store, lock.Key); r.Attempts != 3 {
		t.Errorf("%+v", r)
	}
	_, err := store.Claim(t.Context(), lock)
	wantErr(t, "Claim", err, ledger.ErrTooManyAttempts)
	if err.Error() != ledger.ErrTooManyAttempts.Error() {
		t.Errorf("%v, where nothing has failed", err)
	}
	must(t, ledger.Hold(t.Context(), store, lock, func(context.Context, *ledger.Claim) error { return nil }))
}

// A worker that stood still while another took the key over is told so, whatever its
// work says, and what it writes with the lock's check is not written.
func TestHoldThatWasTakenOver(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]error{"the work noticed nothing": nil, "the work failed": errCut} {
		b, store := opened(t, ledger.Config{})
		err := ledger.Hold(t.Context(), store, lock, func(_ context.Context, c *ledger.Claim) error {
			b.clock.Add(time.Hour)
			if reasons := b.transact(t, c.CheckItem().Item, b.add("effect")); reasons != nil {
				t.Errorf("%s: lapsed, and nobody has the key: %v", name, reasons)
			}
			heir := mustClaim(t, store, ledger.Request{Key: lock.Key, Holder: "worker-2"})
			check := c.CheckItem()
			_, err := check.Outcome(b.transact(t, check.Item, b.add("effect"))[0])
			wantErr(t, name, err, ledger.ErrLeaseLost)
			if reasons := b.transact(t, heir.CheckItem().Item, b.add("effect")); reasons != nil {
				t.Errorf("%s: the next holder: %v", name, reasons)
			}
			return result
		})
		b.wantTimes(t, 2)
		wantErr(t, name, err, ledger.ErrLeaseLost)
		if result != nil {
			wantErr(t, name, err, result)
		}
		if r := mustGet(t, store, lock.Key); r.State != ledger.Claimed || r.Holder != "worker-2" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Work may end its claim itself: the key is then given up no second time.
func TestHoldWhoseWorkEndsItsClaim(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(context.Context, *bench, *ledger.Claim) error{
		"released":  func(ctx context.Context, _ *bench, c *ledger.Claim) error { return c.Release(ctx) },
		"failed":    func(ctx context.Context, _ *bench, c *ledger.Claim) error { return c.Fail(ctx, errCut) },
		"completed": func(ctx context.Context, _ *bench, c *ledger.Claim) error { return c.Complete(ctx, 1) },
		"completed in a transaction": func(_ context.Context, b *bench, c *ledger.Claim) error {
			done, err := c.CompleteItem(1)
			must(t, err)
			b.transact(t, done.Item)
			return err
		},
	} {
		for _, result := range []error{nil, errCut} {
			b, store := opened(t, ledger.Config{})
			var err error
			sent := 2
			cost := b.db.Meter(func() {
				err = ledger.Hold(t.Context(), store, lock, func(ctx context.Context, c *ledger.Claim) error {
					must(t, end(ctx, b, c))
					if r := mustGet(t, store, lock.Key); r.State == ledger.Failed {
						mustClaim(t, store, lock) // the next one has it
						sent++
					}
					return result
				})
			})
			if cost.ByOp["UpdateItem"] != sent {
				t.Errorf("%s: %v", name, cost)
			}
			if err != result {
				t.Errorf("%s: %v, want %v", name, err, result)
			}
			if r := mustGet(t, store, lock.Key); (r.State != ledger.Claimed) == strings.Contains("released, failed", name) {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

// The key is free after the work even if a reply is lost, a transaction is in the way
// or the caller has left. If it cannot be given up, the caller hears of it.
func TestHoldGivesUp(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]dynamotest.Fault{
		"the claim's reply is lost":   {Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: 1},
		"the release's request":       {Do: dynamotest.LoseRequest, Op: "UpdateItem", Nth: 2},
		"the release's reply":         {Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: 2},
		"a transaction is in the way": {Do: dynamotest.Conflict, Op: "UpdateItem", Nth: 2},
	} {
		b := newOwnBench(t)
		store := b.store(t, ledger.Config{})
		b.db.Inject(fault)
		ctx, cancel := context.WithCancel(t.Context())
		err := ledger.Hold(ctx, store, lock, func(ctx context.Context, _ *ledger.Claim) error {
			cancel()
			return ctx.Err()
		})
		if err != context.Canceled {
			t.Errorf("%s: %v", name, err)
		}
		if r := mustGet(t, store, lock.Key); r.State != ledger.Failed || r.Attempts != 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		l, store := newLine(t)
		began := time.Now()
		err := ledger.Hold(t.Context(), store, lock, func(context.Context, *ledger.Claim) error { l.cutBy(hang); return nil })
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 5*time.Second {
			t.Errorf("cut off: %v after %v", err, time.Since(began))
		}
	})
}

// A renewal that meets the holder's own transaction is sent again.
func TestARenewalMeetsATransaction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newOwnBench(t)
		store := b.store(t, ledger.Config{Now: time.Now})
		b.db.Inject(dynamotest.Fault{Do: dynamotest.Conflict, Op: "UpdateItem", Nth: 2, Times: 3})
		must(t, ledger.Hold(t.Context(), store, lock, func(ctx context.Context, c *ledger.Claim) error {
			time.Sleep(10 * time.Minute)
			if reasons := b.transact(t, c.CheckItem().Item, b.add("effect")); reasons != nil {
				t.Errorf("%v", reasons)
			}
			return ctx.Err()
		}))
		b.wantTimes(t, 1)
	})
}

// What has ended, or is gone, refuses the check.
func TestCheckItemOutcome(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		end  func(*testing.T, *bench, *ledger.Claim)
		want func(error) bool
	}{
		"released": {func(t *testing.T, _ *bench, c *ledger.Claim) { must(t, c.Release(t.Context())) }, isLost},
		"done":     {func(t *testing.T, _ *bench, c *ledger.Claim) { must(t, c.Complete(t.Context(), 1)) }, isDone},
		"refused": {func(t *testing.T, _ *bench, c *ledger.Claim) {
			must(t, c.Fail(t.Context(), ledger.Permanent(errCut)))
		}, isPermanent},
		"gone": {func(t *testing.T, b *bench, _ *ledger.Claim) { b.remove(t, lock.Key) }, isLost},
		"claimed again": {func(t *testing.T, b *bench, c *ledger.Claim) {
			must(t, c.Release(t.Context()))
			mustClaim(t, b.store(t, ledger.Config{}), lock)
		}, isLost},
	} {
		b, store := opened(t, ledger.Config{})
		c := mustClaim(t, store, lock)
		check := c.CheckItem()
		for range 2 { // nothing knows it by
			if reasons := b.transact(t, check.Item, b.add("effect")); reasons != nil {
				t.Fatalf("%s: held: %v", name, reasons)
			}
		}
		tc.end(t, b, c)
		reasons := b.transact(t, check.Item, b.add("effect"))
		if _, err := check.Outcome(reasons[0]); !tc.want(err) {
			t.Errorf("%s: %v", name, err)
		}
		b.wantTimes(t, 2)
		_, err := check.Outcome(types.CancellationReason{Code: aws.String("TransactionConflict")})
		if err == nil || !strings.HasPrefix(err.Error(), "ledger: CheckItem on table ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// DoTx checks its own claim by the completion. It takes the check of another.
func TestCheckItemInDoTx(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	wire, store := b.wired(t, ledger.Config{})
	held := mustClaim(t, store, lock)
	work := func(check func(*ledger.Claim) *ledger.Claim) error {
		_, err := ledger.DoTx(t.Context(), store, order, func(_ context.Context, c *ledger.Claim) (int, []types.TransactWriteItem, error) {
			return 1, []types.TransactWriteItem{b.add("effect"), check(c).CheckItem().Item}, nil
		})
		return err
	}
	recordtest.WantBad(t, work(func(c *ledger.Claim) *ledger.Claim { return c }), "ledger", "items", "its own claim")
	if r := mustGet(t, store, order.Key); r.State != ledger.Failed || r.Attempts != 1 || len(wire.sent) != 0 {
		t.Errorf("%+v after %d transactions", r, len(wire.sent))
	}
	must(t, work(func(*ledger.Claim) *ledger.Claim { return held }))
	b.wantTimes(t, 1)
}

// The holder's name is that of the last claim, and goes with it.
func TestHolder(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{Retention: 24 * time.Hour})
	ops := b.ops(t, store)
	want := func(what, holder string) {
		t.Helper()
		for r, err := range ops.List(t.Context(), ledger.Filter{}) {
			if got := mustGet(t, store, lock.Key); err != nil || r.Holder != holder || got.Holder != holder {
				t.Errorf("%s: %q, listed %q, %v, want %q", what, got.Holder, r.Holder, err, holder)
			}
		}
	}
	nameless := ledger.Request{Key: lock.Key}
	c := mustClaim(t, store, lock)
	want("claimed", "worker-1")
	if busy, ok := errors.AsType[*ledger.InProgressError](ops.Reopen(t.Context(), mustGet(t, store, lock.Key))); !ok || busy.Holder != "worker-1" {
		t.Errorf("Reopen: %v", busy)
	}
	must(t, c.Release(t.Context()))
	want("released", "worker-1")
	c = mustClaim(t, store, nameless)
	want("claimed without a name", "")
	must(t, c.Release(t.Context()))
	mustResume(t, store, mustClaim(t, store, lock).Token())
	want("resumed by another", "")
	b.clock.Add(24 * time.Hour)
	mustClaim(t, store, lock)
	want("claimed when it had expired", "worker-1")
	b.clock.Add(24 * time.Hour)
	mustClaim(t, store, nameless)
	want("expired, without a name", "")
	b.clock.Add(time.Hour)
	mustClaim(t, store, lock)
	must(t, store.Erase(t.Context(), lock.Key))
	want("erased", "")

	named, other := newNamed(t)
	held := mustClaim(t, other, lock)
	if reasons := named.transact(t, held.CheckItem().Item); reasons != nil || mustGet(t, other, lock.Key).Holder != "worker-1" {
		t.Errorf("under other names: %v", reasons)
	}
	bench, plain := goldenBench(t)
	mustClaim(t, plain, ledger.Request{Key: order.Key, Payload: order.Payload, Holder: "worker-1"})
	golden.Want(t, bench.client, bench.table, "testdata/named.json", "pk")
}

// A claim whose request was lost arrives while its caller waits behind another
// holder: the wait ends with it, and not with its lease.
func TestAWaitKnowsItsOwnClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, store := newLineBy(t, ledger.Config{Lease: time.Hour})
		first := mustClaim(t, store, ledger.Request{Key: "k"})
		var late *dynamodb.UpdateItemInput
		l.seen = func(in *dynamodb.UpdateItemInput) { late = in }
		time.AfterFunc(time.Second, func() {
			must(t, first.Release(context.Background()))
			_, err := l.db.Client().UpdateItem(context.Background(), late)
			must(t, err)
		})
		began := time.Now()
		c, err := store.Claim(t.Context(), ledger.Request{Key: "k", WaitUpTo: time.Minute})
		if err != nil || time.Since(began) > 2*time.Second {
			t.Fatalf("%v after %v", err, time.Since(began))
		}
		must(t, c.Renew(t.Context()))
	})
}

// An old read only delays: the claim after the wait decides.
func TestAWaitByOldReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, store := newLineBy(t, ledger.Config{Lease: time.Hour})
		first := mustClaim(t, store, ledger.Request{Key: "k"})
		release, err := l.db.Server().HoldReads("ledger")
		must(t, err)
		defer release()
		must(t, first.Release(t.Context()))
		held := mustClaim(t, store, ledger.Request{Key: "k"})
		time.AfterFunc(time.Second, func() { must(t, held.Release(context.Background())) })
		began := time.Now()
		_, err = store.Claim(t.Context(), ledger.Request{Key: "k", WaitUpTo: 10 * time.Second})
		if err != nil || time.Since(began) != 10*time.Second || l.reads != 9 {
			t.Errorf("%v after %v and %d reads", err, time.Since(began), l.reads)
		}
		l.failReads = true
		_, err = store.Claim(t.Context(), ledger.Request{Key: "k", WaitUpTo: time.Second})
		if !errors.Is(err, errCut) || !strings.HasPrefix(err.Error(), "ledger: Claim on table ") {
			t.Errorf("a read that fails: %v", err)
		}
	})
}
