package explore_test

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/dynamotest/explore"
)

// TestMain lets more garbage lie, of which schedules leave much.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}

// seeded returns a server with the table, and rows in it.
func seeded(t *testing.T, rows ...row) *dynamotest.Server {
	t.Helper()
	ctx := context.Background() // an example's t has no context
	s := dynamotest.NewServer(nil)
	_, err := s.Client().CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: aws.String("counts"), BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
	})
	for _, r := range rows {
		if err == nil {
			_, err = s.Client().PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("counts"), Item: r})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func key(pk string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: pk}}
}

func put(ctx context.Context, p *explore.Process, pk string, n int) error {
	item := key(pk)
	item["n"] = &types.AttributeValueMemberN{Value: fmt.Sprint(n)}
	_, err := p.Client().PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String("counts"), Item: item})
	return err
}

// Callers that each make so many requests have (Σk)!/Πk! orders.
func TestOrders(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		requests []int
		orders   int
	}{
		{[]int{1}, 1},
		{[]int{1, 1}, 2},
		{[]int{2, 2}, 6},
		{[]int{1, 1, 1}, 6},
		{[]int{3, 3}, 20},
		{[]int{2, 2, 2}, 90},
		{[]int{3, 1, 2}, 60},
	} {
		r := explore.Run(t, explore.Config{Server: seeded(t), Full: true, Within: 10 * time.Minute}, func(s *explore.Schedule) {
			for i, n := range tc.requests {
				s.Caller(string(rune('a'+i)), func(ctx context.Context, p *explore.Process) {
					for k := range n {
						if err := put(ctx, p, "x", 10*i+k); err != nil {
							t.Error(err)
						}
					}
				})
			}
		})
		if r.Schedules != tc.orders || !r.Exhausted || r.Failure != nil {
			t.Errorf("%v: %v, want %d schedules: %v", tc.requests, r, tc.orders, r.Failure)
		}
	}
}

func increment(s *explore.Schedule, names ...string) {
	for _, name := range names {
		s.Caller(name, func(ctx context.Context, p *explore.Process) {
			got, err := p.Client().GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String("counts"), Key: key("count"), ConsistentRead: aws.Bool(true)})
			if err != nil {
				return
			}
			n := 0
			if v, ok := got.Item["n"].(*types.AttributeValueMemberN); ok {
				fmt.Sscan(v.Value, &n)
			}
			_ = put(ctx, p, "count", n+1)
		})
	}
}
