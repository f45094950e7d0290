package engine_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

// A refusal does not return the existing item unless the request asks for it.
func TestARefusalShowsNoItemUnasked(t *testing.T) {
	t.Parallel()
	db := connect(newEngine(t, engine.Options{}))
	put(t, db, "plain", item("id", "k", "v", 1))
	for _, mode := range []types.ReturnValuesOnConditionCheckFailure{"", types.ReturnValuesOnConditionCheckFailureNone} {
		_, err := db.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: plain, Item: item("id", "k", "v", 2), ConditionExpression: aws.String("attribute_not_exists(id)"),
			ReturnValuesOnConditionCheckFailure: mode,
		})
		var failed *types.ConditionalCheckFailedException
		if !errors.As(err, &failed) || failed.Item != nil {
			t.Errorf("mode %q: %v shows %v", mode, err, failed)
		}
	}
}
