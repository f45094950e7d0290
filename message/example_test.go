package message_test

import (
	"context"
	"fmt"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/schema"
)

func ExampleNew() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client()

	// Tickets with customers, known by their mail, kept for a year.
	msgs, err := message.New(db, "ticket-messages", &message.Config{
		Names:     map[string]string{"chatId": "ticket", "messageId": "number", "userId": "customer", "userName": "name"},
		ActorType: message.String,
		Retention: 365 * 24 * time.Hour,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(msgs.Table().Key, "expires by", msgs.Table().TTL)
	fmt.Println(schema.Create(ctx, db, msgs.Table()))
	// Output:
	// (ticket S, number N) expires by ttl
	// <nil>
}

func ExampleStore_Save() {
	ctx := context.Background()
	msgs := exampleStore(ctx)
	m := message.Message{
		Scope: "ticket-9", Seq: 42, Actor: "7", ActorName: "Anna", Text: "where is my order?",
		At: time.Date(2026, 3, 29, 10, 30, 0, 0, time.UTC), // when it was sent, not when it came
	}
	for range 2 { // it is delivered twice
		out, err := msgs.Save(ctx, m)
		fmt.Println(out, err)
	}
	m.Actor = "anna"
	_, err := msgs.Save(ctx, m)
	fmt.Println(err)
	// Output:
	// created <nil>
	// duplicate <nil>
	// message: Actor must be a whole decimal number of at most 38 digits in its shortest form: ids are stored as numbers unless Config.ActorType is String
}

func ExampleStore_Get() {
	ctx := context.Background()
	msgs := exampleStore(ctx)
	talk(ctx, msgs)

	m, ok, err := msgs.Get(ctx, "ticket-9", 42)
	fmt.Println(m.ActorName, "said", m.Text, ok, err)
	_, ok, err = msgs.Get(ctx, "ticket-9", 99)
	fmt.Println(ok, err)
	// Output:
	// Bo said on its way true <nil>
	// false <nil>
}

func ExampleStore_InScope() {
	ctx := context.Background()
	msgs := exampleStore(ctx)
	talk(ctx, msgs)

	since := time.Date(2026, 3, 29, 10, 30, 10, 0, time.UTC)
	for m, err := range msgs.InScope(ctx, "ticket-9", message.Range{Since: since, NewestFirst: true}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(m.Seq, m.At.Format(time.TimeOnly), m.ActorName+":", m.Text)
	}
	// Output:
	// 44 10:30:30 Anna: thank you
	// 43 10:30:20 Cia: arriving today
	// 42 10:30:10 Bo: on its way
}

// A list in parts: each walk says in Next where the one after it begins.
func ExampleRange() {
	ctx := context.Background()
	msgs := exampleStore(ctx)
	talk(ctx, msgs)

	r := message.Range{Limit: 3}
	r.Next = &r.Cursor // or, if a client carries it, a variable of one's own
	for more := true; more; more = r.Cursor != "" {
		for m, err := range msgs.InScope(ctx, "ticket-9", r) {
			fmt.Println(m.Seq, err)
		}
		fmt.Println("more:", r.Cursor != "")
	}
	// Output:
	// 41 <nil>
	// 42 <nil>
	// 43 <nil>
	// more: true
	// 44 <nil>
	// more: false
}

func ExampleStore_Recent() {
	ctx := context.Background()
	msgs := exampleStore(ctx)
	talk(ctx, msgs)

	recent, err := msgs.Recent(ctx, "ticket-9", 2)
	for _, m := range recent {
		fmt.Println(m.Seq, m.Text)
	}
	fmt.Println(err)
	// Output:
	// 44 thank you
	// 43 arriving today
	// <nil>
}

func ExampleStore_FastConversation() {
	ctx := context.Background()
	msgs := exampleStore(ctx)
	talk(ctx, msgs)

	last, _, err := msgs.Get(ctx, "ticket-9", 44)
	if err != nil {
		fmt.Println(err)
		return
	}
	fast := message.FastConversation{Scope: last.Scope, Seq: last.Seq, Actor: last.Actor, At: last.At}
	pace, err := msgs.FastConversation(ctx, fast)
	fmt.Println(pace.Fast, pace.Others, err)

	fast.Threshold = 2
	pace, err = msgs.FastConversation(ctx, fast)
	fmt.Println(pace.Fast, pace.Others, err)
	// Output:
	// false 2 <nil>
	// true 2 <nil>
}

// talk saves four messages, ten seconds apart.
func talk(ctx context.Context, msgs *message.Store) {
	at := time.Date(2026, 3, 29, 10, 30, 0, 0, time.UTC)
	for i, m := range []message.Message{
		{Actor: "7", ActorName: "Anna", Text: "where is my order?"},
		{Actor: "8", ActorName: "Bo", Text: "on its way"},
		{Actor: "9", ActorName: "Cia", Text: "arriving today"},
		{Actor: "7", ActorName: "Anna", Text: "thank you"},
	} {
		m.Scope, m.Seq, m.At = "ticket-9", int64(41+i), at.Add(time.Duration(i)*10*time.Second)
		if _, err := msgs.Save(ctx, m); err != nil {
			panic(err)
		}
	}
}

func exampleStore(ctx context.Context) *message.Store {
	db := dynamotest.NewServer(nil).Client()
	msgs, err := message.New(db, "ticket-messages", &message.Config{
		Now: func() time.Time { return time.Date(2026, 3, 29, 10, 31, 0, 0, time.UTC) },
	})
	if err != nil {
		panic(err)
	}
	if err := schema.Create(ctx, db, msgs.Table()); err != nil {
		panic(err)
	}
	return msgs
}
