package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
)

// listed are the keys that List yields, sorted.
func listed(t *testing.T, store *ledger.Operators, f ledger.Filter) string {
	t.Helper()
	var keys []string
	for r, err := range store.List(t.Context(), f) {
		must(t, err)
		keys = append(keys, r.Key)
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}

// inParts are the keys that several listings yield, sorted. Each goes on behind
// the one before.
func inParts(t *testing.T, store *ledger.Operators, filter func() ledger.Filter) string {
	t.Helper()
	var keys []string
	cursor := ""
	for more := true; more; more = cursor != "" {
		f := filter()
		f.Cursor, f.Next = cursor, &cursor
		keys = append(keys, strings.Fields(listed(t, store, f))...)
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}

// newListing is a table with a row of each kind, those of two clocks included.
func newListing(t *testing.T) (*bench, *ledger.Operators) {
	t.Helper()
	b, store := opened(t, ledger.Config{Lease: time.Minute, MaxSkew: 10 * time.Second, Retention: 24 * time.Hour})
	claim := func(key string) *ledger.Claim { return mustClaim(t, store, ledger.Request{Key: key}) }
	must(t, claim("A:expired").Complete(t.Context(), 1))
	b.put(t, ddb.Item{"pk": item.S("A:old-expired"), "expiresAt": item.N(b.clock.Now().Add(24 * time.Hour).Unix())})
	b.clock.Add(24 * time.Hour)
	b.put(t, ddb.Item{
		"pk": item.S("A:old"), "expiresAt": item.N(b.clock.Now().Unix() + 3600), "state": item.S("failed"), // its own word
		"seenAt": item.S(b.clock.Now().Add(-25 * time.Hour).Format(time.RFC3339)),
	})
	b.put(t, ddb.Item{"pk": item.S("A:old-for-ever")})
	claim("A:stuck")
	b.clock.Add(70 * time.Second)
	claim("A:claimed")
	must(t, claim("A:failed").Fail(t.Context(), errCut))
	must(t, claim("A:refused").Fail(t.Context(), ledger.Permanent(errCut)))
	must(t, claim("A:done").Complete(t.Context(), 1))
	wantMark(t, store, "AB:marked", event.Created)
	wantMark(t, store, "A", event.Created)
	key, err := ledger.Key("a:b%", "x")
	must(t, err)
	wantMark(t, store, key, event.Created)
	return b, b.ops(t, store)
}

// A row that cannot be read keeps no other from being listed, and is named. A listing
// reads on behind the megabyte that one request returns.
func TestListAmongUnreadableRows(t *testing.T) {
	t.Parallel()
	b, store := newListing(t)
	b.put(t, ddb.Item{"pk": item.S("bad"), "claim": item.S("x"), "state": item.S("paused")})
	for _, key := range []string{"a", "b", "c", "d"} {
		b.put(t, ddb.Item{"pk": item.S(key), "notes": item.S(strings.Repeat("x", 350<<10))})
	}
	read, unreadable := 0, 0
	for r, err := range store.List(t.Context(), ledger.Filter{}) {
		if err == nil {
			if read++; read > 14 {
				t.Fatal("listed again")
			}
			continue
		}
		if unreadable++; r.Key != "bad" || !strings.Contains(err.Error(), "ledger: List on table ") || strings.Contains(err.Error(), "bad") {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if read != 14 || unreadable != 1 {
		t.Errorf("listed %d, and %d unreadable", read, unreadable)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range store.List(ctx, ledger.Filter{}) {
		wantErr(t, "List", err, context.Canceled)
	}
}

func TestListRefuses(t *testing.T) {
	t.Parallel()
	_, store := newListing(t)
	var next string
	listed(t, store, ledger.Filter{ReadAtMost: 1, Next: &next})
	silent, err := store.Operators(recordtest.Silent(t))
	must(t, err)
	for name, tc := range map[string]struct {
		filter ledger.Filter
		field  string
	}{
		"an unknown state":  {ledger.Filter{States: []ledger.State{ledger.Done, "paused"}}, "Filter.States[1]"},
		"fewer than none":   {ledger.Filter{ReadAtMost: -1}, "Filter.ReadAtMost"},
		"a damaged cursor":  {ledger.Filter{Cursor: next[1:]}, "Filter.Cursor"},
		"a prefix":          {ledger.Filter{Prefix: "a\xff"}, "Filter.Prefix"},
		"a long prefix":     {ledger.Filter{Prefix: strings.Repeat("a", 2049)}, "Filter.Prefix"},
		"of another action": {ledger.Filter{Cursor: mustClaim(t, store.Store, ledger.Request{Key: "k"}).Token()}, "Filter.Cursor"},
	} {
		unchanged, n := next, 0
		tc.filter.Next = &unchanged
		for _, err := range silent.List(t.Context(), tc.filter) {
			recordtest.WantBad(t, err, "ledger", tc.field, name)
			n++
		}
		if n != 1 || unchanged != next {
			t.Errorf("%s: yielded %d times, next %q", name, n, unchanged)
		}
	}
}

// Law: List by any filter, in parts of any size, is every row, as Get reads it, less
// what does not meet it.
func TestListIsAFilterOfAll(t *testing.T) {
	t.Parallel()
	_, store := newListing(t)
	if got, want := listed(t, store, ledger.Filter{}), "A A:claimed A:done A:failed A:old A:old-for-ever A:refused A:stuck AB:marked a%3Ab%25:x"; got != want {
		t.Errorf("all: %s, want %s", got, want)
	}
	all := map[string]ledger.Record{}
	for r, err := range store.List(t.Context(), ledger.Filter{}) {
		must(t, err)
		all[r.Key] = r
		if diff := cmp.Diff(mustGet(t, store.Store, r.Key), r); diff != "" {
			t.Errorf("%s (-Get +List):\n%s", r.Key, diff)
		}
	}
	rnd := rand.New(rand.NewPCG(7, 7))
	kinds := []ledger.State{ledger.Claimed, ledger.Failed, ledger.Done, ledger.Refused}
	for n := range 150 {
		f := ledger.Filter{}
		for _, kind := range kinds {
			if rnd.IntN(2) == 0 {
				f.States = append(f.States, kind, kind)
			}
		}
		f.Prefix = []string{"", "", "A", "AB", "A:old", "A:o", "a%3Ab%25", "a%3Ab", "a"}[rnd.IntN(9)]
		want := slices.Collect(maps.Keys(all))
		want = slices.DeleteFunc(want, func(key string) bool { return !meets(all[key], f) })
		slices.Sort(want)
		part := func() ledger.Filter { f.ReadAtMost = rnd.IntN(6); return f }
		if got := inParts(t, store, part); got != strings.Join(want, " ") {
			t.Errorf("%d, %+v: %s, want %s", n, f, got, want)
		}
	}
}

// meets says in plain Go what a filter says.
func meets(r ledger.Record, f ledger.Filter) bool {
	return (len(f.States) == 0 || slices.Contains(f.States, r.State)) && (f.Prefix == "" || strings.HasPrefix(r.Key+":", f.Prefix+":"))
}

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
			for _, err := range ops.List(ctx, ledger.Filter{Prefix: "nowhere"}) {
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
		{Func: "Claim.CheckItem", Actions: func() []types.TransactWriteItem {
			return []types.TransactWriteItem{renewed.CheckItem().Item}
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
		{Func: "Hold", Call: func(ctx context.Context) error {
			return ledger.Hold(ctx, store, lock, func(context.Context, *ledger.Claim) error { return nil })
		}},
		{Func: "Hold", Beyond: "waits for a held key", Call: func(ctx context.Context) error {
			held := ledger.Request{Key: "claimed", WaitUpTo: 60 * time.Millisecond}
			return unless(isBusy(ledger.Hold(ctx, store, held, func(context.Context, *ledger.Claim) error { return nil })), "not busy")
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
	b := newOwnBench(t)
	store := b.store(t, ledger.Config{Lease: time.Minute, Retention: 24 * time.Hour})
	var w worker
	do := func(key string) {
		_, _ = ledger.Do(t.Context(), store, ledger.Request{Key: key}, w.do)
	}
	costs := func(what string, call func(), want dynamotest.Price) {
		t.Helper()
		t.Log(what)
		b.db.Meter(call).Want(t, want)
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

	b.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "TransactWriteItems"})
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

// A request reads up to 1 MB, however small the rows are.
func TestListReadsAMegabyteOfSmallRows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const rows = 17000
	for i := 0; i < rows; i += 25 {
		var puts []types.WriteRequest
		for n := range 25 {
			row := ddb.Item{"pk": item.S(fmt.Sprintf("a:%d", i+n)), "seenAt": item.S("2026-03-15T12:00:00.000Z")}
			puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: row}})
		}
		_, err := b.client.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{b.table: puts}})
		must(t, err)
	}
	n := 0
	cost := b.db.Meter(func() {
		for _, err := range b.ops(t, b.store(t, ledger.Config{})).List(t.Context(), ledger.Filter{}) {
			must(t, err)
			n++
		}
	})
	if n != rows || cost.Requests != 1 {
		t.Errorf("%d rows in %d requests", n, cost.Requests)
	}
}
