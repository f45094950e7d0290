package counter_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/pricetest"
)

func TestPrices(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	held := message(t, noon, "held")
	// The row as large as the price says: 22 events in the first KB.
	for i := range 20 {
		e.take(t, message(t, noon, i), 100)
	}
	e.take(t, held, 100)
	if _, err := e.Add(t.Context(), counter.Add{Key: "settled", Event: held, Weight: 10}); err != nil {
		t.Fatal(err)
	}
	pricetest.Run(t, e.db, []pricetest.Case{
		{Func: "Store.Take", Call: func(ctx context.Context) error {
			_, err := e.Take(ctx, counter.Take{Key: chat, Event: message(t, noon, "the 22nd"), Weight: 1, Cap: 100})
			return err
		}},
		{Func: "Store.Add", Call: func(ctx context.Context) error {
			_, err := e.Add(ctx, counter.Add{Key: "another", Event: message(t, noon, 1), Weight: 1})
			return err
		}},
		{Func: "Store.Refund", Call: func(ctx context.Context) error {
			_, err := e.Refund(ctx, counter.Refund{Key: "another", Event: message(t, noon, 1), Weight: 1})
			return err
		}},
		{Func: "Store.AddUnkeyed", Call: func(ctx context.Context) error {
			_, err := e.AddUnkeyed(ctx, counter.AddUnkeyed{Key: chat, At: noon, Weight: 1})
			return err
		}},
		{Func: "Store.Get", Call: func(ctx context.Context) error {
			_, err := e.Get(ctx, chat, noon)
			return err
		}},
		{Func: "Store.Adjust", Call: func(ctx context.Context) error {
			_, err := e.Adjust(ctx, counter.Adjust{Key: "settled", Event: held, From: 10, To: 7})
			return err
		}},
		{
			Func: "Store.Refund", In: "Tombstone",
			Call: func(ctx context.Context) error {
				_, err := e.Refund(ctx, counter.Refund{Key: "first", Event: message(t, noon, 1), Weight: 1, Tombstone: true})
				return err
			},
			Local: &dynamotest.Price{Requests: 2, WCU: 1}, Why: "a refused write tells no capacity",
		},
		{
			Func: "Store.TakeItem", Actions: func() []types.TransactWriteItem {
				return []types.TransactWriteItem{must(e.TakeItem(counter.Take{Key: "bought", Event: message(t, noon, 1), Weight: 1, Cap: 3})).Item}
			},
		},
		{Func: "TakeAll", Call: func(ctx context.Context) error {
			_, err := counter.TakeAll(ctx, takeOf(e.Store, "bought", message(t, noon, 2)), takeOf(e.Store, "another", message(t, noon, 2)))
			return err
		}, Local: &dynamotest.Price{Requests: 1, WCU: 2}, Why: "of a transaction's actions on a table it reports only the last"},
		{
			Func: "Store.AdjustItem", Actions: func() []types.TransactWriteItem {
				return []types.TransactWriteItem{must(e.AdjustItem(counter.Adjust{Key: chat, Event: held, From: 1, To: 1})).Item}
			},
		},
		{
			Func: "Store.RefundItem", Actions: func() []types.TransactWriteItem {
				return []types.TransactWriteItem{must(e.RefundItem(counter.Refund{Key: "bought", Event: message(t, noon, 1), Weight: 1})).Item}
			},
		},
		{Func: "Store.Get", Never: "UpdateItem", Why: "it adds a duration"},
		{Func: "TakeAll", Never: "UpdateItem", Why: "it adds a duration"},
		{Func: "Store.Erase", Call: func(ctx context.Context) error {
			_, err := e.Erase(ctx, "bought")
			return err
		}},
	}, e.Store)
}

// Beyond the first KB, with its 22 events, the row costs 1 WCU more for each
// 25.
func TestPriceGrowsWithTheRow(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	for i := 1; i <= 80; i++ {
		cost := e.db.Meter(func() { e.take(t, message(t, noon, i), 100) })
		switch want := (dynamotest.Price{Requests: 1, WCU: 1 + float64((i+2)/25)}); i {
		case 22, 47, 72: // the last that fit
			cost.Want(t, want)
		case 23, 48, 73:
			cost.Want(t, want)
		}
	}
}

// A refusal costs as much as a grant, and only this server's meter shows it.
func TestPriceOfARefusal(t *testing.T) {
	t.Parallel()
	e := open(t, counter.Config{})
	e.take(t, message(t, noon, 1), 1)
	for name, id := range map[string]int{"the cap is reached": 2, "a redelivery": 1} {
		cost := e.db.Meter(func() { e.take(t, message(t, noon, id), 1) })
		want := dynamotest.Price{Requests: 1}
		if e.db.InProcess() {
			want.WCU = 1
		}
		t.Log(name)
		cost.Want(t, want)
	}
}
