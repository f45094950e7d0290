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

// An older system noted a repair in seconds and without activityTimestamp. It is
// not found by name until it is backfilled.
func ExampleStore_Backfill() {
	ctx := context.Background()
	db := dynamotest.NewServer(nil).Client()
	repairs, err := activity.New(db, "repairs", &activity.Config{
		Names: map[string]string{"chatId": "bike", "userId": "mechanic"}, ActorType: types.ScalarAttributeTypeS,
	})
	if err != nil {
		panic(err)
	}
	if err := schema.Create(ctx, db, repairs.Table()); err != nil {
		panic(err)
	}
	_, err = db.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("repairs"), Item: map[string]types.AttributeValue{
		"bike":       &types.AttributeValueMemberS{Value: "B7"},
		"activityId": &types.AttributeValueMemberS{Value: "01KHNJCN209NS9FF710RNN0XCT"},
		"mechanic":   &types.AttributeValueMemberS{Value: "lisa"},
		"timestamp":  &types.AttributeValueMemberN{Value: "1771324200"},
		"activity":   &types.AttributeValueMemberS{Value: "truing"},
	}})
	if err != nil {
		panic(err)
	}
	count := func() {
		n, err := repairs.Count(ctx, activity.Filter{Scope: "B7", Name: "truing"})
		fmt.Println("found:", n, err)
	}

	count()
	pages := dynamodb.NewScanPaginator(db, &dynamodb.ScanInput{TableName: aws.String("repairs")})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			panic(err)
		}
		for _, row := range page.Items {
			in, lacks, err := repairs.Backfill(row)
			if err != nil {
				fmt.Println("left alone:", err)
			}
			if !lacks {
				continue
			}
			_, err = db.UpdateItem(ctx, in)
			if _, changed := errors.AsType[*types.ConditionalCheckFailedException](err); changed {
				continue // by another writer: the next run looks at it again
			}
			if err != nil {
				panic(err)
			}
		}
	}
	count()
	// Output:
	// found: 0 <nil>
	// found: 1 <nil>
}
