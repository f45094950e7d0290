package ledger_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/ledger"
)

func TestPrices(t *testing.T) {
	b, store := opened(t, ledger.Config{})
	ops := b.ops(t, store)
	claim := func(key string) *ledger.Claim { return mustClaim(t, store, ledger.Request{Key: key}) }
	completed, failed, renewed, inTransaction := claim("completed"), claim("failed"), claim("renewed"), claim("in a transaction")
	must(t, claim("refused").Fail(t.Context(), ledger.Permanent(errCut)))
	wantMark(t, store, "to be forgotten", event.Created)
	forgotten := mustGet(t, store, "to be forgotten")
	reopened, token := mustGet(t, store, "refused"), claim("resumed").Token()
	pricetest.Run(t, b.db, []pricetest.Case{
		{Func: "Store.MarkSeen", Call: func(ctx context.Context) error {
			out, err := store.MarkSeen(ctx, "marked")
			return errors.Join(err, unless(out == event.Created, "not created"))
		}},
		{Func: "Store.Claim", Call: func(ctx context.Context) error {
			_, err := store.Claim(ctx, ledger.Request{Key: "claimed"})
			return err
		}},
		{Func: "Store.Claim", In: "ReadFirst", Call: func(ctx context.Context) error {
			_, err := store.Claim(ctx, ledger.Request{Key: "refused", ReadFirst: true})
			return unless(isPermanent(err), "not refused")
		}},
		{Func: "Store.Get", Call: func(ctx context.Context) error {
			_, ok, err := store.Get(ctx, "completed")
			return errors.Join(err, unless(ok, "not found"))
		}},
		{Func: "Operators.List", Call: func(ctx context.Context) error {
			n := 0
			for _, err := range ops.List(ctx, ledger.Filter{Source: "nowhere"}) {
				n++
				if err != nil {
					return err
				}
			}
			return unless(n == 0, "more than nothing")
		}},
		{Func: "Operators.Reopen", Call: func(ctx context.Context) error { return ops.Reopen(ctx, reopened) }},
		{Func: "Store.Erase", Call: func(ctx context.Context) error { return store.Erase(ctx, "refused") }},
		{Func: "Operators.Forget", Call: func(ctx context.Context) error { return ops.Forget(ctx, forgotten) }},
		{Func: "Store.Resume", Call: func(ctx context.Context) error {
			_, err := store.Resume(ctx, token)
			return err
		}},
		{Func: "Claim.CompleteItem", Actions: func() []types.TransactWriteItem {
			done, err := inTransaction.CompleteItem("result")
			if err != nil {
				t.Fatal(err)
			}
			return []types.TransactWriteItem{done.Item}
		}},
		{Func: "Store.MarkItem", Actions: func() []types.TransactWriteItem {
			mark, err := store.MarkItem("marked in a transaction")
			if err != nil {
				t.Fatal(err)
			}
			return []types.TransactWriteItem{mark.Item}
		}},
		{Func: "Claim.Complete", Call: func(ctx context.Context) error { return completed.Complete(ctx, "result") }},
		{Func: "Claim.Fail", Call: func(ctx context.Context) error { return failed.Fail(ctx, errors.New("cause")) }},
		{Func: "Claim.Renew", Call: renewed.Renew},
		{Func: "Claim.Release", Call: renewed.Release},
		{Func: "Do", Call: func(ctx context.Context) error {
			var w worker
			_, err := ledger.Do(ctx, store, order, w.do)
			return err
		}},
		{Func: "DoTx", Call: func(ctx context.Context) error {
			_, err := ledger.DoTx(ctx, store, ledger.Request{Key: "transaction"}, (&paying{b: b}).work)
			return err
		}, Local: &dynamotest.Price{Requests: 2, WCU: 3}, Why: "of a transaction's actions on a table it reports only the last"},
		{Func: "DoTx", In: "NoItems", Call: func(ctx context.Context) error {
			_, err := ledger.DoTx(ctx, store, ledger.Request{Key: "no items"}, func(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error) {
				return "paid", nil, nil
			})
			return err
		}},
		{Func: "DoTx", Beyond: "reads first", Call: func(ctx context.Context) error {
			_, err := ledger.DoTx(ctx, store, ledger.Request{Key: "transaction", ReadFirst: true}, (&paying{b: b}).work)
			return err
		}},
		{Func: "Store.Get", Never: "UpdateItem", Why: "it reads the field claim"},
		{Func: "Operators.List", Never: "UpdateItem", Why: "as Get"},
		{Func: "Operators.Forget", Never: "UpdateItem", Why: "as Get"},
		{Func: "Do", In: "ReadFirst", Call: func(ctx context.Context) error {
			var w worker
			again := order
			again.ReadFirst = true
			res, err := ledger.Do(ctx, store, again, w.do)
			return errors.Join(err, unless(res.Replayed, "not replayed"))
		}},
	}, store)
}

