package message_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// indexedStore is a store with the optional index, in which two tickets talk.
func indexedStore(ctx context.Context) (*dynamodb.Client, *message.Store) {
	db := dynamotest.NewServer(nil).Client()
	msgs, err := message.New(db, "ticket-messages", &message.Config{ActorType: types.ScalarAttributeTypeS, ActorIndex: true})
	if err != nil {
		panic(err)
	}
	if err := schema.Create(ctx, db, msgs.Table()); err != nil {
		panic(err)
	}
	at := time.Date(2026, 3, 29, 10, 30, 0, 0, time.UTC)
	for i, m := range []message.Message{
		{Scope: "ticket-9", Actor: "anna", Text: "one more of these", Data: map[string]any{"order": "1001", "cents": 1250}},
		{Scope: "ticket-9", Actor: "bo", Text: "it is on its way"},
		{Scope: "ticket-12", Actor: "anna", Text: "and two of those", Data: map[string]any{"order": "1004", "cents": 300}},
	} {
		m.Seq, m.At = int64(41+i), at.Add(time.Duration(i)*time.Minute)
		if _, err := msgs.Save(ctx, m); err != nil {
			panic(err)
		}
	}
	return db, msgs
}

func ExampleStore_ByActor() {
	ctx := context.Background()
	_, msgs := indexedStore(ctx)

	for m, err := range msgs.ByActor(ctx, "anna", message.Range{NewestFirst: true}) {
		fmt.Println(m.Scope, m.At.Format(time.TimeOnly), m.Text, err)
	}
	// Output:
	// ticket-12 10:32:00 and two of those <nil>
	// ticket-9 10:30:00 one more of these <nil>
}

func ExampleMatch() {
	ctx := context.Background()
	_, msgs := indexedStore(ctx)

	large := message.Match{Data: []record.Compare{{Name: "cents", Op: ">=", Value: 500}}}
	for m, err := range msgs.InScope(ctx, "ticket-9", message.Range{Match: large, ReadAtMost: 1000}) {
		order := record.ReadData(m.Data)
		fmt.Println(order.Text("order"), order.Int("cents"), m.Text, err, order.Err())
	}
	// Output: 1001 1250 one more of these <nil> <nil>
}

// A message and the order that it makes, in one transaction.
func ExampleStore_SaveItem() {
	ctx := context.Background()
	db, msgs := indexedStore(ctx)

	m := message.Message{Scope: "ticket-9", Seq: 44, Actor: "anna", Text: "three, please", At: time.Date(2026, 3, 29, 10, 33, 0, 0, time.UTC)}
	save, err := msgs.SaveItem(m)
	if err != nil {
		fmt.Println(err)
		return
	}
	order := types.TransactWriteItem{Put: &types.Put{TableName: save.Item.Put.TableName, Item: map[string]types.AttributeValue{
		"chatId": &types.AttributeValueMemberS{Value: "orders"}, "messageId": &types.AttributeValueMemberN{Value: "1005"},
	}}}
	for range 2 { // it is delivered twice
		_, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{save.Item, order}})
		var cancelled *types.TransactionCanceledException
		if errors.As(err, &cancelled) {
			out, err := save.Outcome(cancelled.CancellationReasons[0])
			fmt.Println(out, err)
			continue
		}
		fmt.Println("both are there", err)
	}
	// Output:
	// both are there <nil>
	// duplicate <nil>
}

func ExampleStore_EraseActor() {
	ctx := context.Background()
	_, msgs := indexedStore(ctx)

	fmt.Println(msgs.EraseActor(ctx, "anna"))
	fmt.Println(msgs.EraseActor(ctx, "anna"))
	// Output:
	// 2 <nil>
	// 0 <nil>
}

func ExampleStore_Erase() {
	ctx := context.Background()
	_, msgs := indexedStore(ctx)
	fmt.Println(msgs.Erase(ctx, "ticket-9")) // until it returns 0
	// Output: 2 <nil>
}

// Anna is erased, and a message of Bo quotes her as it was received.
func ExampleStore_DropRaw() {
	ctx := context.Background()
	_, msgs := indexedStore(ctx)
	at := time.Date(2026, 3, 29, 10, 33, 0, 0, time.UTC)
	quote := message.Message{Scope: "ticket-9", Seq: 44, Actor: "bo", Text: "it is black", Raw: "it is black\n> Anna: which colour?", At: at}
	fmt.Println(msgs.Save(ctx, quote))

	fmt.Println(msgs.DropRaw(ctx, "ticket-9", 44))
	m, _, err := msgs.Get(ctx, "ticket-9", 44)
	fmt.Printf("%q %q %v\n", m.Text, m.Raw, err)
	// Output:
	// created <nil>
	// <nil>
	// "it is black" "" <nil>
}
