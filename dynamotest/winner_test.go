package dynamotest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// texts returns attributes by their names, all of them texts.
func texts(pairs ...string) map[string]types.AttributeValue {
	out := map[string]types.AttributeValue{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = &types.AttributeValueMemberS{Value: pairs[i+1]}
	}
	return out
}

// absent is true for an item that does not exist. It takes a while to say so, so
// that other writers come meanwhile.
var absent = aws.String("attribute_not_exists(id)" + strings.Repeat(" AND NOT contains(:long, :end)", 90))

// operands returns the values of absent, and others.
func operands(others ...string) map[string]types.AttributeValue {
	return texts(append(others, ":long", strings.Repeat("a", 20_000), ":end", strings.Repeat("a", 100)+"b")...)
}

// creations create an item, each in its own way, if it does not exist.
var creations = []func(ctx context.Context, db *dynamodb.Client, id, by string) error{
	func(ctx context.Context, db *dynamodb.Client, id, by string) error {
		_, err := db.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String("races"), Item: texts("id", id, "by", by), ConditionExpression: absent, ExpressionAttributeValues: operands(),
		})
		return err
	},
	func(ctx context.Context, db *dynamodb.Client, id, by string) error {
		_, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: aws.String("races"), Key: texts("id", id), UpdateExpression: aws.String("SET #by = :by"),
			ConditionExpression: absent, ExpressionAttributeNames: map[string]string{"#by": "by"}, ExpressionAttributeValues: operands(":by", by),
		})
		return err
	},
	func(ctx context.Context, db *dynamodb.Client, id, by string) error {
		_, err := db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: &types.Put{
			TableName: aws.String("races"), Item: texts("id", id, "by", by), ConditionExpression: absent, ExpressionAttributeValues: operands(),
		}}}})
		return err
	},
	func(ctx context.Context, db *dynamodb.Client, id, by string) error {
		_, err := db.ExecuteStatement(ctx, &dynamodb.ExecuteStatementInput{
			Statement: aws.String(fmt.Sprintf("INSERT INTO races VALUE {'id': '%s', 'by': '%s'}", id, by)),
		})
		return err
	},
}

// lost are the errors of those that come too late.
var lost = []string{"ConditionalCheckFailedException", "TransactionCanceledException", "DuplicateItemException"}

// Of many writers that may only create an item, exactly one does, in process and
// over a socket, whatever operations they use.
func TestOneOfManyCreatesAnItem(t *testing.T) {
	t.Parallel()
	const rounds, writers = 20, 32
	srv := dynamotest.NewServer(nil)
	socket := httptest.NewServer(srv.Handler())
	t.Cleanup(socket.Close)
	_, err := srv.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("races"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
	})
	if err != nil {
		t.Fatal(err)
	}
	clients := []*dynamodb.Client{srv.Client(), dynamotest.Connect(socket.URL)}
	for round := range rounds {
		id := fmt.Sprint("item-", round)
		errs := make([]error, writers)
		start := make(chan struct{})
		var all sync.WaitGroup
		for i := range writers {
			all.Go(func() {
				<-start
				errs[i] = creations[i%len(creations)](t.Context(), clients[i/len(creations)%len(clients)], id, fmt.Sprint(i))
			})
		}
		close(start)
		all.Wait()
		var winners []string
		for i, err := range errs {
			var refused smithy.APIError
			switch {
			case err == nil:
				winners = append(winners, fmt.Sprint(i))
			case !errors.As(err, &refused) || !slices.Contains(lost, refused.ErrorCode()):
				t.Fatal(err)
			}
		}
		out, err := srv.Client().GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("races"), Key: texts("id", id)})
		if err != nil {
			t.Fatal(err)
		}
		by, _ := out.Item["by"].(*types.AttributeValueMemberS)
		if len(winners) != 1 || by == nil || by.Value != winners[0] {
			t.Fatalf("%v say that they created %s, which is by %+v", winners, id, by)
		}
	}
}
