package activity_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
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

func ExampleStore_RecordItems() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client()
	acts, err := activity.New(db, "shop-activities", nil)
	if err != nil {
		panic(err)
	}
	stock := schema.Table{Name: "stock", Key: schema.Key{Partition: schema.String("sku")}}
	if err := schema.Create(ctx, db, acts.Table(), stock); err != nil {
		panic(err)
	}
	take := types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String("stock"), Key: map[string]types.AttributeValue{"sku": &types.AttributeValueMemberS{Value: "tea"}},
		UpdateExpression:          aws.String("ADD sold :one"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
	}}
	for range 2 { // the queue delivers twice
		log, err := acts.RecordItems([]activity.Activity{did("42", "order", 0, 1)})
		if err != nil {
			panic(err)
		}
		_, err = db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			TransactItems: append([]types.TransactWriteItem{take}, log.Items...),
		})
		var cancelled *types.TransactionCanceledException
		if errors.As(err, &cancelled) {
			out, err := log.Outcome(cancelled.CancellationReasons[1:]) // those after the one for take
			fmt.Println("nothing was written:", out, err)
			continue
		}
		fmt.Println("logged and taken:", err)
	}
	// Output:
	// logged and taken: <nil>
	// nothing was written: duplicate <nil>
}
