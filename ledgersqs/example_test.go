package ledgersqs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/ledgersqs"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// shipping is the work of an order.
func shipping(ctx context.Context) ledgersqs.Handler {
	seen := ledgerOf(ctx)
	key := func(m ledgersqs.Message) (string, error) {
		return ledger.Key(m.Attributes["customer"].String, m.Attributes["order"].String)
	}
	return ledgersqs.Once(seen, key, func(_ context.Context, m ledgersqs.Message, c *ledger.Claim) error {
		if strings.HasPrefix(m.Body, "x") {
			return ledger.Permanent(errors.New("no such article"))
		}
		ev, err := c.Event() // the same at each delivery
		if err != nil {
			return err
		}
		return ship(ev.String(), m.Body)
	})
}

var errGone = errors.New("the customer was erased") // ErrGone of examples/cookbook

// refusing asks refuse first, such as Personal.Refuse of examples/cookbook. A message of a
// customer who was erased is deleted, and not kept for people.
func refusing(refuse func(ctx context.Context, customer string) error, handle ledgersqs.Handler) ledgersqs.Handler {
	return func(ctx context.Context, m ledgersqs.Message) error {
		err := refuse(ctx, m.Attributes["customer"].String)
		if errors.Is(err, errGone) {
			return nil
		}
		if err != nil {
			return err
		}
		return handle(ctx, m)
	}
}

// ship asks a carrier, which ships once for each key.
func ship(_, article string) error {
	fmt.Println("ship", article)
	return nil
}

func ledgerOf(ctx context.Context) *ledger.Store {
	db := dynamotest.NewServer(nil).Client() // or dynamodb.NewFromConfig
	seen, err := ledger.New(db, "seen", nil)
	check(err)
	check(schema.Create(ctx, db, seen.Table()))
	return seen
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// keep returns a Config.Refused: it stores what can never be done, for people, once for each
// message. The customer's rows are erased by record.Rows.Erase of the partition.
func keep(ctx context.Context) func(context.Context, ledgersqs.Message, error) error {
	db := refusedTable(ctx)
	return func(ctx context.Context, m ledgersqs.Message, why error) error {
		_, err := db.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String("refused"), ConditionExpression: aws.String("attribute_not_exists(pk)"),
			Item: record.Item{
				"pk": record.Text(record.Key(m.Attributes["customer"].String, "KEPT")), "sk": record.Text(m.ID),
				"body": record.Text(m.Body[:min(len(m.Body), 256<<10)]), "why": record.Text(why.Error()), // a row has at most 400 KB
			},
		})
		if _, kept := errors.AsType[*types.ConditionalCheckFailedException](err); kept {
			return nil // an earlier delivery kept it
		}
		if err == nil {
			fmt.Println("for people:", m.Body, "because of", why)
		}
		return err
	}
}

func refusedTable(ctx context.Context) *dynamodb.Client {
	db := dynamotest.NewServer(nil).Client()
	check(schema.Create(ctx, db, schema.Table{Name: "refused", Key: schema.Key{Partition: schema.String("pk"), Sort: schema.String("sk")}}))
	return db
}

func ExampleRun() {
	ctx, cancel := context.WithCancel(context.Background())
	queue := newFake()                    // or sqs.NewFromConfig
	queue.send("lamp", "xyz", "lamp", "") // the last says nothing
	go func() {
		for queue.left() > 0 {
			<-time.After(10 * time.Millisecond)
		}
		cancel() // by a signal, in a service
	}()
	err := ledgersqs.Run(ctx, queue, url, shipping(ctx), &ledgersqs.Config{Refused: keep(ctx)})
	fmt.Println(err)
	// Output:
	// ship lamp
	// for people: xyz because of no such article
	// for people:  because of ledger: parts[0] must not be empty: Key would be the same for all events in which it is empty
	// <nil>
}

func ExampleLambda() {
	ctx := context.Background()
	refuse := func(_ context.Context, customer string) error {
		if customer == "bo" {
			return errGone
		}
		return nil
	}
	handle, err := ledgersqs.Lambda(refusing(refuse, shipping(ctx)), &ledgersqs.Config{Refused: keep(ctx)})
	check(err)
	// In a function: lambda.Start(handle). Lambda calls it with such events:
	const order17 = `"body": "lamp", "messageAttributes": {
		"customer": {"stringValue": "ann", "dataType": "String"}, "order": {"stringValue": "17", "dataType": "String"}
	}`
	bos := strings.NewReplacer("ann", "bo", "lamp", "vase").Replace(order17)
	var event ledgersqs.Event
	check(json.Unmarshal([]byte(`{"Records": [{"messageId": "1", `+order17+`}, {"messageId": "2", `+order17+`}, {"messageId": "3", `+bos+`}]}`), &event))
	out, err := handle(ctx, event)
	fmt.Println(len(out.Failures), "stay,", err)
	// Output:
	// ship lamp
	// 0 stay, <nil>
}

// A task that starts now and then. Its handler refuses an order that comes again with
// another body.
func ExamplePoll() {
	ctx := context.Background()
	seen := ledgerOf(ctx)
	handle := func(ctx context.Context, m ledgersqs.Message) error {
		req := ledger.Request{Key: "ORDER:" + m.Group(), Payload: []byte(m.Body), Lease: ledgersqs.Lease(ctx)}
		_, err := ledger.Do(ctx, seen, req, func(context.Context, *ledger.Claim) (string, error) {
			fmt.Println("ship", m.Body, "at delivery", m.Receives())
			return "shipped", nil
		})
		return err
	}
	queue := newFake()
	queue.send("7 lamps", "7 vases") // both of the group 7
	fmt.Println(ledgersqs.Poll(ctx, queue, url, handle, &ledgersqs.Config{Refused: keep(ctx), Batch: 10}))
	// Output:
	// ship 7 lamps at delivery 1
	// for people: 7 vases because of ledger: the key was claimed with another payload
	// <nil>
}
