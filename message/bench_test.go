package message_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/message"
)

// null answers at once, so that what is measured is the package's own work.
type null struct {
	message.API
	put *dynamodb.PutItemInput // the last
}

func (n *null) PutItem(_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	n.put = in
	return &dynamodb.PutItemOutput{}, nil
}

// BenchmarkSave shows the whole call, and the making of the same request by
// hand: the difference is what the package costs.
func BenchmarkSave(b *testing.B) {
	api := &null{}
	s, err := message.New(api, "messages", &message.Config{Now: func() time.Time { return noon }, Retention: 24 * time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	m := said(4711, anna, 0)
	m.ActorName, m.Raw = "Anna", `{"update_id": 1}`
	call := func() {
		if _, err := s.Save(b.Context(), m); err != nil {
			b.Fatal(err)
		}
	}
	call()
	sent := api.put
	byHand := func() *dynamodb.PutItemInput {
		return &dynamodb.PutItemInput{
			TableName: aws.String("messages"),
			Item: ddb.Item{
				"chatId": item.S(m.Scope), "messageId": &types.AttributeValueMemberN{Value: "4711"},
				"userId": &types.AttributeValueMemberN{Value: m.Actor}, "userName": item.S(m.ActorName), "text": item.S(m.Text), "raw": item.S(m.Raw),
				"timestamp": &types.AttributeValueMemberN{Value: "1774785600000"}, "createdAt": item.S("2026-03-29T12:00:00.000Z"),
				"ttl": &types.AttributeValueMemberN{Value: "1774872000"},
			},
			ConditionExpression:       aws.String(*sent.ConditionExpression),
			ExpressionAttributeNames:  map[string]string{"#scope": "chatId", "#ttl": "ttl"},
			ExpressionAttributeValues: ddb.Item{":one": &types.AttributeValueMemberN{Value: "1"}, ":now": &types.AttributeValueMemberN{Value: "1774785600"}},
		}
	}
	ignored := cmpopts.IgnoreUnexported(dynamodb.PutItemInput{}, types.AttributeValueMemberS{}, types.AttributeValueMemberN{})
	if diff := cmp.Diff(sent, byHand(), ignored); diff != "" {
		b.Fatalf("what is made by hand is another request (-sent +by hand):\n%s", diff)
	}
	var made *dynamodb.PutItemInput // keeps it from being left out
	for name, do := range map[string]func(){"request": func() { made = byHand() }, "call": call} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				do()
			}
		})
	}
	_ = made
}
