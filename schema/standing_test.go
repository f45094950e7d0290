package schema_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

func TestATableWithoutAnyIndexLacksOne(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	want := table(db.Name("messages"))
	bare := want
	bare.Indexes = nil
	if err := schema.Create(t.Context(), db.Client(), bare); err != nil {
		t.Fatal(err)
	}
	wantMismatch(t, schema.Create(t.Context(), db.Client(), want), "it has no index by-user")
}

// enabling is a table whose TTL is being switched on, which takes DynamoDB up
// to an hour, and for which it refuses another switch.
type enabling struct {
	schema.API
	attribute string
	switched  int
}

func (e *enabling) DescribeTimeToLive(context.Context, *dynamodb.DescribeTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error) {
	return &dynamodb.DescribeTimeToLiveOutput{TimeToLiveDescription: &types.TimeToLiveDescription{
		AttributeName: aws.String(e.attribute), TimeToLiveStatus: types.TimeToLiveStatusEnabling,
	}}, nil
}

func (e *enabling) UpdateTimeToLive(context.Context, *dynamodb.UpdateTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error) {
	e.switched++
	return &dynamodb.UpdateTimeToLiveOutput{}, nil
}

func TestTTLThatIsBeingSwitchedOnIsOn(t *testing.T) {
	t.Parallel()
	e := &enabling{API: dynamotest.New(t, nil).Client(), attribute: "ttl"}
	if err := schema.Create(t.Context(), e, table("messages")); err != nil || e.switched != 0 {
		t.Errorf("%v after %d switches", err, e.switched)
	}
	e.attribute = "expiresAt"
	wantMismatch(t, schema.Create(t.Context(), e, table("messages")), "its TTL attribute is expiresAt, not ttl")
}
