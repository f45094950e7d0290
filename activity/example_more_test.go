package activity_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/schema"
)

func ExampleNew_retention() {
	now := time.Date(2026, 3, 23, 9, 0, 0, 0, time.UTC)
	acts, err := activity.New(dynamotest.NewServer(nil).Client(), "shop-activities", &activity.Config{
		Retention: 30 * 24 * time.Hour,
		Now:       func() time.Time { return now },
	})
	if err != nil {
		panic(err)
	}
	fmt.Println("expires by", acts.Table().TTL)

	old := did("42", "order", 0, 1)
	now = now.AddDate(0, 0, 30)
	_, err = acts.Record(context.Background(), old) // its row would have expired, if it was recorded
	fmt.Println(errors.Is(err, event.ErrTooOld))
	// Output:
	// expires by ttl
	// true
}

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

func ExampleStore_DeleteEvent() {
	ctx := context.Background()
	acts := created(ctx)
	first := did("42", "order", 0, 7)
	second := first
	second.Event, _ = first.Event.Nth(2)
	second.Name = "return"
	if _, err := acts.RecordAll(ctx, []activity.Activity{first, second}); err != nil {
		panic(err)
	}

	err := acts.Delete(ctx, "shop-7", first.Event) // its row guards the second
	fmt.Println(errors.Is(err, activity.ErrOthersStand))
	err = acts.DeleteEvent(ctx, "shop-7", first.Event)
	fmt.Println(err)
	n, err := acts.Count(ctx, activity.Filter{Scope: "shop-7"})
	fmt.Println(n, err)
	// Output:
	// true
	// <nil>
	// 0 <nil>
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

func ExampleStore_Tally() {
	ctx := context.Background()
	acts := morning(ctx)
	tally, err := acts.Tally(ctx, activity.Filter{
		Scope: "shop-7",
		From:  time.Date(2026, 3, 23, 0, 0, 0, 0, time.UTC),
		To:    time.Date(2026, 3, 30, 0, 0, 0, 0, time.UTC),
	})
	if err != nil {
		panic(err)
	}
	for _, row := range tally {
		fmt.Println(row.Actor, row.Kind, row.Name, row.Count)
	}
	// Output:
	// 42 sale order 2
	// 77 sale order 1
	// 77 sale return 1
}

func ExampleConfig_onUnreadable() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client()
	skipped := 0
	acts, err := activity.New(db, "shop-activities", &activity.Config{
		OnUnreadable: func(err error) {
			skipped++
			fmt.Println("skipped:", err)
		},
	})
	if err != nil {
		panic(err)
	}
	if err := schema.Create(ctx, db, acts.Table()); err != nil {
		panic(err)
	}
	if _, err := acts.Record(ctx, did("42", "order", 0, 1)); err != nil {
		panic(err)
	}
	_, err = db.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("shop-activities"), Item: map[string]types.AttributeValue{
		"chatId":     &types.AttributeValueMemberS{Value: "shop-7"},
		"activityId": &types.AttributeValueMemberS{Value: "017-by-hand"},
	}})
	if err != nil {
		panic(err)
	}
	n, err := acts.Count(ctx, activity.Filter{Scope: "shop-7"})
	fmt.Println(n, err, skipped)
	// Output:
	// skipped: activity: Count on table shop-activities: row "017-by-hand" of scope "shop-7": attribute activityId is not an event: event: text must be 26 characters of Crockford's Base32
	// 1 <nil> 1
}

func ExampleStore_Erase() {
	ctx := context.Background()
	acts := morning(ctx)
	for {
		n, err := acts.Erase(ctx, "shop-7")
		if err != nil {
			panic(err)
		}
		fmt.Println(n)
		if n == 0 {
			break
		}
	}
	// Output:
	// 4
	// 0
}

func ExampleStore_EraseActor() {
	ctx := context.Background()
	acts := morning(ctx)
	n, err := acts.EraseActor(ctx, "42")
	fmt.Println(n, err)
	n, err = acts.Count(ctx, activity.Filter{Scope: "shop-7"})
	fmt.Println(n, err)
	// Output:
	// 2 <nil>
	// 2 <nil>
}
