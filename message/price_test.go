package message_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/message"
)

func TestPrices(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{})
	long := said(20, bo, 4)
	long.Raw = strings.Repeat("r", 870) // 1 KB with all else
	indexed, err := message.New(e.db.Client(), e.db.Name("indexed"), &message.Config{ActorIndex: true, Now: recordtest.Clock(noon)})
	if err != nil {
		t.Fatal(err)
	}
	recordtest.Create(t, e.db.Client(), indexed.Table())
	alone, gone := said(1, bo, 4), said(2, cia, 4)
	alone.Scope = "-200"
	e.save(t, alone)
	for _, m := range []message.Message{gone, said(3, bo, 4)} {
		if _, err := indexed.Save(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	pricetest.Run(t, e.db, []pricetest.Case{
		{
			Func: "Store.SaveItem", Actions: func() []types.TransactWriteItem {
				return []types.TransactWriteItem{e.saveItem(t, said(30, bo, 4)).Item}
			},
		},
		{Func: "Store.Erase", Call: func(ctx context.Context) error { _, err := e.Erase(ctx, "-200"); return err }},
		{Func: "Store.EraseActor", Call: func(ctx context.Context) error { _, err := indexed.EraseActor(ctx, cia); return err }},
		{Func: "Store.ByActor", Call: func(ctx context.Context) error {
			for _, err := range indexed.ByActor(ctx, bo, message.TimeRange{}) {
				return err
			}
			return nil
		}},
		{Func: "Store.Save", Call: func(ctx context.Context) error {
			_, err := e.Save(ctx, long)
			return err
		}},
		{Func: "Store.Get", Call: func(ctx context.Context) error {
			_, _, err := e.Get(ctx, chat, 20)
			return err
		}},
		{Func: "Store.InScope", Call: func(ctx context.Context) error {
			for _, err := range e.InScope(ctx, chat, message.Range{}) {
				return err
			}
			return nil
		}},
		{Func: "Store.Recent", Call: func(ctx context.Context) error {
			_, err := e.Recent(ctx, chat, 4)
			return err
		}},
		{Func: "Store.FastConversation", Call: func(ctx context.Context) error {
			_, err := e.FastConversation(ctx, message.FastConversation{Scope: chat, Seq: 21, Actor: anna, At: noon})
			return err
		}},
		{Func: "Store.DropRaw", Call: func(ctx context.Context) error { return e.DropRaw(ctx, chat, 20) }},
	}, e.Store, indexed)
}

func TestPriceOfLargeMessages(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{ActorIndex: true})
	m := said(1, bo, 0)
	m.Raw = strings.Repeat("r", 2500)
	cost := e.db.Meter(func() { e.save(t, m) })
	cost.Want(t, dynamotest.Price{Requests: 1, WCU: 6}) // 3 KB, and as much in the index
	nobody := m
	nobody.Seq, nobody.Actor = 2, ""
	cost = e.db.Meter(func() { e.save(t, nobody) })
	cost.Want(t, dynamotest.Price{Requests: 1, WCU: 3})
}

// In place of an expired row a message costs as the larger of the two.
func TestPriceInPlaceOfAnExpiredRow(t *testing.T) {
	t.Parallel()
	e := open(t, message.Config{Retention: time.Hour})
	large := said(1, bo, 0)
	large.Raw = strings.Repeat("r", 2500)
	e.save(t, large)
	e.now = noon.Add(time.Hour)
	small := said(1, bo, 0)
	small.At = e.now
	cost := e.db.Meter(func() { e.save(t, small) })
	cost.Want(t, dynamotest.Price{Requests: 1, WCU: 3})
}
