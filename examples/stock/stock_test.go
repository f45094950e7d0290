package stock_test

import (
	"errors"
	"testing"

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
