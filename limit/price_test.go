package limit_test

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/limit"
)

// pair are two limits.
func pair(key string, weight int64) limit.Take {
	return limit.Take{Key: key, Limits: []limit.Limit{
		{Name: "rpm", N: 100, Per: time.Minute, Burst: 50, Weight: 1},
		{Name: "tpm", N: 7000, Per: time.Minute, Burst: 10_000, Weight: weight},
	}}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	const key = "eleven byte"
	var last limit.Take
	for range 20 { // the row as large as the price says: two limits, 16 entries
		last = take(t, e.Store, pair(key, 100)).Take
	}
	if size := item.Size(e.rowOf(t, key)); size > 1024 {
		t.Errorf("the row has %d bytes", size)
	}
	pricetest.Run(t, e.db, []pricetest.Case{
		{Func: "Store.Take", Call: func(ctx context.Context) error { _, err := e.Take(ctx, pair(key, 1)); return err }},
		{Func: "Store.Settle", Call: func(ctx context.Context) error {
			_, err := e.Settle(ctx, last, map[string]int64{"tpm": 9})
			return err
		}},
	}, e.Store)
	for range 60 { // other processes empty it
		take(t, e.other(t), pair(key, 1))
	}
	cost := e.db.Meter(func() { take(t, e.Store, pair(key, 1)) })
	refused := e.db.Meter(func() { take(t, e.Store, pair(key, 1)) })
	if e.db.InProcess() {
		cost.Want(t, dynamotest.Price{Requests: 1, WCU: 1})
	}
	refused.Want(t, dynamotest.Price{})
}

// The row as it is stored: a take, one that was settled, and the settlement.
func TestGoldenRow(t *testing.T) {
	t.Parallel()
	e := open(t, limit.Config{})
	a := pair(tenant, 900)
	a.Event = ev(t, 0)
	g := take(t, e.Store, a)
	e.now = e.now.Add(time.Second)
	if _, err := e.Settle(t.Context(), g.Take, map[string]int64{"tpm": 812}); err != nil {
		t.Fatal(err)
	}
	a.Event = ev(t, 1)
	take(t, e.Store, a)
	golden.Want(t, e.db.Client(), e.table, "testdata/row.json", "pk", "sk")
}

func TestOtherNames(t *testing.T) {
	t.Parallel()
	var register []string
	for i := range 16 {
		register = append(register, "l"+strconv.Itoa(i))
	}
	golden.WithOtherNames(t, golden.Renamed(t, "limit", register...), func(t testing.TB, names map[string]string, note func(...any)) (*dynamodb.Client, string) {
		e := open(t, limit.Config{Names: names, Rand: rand.NewChaCha8([32]byte{})})
		for n := range 4 {
			g, err := e.Take(t.Context(), ask(2, of(ev(t, n%3))))
			note(g.OK, g.Outcome, g.RetryAfter, g.Remaining, err)
		}
		out, err := e.Settle(t.Context(), ask(2, of(ev(t, 0))), map[string]int64{"rps": 1})
		note(out, err)
		return e.db.Client(), e.table
	})
}
