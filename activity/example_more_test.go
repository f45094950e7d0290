package activity_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
)

func ExampleStore_Retract() {
	ctx := context.Background()
	acts := morning(ctx)
	order := did("77", "order", 10, 3)

	out, err := acts.Retract(ctx, activity.Retract{Scope: "shop-7", Event: order.Event})
	fmt.Println(out, err)
	_, err = acts.Record(ctx, order) // its redelivery
	fmt.Println(errors.Is(err, activity.ErrRetracted))

	// This retraction arrives before the activity that it takes back.
	later := did("77", "order", 20, 5)
	_, err = acts.Retract(ctx, activity.Retract{Scope: "shop-7", Event: later.Event})
	fmt.Println(errors.Is(err, activity.ErrNotFound))
	out, err = acts.Retract(ctx, activity.Retract{Scope: "shop-7", Event: later.Event, Tombstone: true})
	fmt.Println(out, err)
	_, err = acts.Record(ctx, later)
	fmt.Println(errors.Is(err, activity.ErrRetracted))
	// Output:
	// created <nil>
	// true
	// true
	// created <nil>
	// true
}

func ExampleStore_ByActor() {
	ctx := context.Background()
	for a, err := range morning(ctx).ByActor(ctx, "77", activity.Range{NewestFirst: true}) {
		if err != nil {
			panic(err)
		}
		show(a)
	}
	// Output:
	// 08:10 77 order
	// 08:05 77 return
}

func ExampleStore_ByName() {
	ctx := context.Background()
	for a, err := range morning(ctx).ByName(ctx, "shop-7", "order", activity.Range{}) {
		if err != nil {
			panic(err)
		}
		show(a)
	}
	// Output:
	// 08:00 42 order
	// 08:10 77 order
	// 08:15 42 order
}

// A customer's last order.
func ExampleStore_ByActorAndName() {
	ctx := context.Background()
	last := activity.Range{NewestFirst: true, Limit: 1}
	for a, err := range morning(ctx).ByActorAndName(ctx, "shop-7", "42", "order", last) {
		if err != nil {
			panic(err)
		}
		show(a)
	}
	// Output: 08:15 42 order
}

func ExampleStore_OfEvent() {
	ctx := context.Background()
	all, err := morning(ctx).OfEvent(ctx, "shop-7", did("77", "order", 10, 3).Event)
	fmt.Println(len(all), all[0].Name, err)
	// Output: 1 order <nil>
}

func ExampleStore_Tally() {
	ctx := context.Background()
	fmt.Println(morning(ctx).Tally(ctx, activity.Filter{Scope: "shop-7"}))
	// Output: [{42 order sale 2} {77 order sale 1} {77 return sale 1}] <nil>
}

// An activity and the order are written together, or not at all.
func ExampleStore_RecordItems() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client()
	set, err := createdOn(ctx, db).RecordItems([]activity.Activity{did("42", "order", 0, 7)})
	if err != nil {
		panic(err)
	}
	order := types.TransactWriteItem{Put: &types.Put{TableName: set.Items[0].Put.TableName, Item: map[string]types.AttributeValue{
		"chatId": &types.AttributeValueMemberS{Value: "orders"}, "activityId": &types.AttributeValueMemberS{Value: "1001"},
	}}}
	for range 2 { // it is delivered twice
		_, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: append(set.Items, order)})
		if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
			fmt.Println(set.Outcome(cancelled.CancellationReasons[:len(set.Items)]))
			continue
		}
		fmt.Println("both are there", err)
	}
	// Output:
	// both are there <nil>
	// duplicate <nil>
}

func ExampleStore_Erase() {
	ctx := context.Background()
	fmt.Println(morning(ctx).Erase(ctx, "shop-7")) // until it returns 0
	// Output: 4 <nil>
}

func ExampleStore_EraseActor() {
	ctx := context.Background()
	fmt.Println(morning(ctx).EraseActor(ctx, "42")) // until it returns 0, and once more after a while
	// Output: 2 <nil>
}
