package dynamotest_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
)

// The price of a write to a table with indexes of both kinds is broken down by
// index.
func TestIndexesOfBothKindsAreMetered(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	in := orders(db.Name("orders")).Input()
	in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String("total"), AttributeType: types.ScalarAttributeTypeN})
	in.LocalSecondaryIndexes = []types.LocalSecondaryIndex{{
		IndexName: aws.String("by-total"),
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("customer"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("total"), KeyType: types.KeyTypeRange},
		},
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
	}}
	if _, err := db.Client().CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	item := order("ann", 1)
	item["total"] = &types.AttributeValueMemberN{Value: "5"}
	cost := db.Meter(func() {
		if _, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: in.TableName, Item: item}); err != nil {
			t.Error(err)
		}
	})
	cost.Want(t, dynamotest.Price{Requests: 1, WCU: 3})
	want := map[string]dynamotest.Units{*in.TableName + "/by-day": {WCU: 1}, *in.TableName + "/by-total": {WCU: 1}}
	if diff := cmp.Diff(want, cost.ByIndex); diff != "" {
		t.Error(diff)
	}
}