func unless(ok bool, what string) error {
	if ok {
		return nil
	}
	return errors.New(what)
}

// What the Price lines say of refusals and of larger rows. Only the server in
// this process reports what a refused write costs.
func TestPricesBeyondTheFirstCall(t *testing.T) {
	t.Parallel()
	db := dynamotest.New(t, &dynamotest.Config{MaxBackoff: time.Millisecond})
	b := &bench{db: db, client: db.Client(), table: "ledger", clock: &clock{at: goldenDay}}
	b.create(t)
	store := b.store(t, ledger.Config{Lease: time.Minute, Retention: 24 * time.Hour})
	var w worker
	do := func(key string) {
		_, _ = ledger.Do(t.Context(), store, ledger.Request{Key: key}, w.do)
	}
	costs := func(what string, call func(), want dynamotest.Price) {
		t.Helper()
		t.Log(what)
		db.Meter(call).Want(t, want)
	}
	one := dynamotest.Price{Requests: 1, WCU: 1}

	wantMark(t, store, "marked", event.Created)
	costs("MarkSeen, duplicate", func() { wantMark(t, store, "marked", event.Duplicate) }, one)
	mustClaim(t, store, order)
	costs("Claim, in progress", func() { wantBusy(t, store, order, time.Minute+10*time.Second) }, one)
	do("done")
	costs("Do, replayed", func() { do("done") }, one)

	big := mustClaim(t, store, ledger.Request{Key: "big"})
	costs("Complete, a row of 3 KB", func() { must(t, big.Complete(t.Context(), strings.Repeat("x", 2500))) }, dynamotest.Price{Requests: 1, WCU: 3})
	costs("MarkSeen, duplicate of 3 KB", func() { wantMark(t, store, "big", event.Duplicate) }, dynamotest.Price{Requests: 1, WCU: 3})

	b.clock.Add(24 * time.Hour)
	for _, key := range []string{"claimed anew", "marked anew"} {
		must(t, mustClaim(t, store, ledger.Request{Key: key}).Complete(t.Context(), strings.Repeat("x", 9500)))
	}
	b.clock.Add(24 * time.Hour)
	costs("Claim of an expired key of 10 KB", func() { mustClaim(t, store, ledger.Request{Key: "claimed anew"}) }, dynamotest.Price{Requests: 2, WCU: 20})
	costs("MarkSeen over an expired row of 10 KB", func() { wantMark(t, store, "marked anew", event.Created) }, dynamotest.Price{Requests: 1, WCU: 10})

	long := ledger.Request{Key: strings.Repeat("k", 1900)}
	failing := mustClaim(t, store, long)
	costs("Fail, a row of 3 KB", func() { must(t, failing.Fail(t.Context(), errors.New(strings.Repeat("x", 500)))) }, dynamotest.Price{Requests: 1, WCU: 3})
	costs("Claim of a failed key of 3 KB", func() { mustClaim(t, store, long) }, dynamotest.Price{Requests: 1, WCU: 3})

	b.put(t, ddb.Item{"pk": item.S("seat")})
	costs("DoTx, refused once, of two actions and then one of 3 KB", func() {
		_, err := ledger.DoTx(t.Context(), store, ledger.Request{Key: "seats"}, func(_ context.Context, c *ledger.Claim) (string, []types.TransactWriteItem, error) {
			if c.Reasons() == nil {
				return "seat", []types.TransactWriteItem{b.insert("seat"), b.insert("another")}, nil
			}
			long := b.insert("third")
			long.Put.Item["note"] = item.S(strings.Repeat("x", 2500))
			return "third", []types.TransactWriteItem{long}, nil
		})
		must(t, err)
	}, dynamotest.Price{Requests: 3, WCU: 1 + 6 + 8})

	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "TransactWriteItems"})
	costs("DoTx of two actions whose reply is lost", func() {
		_, err := ledger.DoTx(t.Context(), store, ledger.Request{Key: "lost"}, func(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error) {
			return "x", []types.TransactWriteItem{b.add("a"), b.add("b")}, nil
		})
		must(t, err)
	}, dynamotest.Price{Requests: 3, WCU: 1 + 2*3, RCU: 2 * 3})

	costs("Do with a transaction of two actions", func() {
		_, err := ledger.Do(t.Context(), store, ledger.Request{Key: "joined by Do"}, func(_ context.Context, c *ledger.Claim) (string, error) {
			return "x", b.book(t, c, "x")
		})
		must(t, err)
	}, dynamotest.Price{Requests: 3, WCU: 6})
}
