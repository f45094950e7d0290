package counter_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
)

// place stores an order together with what it takes of two limits, all or
// nothing. When the transaction is cancelled, each reason says how its action
// fared: if everything is done already, here or by another delivery, it is done;
// if a part is, that is left out and the rest is sent.
func place(ctx context.Context, db *dynamodb.Client, limits *counter.Store, id string, takes []counter.Take) (string, error) {
	items := make([]*record.Action[counter.Grant], len(takes))
	for i, take := range takes {
		var err error
		if items[i], err = limits.TakeItem(take); err != nil { // once: sent again unchanged
			return "", err
		}
	}
	order := &types.Put{
		TableName: aws.String("orders"), Item: orderKey(id),
		ConditionExpression: aws.String("attribute_not_exists(id)"),
	}
	for {
		actions := []types.TransactWriteItem{}
		if order != nil {
			actions = append(actions, types.TransactWriteItem{Put: order})
		}
		for _, item := range items {
			actions = append(actions, item.Item)
		}
		_, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: actions})
		var cancelled *types.TransactionCanceledException
		if !errors.As(err, &cancelled) {
			return "placed", err // nil, or an unknown outcome: the same items may be sent again
		}
		reasons := cancelled.CancellationReasons
		if order != nil {
			if aws.ToString(reasons[0].Code) == "ConditionalCheckFailed" {
				order = nil // it stands
			}
			reasons = reasons[1:]
		}
		var rest []*record.Action[counter.Grant]
		for i, item := range items {
			switch grant, err := item.Outcome(reasons[i]); {
			case err != nil:
				return "", err
			case grant == counter.Grant{}: // not at fault
				rest = append(rest, item)
			case grant.Refused():
				return fmt.Sprintf("refused: %d of %d used", grant.Used, grant.Cap), nil
			} // else its own earlier one, or a Duplicate: it is left out
		}
		if items = rest; order == nil && len(items) == 0 {
			return "placed before", nil
		}
	}
}

func ExampleStore_TakeItem() {
	ctx := context.Background()
	db, limits := exampleTables(ctx)
	for _, id := range []string{"41", "41", "42", "43"} { // 41 is delivered twice
		ev, err := event.New(sentAt, "shop", id)
		if err != nil {
			fmt.Println(err)
			return
		}
		if id == "42" { // of which a part was done by an older version of the program
			if _, err := limits.Take(ctx, counter.Take{Key: "ann", Event: ev, Weight: 1, Cap: 5}); err != nil {
				fmt.Println(err)
				return
			}
		}
		answer, err := place(ctx, db, limits, id, []counter.Take{
			{Key: "ann", Event: ev, Weight: 1, Cap: 5},
			{Key: "all customers", Event: ev, Weight: 1, Cap: 2},
		})
		fmt.Println(id, answer, err)
	}
	for _, key := range []string{"ann", "all customers"} {
		count, err := limits.Get(ctx, key, sentAt)
		fmt.Println(key, count.Used, err)
	}
	// Output:
	// 41 placed <nil>
	// 41 placed before <nil>
	// 42 placed <nil>
	// 43 refused: 2 of 2 used <nil>
	// ann 2 <nil>
	// all customers 2 <nil>
}

// A job took 10 units before it ran, and needed 7. The transaction that stores its
// result settles that.
func ExampleStore_AdjustItem() {
	ctx := context.Background()
	db, limits := exampleTables(ctx)
	job := must(event.New(sentAt, "jobs", "acme", "7001"))
	must(limits.Take(ctx, counter.Take{Key: "acme", Event: job, Weight: 10, Cap: 50}))

	settle := must(limits.AdjustItem(counter.Adjust{Key: "acme", Event: job, From: 10, To: 7, Cap: 50}))
	result := types.TransactWriteItem{Put: &types.Put{TableName: aws.String("orders"), Item: orderKey("7001")}}
	_, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{settle.Item, result}})
	fmt.Println(settle.Committed().OK, err) // if it is cancelled, settle.Outcome says why
	fmt.Println(must(limits.Get(ctx, "acme", sentAt)).Used)
	// Output:
	// true <nil>
	// 7
}

// An order is deleted, and does not count against the limit any more.
func ExampleStore_RefundItem() {
	ctx := context.Background()
	db, limits := exampleTables(ctx)
	ev := must(event.New(sentAt, "shop", "41"))
	must(place(ctx, db, limits, "41", []counter.Take{{Key: "ann", Event: ev, Weight: 1, Cap: 5}}))

	refund := must(limits.RefundItem(counter.Refund{Key: "ann", Event: ev, Weight: 1}))
	order := types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String("orders"), Key: orderKey("41")}}
	_, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{refund.Item, order}})
	fmt.Println(refund.Committed().Outcome, err) // if it is cancelled, refund.Outcome says why
	fmt.Println(must(limits.Get(ctx, "ann", sentAt)).Used)
	// Output:
	// created <nil>
	// 0
}

func orderKey(id string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}}
}
