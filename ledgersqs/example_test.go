package ledgersqs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/ledgersqs"
	"github.com/homeops/ddbpatterns/schema"
)

// shipping is the work of an order.
func shipping(ctx context.Context) ledgersqs.Handler {
	db := dynamotest.NewServer(nil).Client() // or dynamodb.NewFromConfig
	seen, err := ledger.New(db, "seen", nil)
	check(err)
	check(schema.Create(ctx, db, seen.Table()))
	key := func(m ledgersqs.Message) (string, error) { return ledger.Key("ORDER", m.Attributes["order"].String) }
	return ledgersqs.Once(seen, key, func(_ context.Context, m ledgersqs.Message, c *ledger.Claim) error {
		if strings.HasPrefix(m.Body, "x") {
			return ledger.Permanent(errors.New("no such article"))
		}
		fmt.Println("ship", m.Body)
		return nil
	})
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// refused keeps what can never be done: here on paper.
func refused(_ context.Context, m ledgersqs.Message, why error) error {
	fmt.Println("for people:", m.Body, "because of", why)
	return nil
}

func ExampleRun() {
	ctx, cancel := context.WithCancel(context.Background())
	queue := newFake() // or sqs.NewFromConfig
	queue.send("lamp", "xyz", "lamp")
	go func() {
		for queue.left() > 0 {
			<-time.After(10 * time.Millisecond)
		}
		cancel() // by a signal, in a service
	}()
	err := ledgersqs.Run(ctx, queue, url, shipping(ctx), &ledgersqs.Config{Refused: refused})
	fmt.Println(err)
	// Output:
	// ship lamp
	// for people: xyz because of no such article
	// <nil>
}

func ExampleLambda() {
	ctx := context.Background()
	handle, err := ledgersqs.Lambda(shipping(ctx), &ledgersqs.Config{Refused: refused})
	check(err)
	// In a function: lambda.Start(handle). Lambda calls it with such events:
	var event ledgersqs.Event
	check(json.Unmarshal([]byte(`{"Records": [
		{"messageId": "1", "body": "lamp", "messageAttributes": {"order": {"stringValue": "17", "dataType": "String"}}},
		{"messageId": "2", "body": "lamp", "messageAttributes": {"order": {"stringValue": "17", "dataType": "String"}}}
	]}`), &event))
	out, err := handle(ctx, event)
	fmt.Println(len(out.Failures), "stay,", err)
	// Output:
	// ship lamp
	// 0 stay, <nil>
}
