package stock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/stock"
)

func TestALostReplyTakesOnePiece(t *testing.T) {
	db := dynamotest.New(t, nil) // a DynamoDB of this test's own
	stockUp(t, db.Client(), "lamp", "2")

	// The update takes effect, its reply is lost, and the SDK sends it again.
	db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem"})
	cost := db.Meter(func() {
		if err := stock.Reserve(t.Context(), db.Client(), "lamp", "order-1"); err != nil {
			t.Error(err)
		}
	})
	cost.Want(t, dynamotest.Price{Requests: 2, WCU: 2}) // a refusal costs what the write would have

	if got := pieces(t, db.Client(), "lamp"); got != "1" {
		t.Errorf("%s pieces are left, want 1", got)
	}
}

// In a synctest bubble time passes when all wait: delays, deadlines and the waits
// of the SDK's retries take none.
func TestADeadlineTakesOnePiece(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, nil)
		stockUp(t, db.Client(), "lamp", "2")

		// The reply comes after a minute, and the caller has given up by then.
		db.Inject(dynamotest.Fault{Do: dynamotest.DelayReply, Op: "UpdateItem", Delay: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := stock.Reserve(ctx, db.Client(), "lamp", "order-1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if err := stock.Reserve(t.Context(), db.Client(), "lamp", "order-1"); err != nil {
			t.Error(err)
		}
		if got := pieces(t, db.Client(), "lamp"); got != "1" {
			t.Errorf("%s pieces are left, want 1", got)
		}
	})
}

// Seed once, and fork for each test, however much was seeded.
func TestEachOrderTakesTheLastPiece(t *testing.T) {
	seeded := dynamotest.NewServer(nil)
	stockUp(t, seeded.Client(), "lamp", "1")
	for _, order := range []string{"order-1", "order-2"} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			db := dynamotest.Use(t, seeded.Fork()) // takes microseconds
			if err := stock.Reserve(t.Context(), db.Client(), "lamp", order); err != nil {
				t.Error(err)
			}
			if got := pieces(t, db.Client(), "lamp"); got != "0" {
				t.Errorf("%s pieces are left", got)
			}
		})
	}
}

func TestSoldOut(t *testing.T) {
	db := dynamotest.New(t, nil)
	stockUp(t, db.Client(), "lamp", "1")
	if err := stock.Reserve(t.Context(), db.Client(), "lamp", "order-1"); err != nil {
		t.Fatal(err)
	}
	if err := stock.Reserve(t.Context(), db.Client(), "lamp", "order-2"); !errors.Is(err, stock.ErrSoldOut) {
		t.Errorf("got %v", err)
	}
	if got := pieces(t, db.Client(), "lamp"); got != "0" {
		t.Errorf("%s pieces are left", got)
	}
}

// stockUp creates the table with one article.
func stockUp(t *testing.T, db *dynamodb.Client, sku, pieces string) {
	t.Helper()
	if _, err := db.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:            aws.String(stock.Table),
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("sku"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("sku"), KeyType: types.KeyTypeHash}},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(stock.Table), Item: map[string]types.AttributeValue{
		"sku":    &types.AttributeValueMemberS{Value: sku},
		"pieces": &types.AttributeValueMemberN{Value: pieces},
	}}); err != nil {
		t.Fatal(err)
	}
}

func pieces(t *testing.T, db *dynamodb.Client, sku string) string {
	t.Helper()
	out, err := db.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName:      aws.String(stock.Table),
		Key:            map[string]types.AttributeValue{"sku": &types.AttributeValueMemberS{Value: sku}},
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	n, ok := out.Item["pieces"].(*types.AttributeValueMemberN)
	if !ok {
		t.Fatalf("no pieces in %v", out.Item)
	}
	return n.Value
}
