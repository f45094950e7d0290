// Package stock is a service that uses only the test server of this library:
// plain calls of the SDK, tested against lost replies.
package stock

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Table holds an item for each article: sku S, pieces N, orders SS. The set
// grows with each order. Package counter shows how to bound such a row.
const Table = "stock"

// ErrSoldOut is the answer of Reserve when no piece is left, or no such article exists.
var ErrSoldOut = errors.New("stock: sold out")

// Create creates the table, with so many pieces of each article.
func Create(ctx context.Context, db *dynamodb.Client, pieces map[string]int) error {
	if _, err := db.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:            aws.String(Table),
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("sku"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("sku"), KeyType: types.KeyTypeHash}},
	}); err != nil {
		return err
	}
	for sku, n := range pieces {
		if _, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(Table), Item: map[string]types.AttributeValue{
			"sku":    &types.AttributeValueMemberS{Value: sku},
			"pieces": &types.AttributeValueMemberN{Value: strconv.Itoa(n)},
		}}); err != nil {
			return err
		}
	}
	return nil
}

// Pieces returns how many pieces of an article are left, 0 if the article does
// not exist.
func Pieces(ctx context.Context, db *dynamodb.Client, sku string) (int, error) {
	out, err := db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(Table),
		Key:            map[string]types.AttributeValue{"sku": &types.AttributeValueMemberS{Value: sku}},
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return 0, err
	}
	n, ok := out.Item["pieces"].(*types.AttributeValueMemberN)
	if !ok {
		return 0, nil
	}
	return strconv.Atoi(n.Value)
}

// Reserve takes one piece of an article for an order, however often it is
// called.
func Reserve(ctx context.Context, db *dynamodb.Client, sku, order string) error {
	_, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                aws.String(Table),
		Key:                      map[string]types.AttributeValue{"sku": &types.AttributeValueMemberS{Value: sku}},
		UpdateExpression:         aws.String("ADD #pieces :less, #orders :order"),
		ConditionExpression:      aws.String("#pieces > :none AND NOT contains(#orders, :id)"),
		ExpressionAttributeNames: map[string]string{"#pieces": "pieces", "#orders": "orders"},
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":less":  &types.AttributeValueMemberN{Value: "-1"},
			":none":  &types.AttributeValueMemberN{Value: "0"},
			":order": &types.AttributeValueMemberSS{Value: []string{order}},
			":id":    &types.AttributeValueMemberS{Value: order},
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	var refused *types.ConditionalCheckFailedException
	if !errors.As(err, &refused) {
		return err
	}
	if orders, ok := refused.Item["orders"].(*types.AttributeValueMemberSS); ok && slices.Contains(orders.Value, order) {
		return nil // this order has its piece: the reply was lost, or the request came twice
	}
	return ErrSoldOut
}
