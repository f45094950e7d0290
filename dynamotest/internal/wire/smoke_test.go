package wire_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
	"github.com/homeops/ddbpatterns/dynamotest/internal/wire"
)

func connect(eng *engine.Engine) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String("http://dynamotest.invalid"),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "a", SecretAccessKey: "b"}, nil
		}),
		HTTPClient:       &http.Client{Transport: wire.Transport{Engine: eng}},
		RetryMaxAttempts: 1,
	})
}

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func n(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }

func TestSmoke(t *testing.T) {
	ctx := t.Context()
	db := connect(engine.New(engine.Options{}))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := db.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   aws.String("tab"),
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: "S"}, {AttributeName: aws.String("sk"), AttributeType: "N"}, {AttributeName: aws.String("g"), AttributeType: "S"},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}, {AttributeName: aws.String("sk"), KeyType: "RANGE"}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName: aws.String("gsi"), KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("g"), KeyType: "HASH"}},
			Projection: &types.Projection{ProjectionType: "KEYS_ONLY"},
		}},
	})
	must(err)
	d, err := db.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("tab")})
	must(err)
	if d.Table.TableStatus != "ACTIVE" || len(d.Table.GlobalSecondaryIndexes) != 1 {
		t.Fatalf("%+v", d.Table)
	}
	for _, i := range []string{"1", "2", "10"} {
		out, err := db.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("tab"), Item: map[string]types.AttributeValue{"pk": s("a"), "sk": n(i), "g": s("x"), "v": n("1")},
			ReturnConsumedCapacity: "INDEXES"})
		must(err)
		if *out.ConsumedCapacity.CapacityUnits != 2 {
			t.Fatal(*out.ConsumedCapacity.CapacityUnits)
		}
	}
	q, err := db.Query(ctx, &dynamodb.QueryInput{TableName: aws.String("tab"), KeyConditionExpression: aws.String("pk = :p AND sk > :s"), Limit: aws.Int32(1),
		ExpressionAttributeValues: map[string]types.AttributeValue{":p": s("a"), ":s": n("1")}})
	must(err)
	if q.Count != 1 || q.Items[0]["sk"].(*types.AttributeValueMemberN).Value != "2" || len(q.LastEvaluatedKey) != 2 {
		t.Fatalf("%+v", q)
	}
	q, err = db.Query(ctx, &dynamodb.QueryInput{TableName: aws.String("tab"), IndexName: aws.String("gsi"), KeyConditionExpression: aws.String("g = :p"), ScanIndexForward: aws.Bool(false),
		ExpressionAttributeValues: map[string]types.AttributeValue{":p": s("x")}})
	must(err)
	if q.Count != 3 || q.Items[0]["v"] != nil {
		t.Fatalf("%+v", q)
	}
	_, err = db.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("tab"), Item: map[string]types.AttributeValue{"pk": s("a"), "sk": n("1")}, ConditionExpression: aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: "ALL_OLD"})
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) || len(failed.Item) != 4 {
		t.Fatal(err)
	}
	u, err := db.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: aws.String("tab"), Key: map[string]types.AttributeValue{"pk": s("a"), "sk": n("1")}, UpdateExpression: aws.String("ADD v :one"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": n("1")}, ReturnValues: "UPDATED_NEW"})
	must(err)
	if len(u.Attributes) != 1 || u.Attributes["v"].(*types.AttributeValueMemberN).Value != "2" {
		t.Fatalf("%+v", u.Attributes)
	}
	sc, err := db.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("tab")})
	must(err)
	if sc.Count != 3 {
		t.Fatal(sc.Count)
	}
	_, err = db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: aws.String("tab"), Item: map[string]types.AttributeValue{"pk": s("b"), "sk": n("1")}}},
		{Delete: &types.Delete{TableName: aws.String("tab"), Key: map[string]types.AttributeValue{"pk": s("a"), "sk": n("1")}, ConditionExpression: aws.String("attribute_not_exists(pk)")}},
	}})
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) || len(canceled.CancellationReasons) != 2 {
		t.Fatal(err)
	}
}
