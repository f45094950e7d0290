package counter_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/tzclock"
)

// null answers at once, so that what is measured is the package's own work.
type null struct {
	recordtest.API
	update *dynamodb.UpdateItemInput // the last
	get    *dynamodb.GetItemInput
}

var (
	updated = &dynamodb.UpdateItemOutput{Attributes: ddb.Item{
		"count": item.Digits("1"), "recorded": item.Digits("1"), "updatedAt": item.S("2026-03-29T12:00:00.000Z"), "ttl": item.Digits("1775426400"),
	}}
	got = &dynamodb.GetItemOutput{Item: updated.Attributes}
)

func (n *null) UpdateItem(_ context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	n.update = in
	return updated, nil
}

func (n *null) GetItem(_ context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	n.get = in
	return got, nil
}

// measured is what both sides of a comparison are made of.
type measured struct {
	api   *null
	store *counter.Store
}

func measure(b *testing.B) measured {
	b.Helper()
	m := measured{api: &null{}}
	var err error
	m.store, err = counter.New(m.api, "limits", tzclock.Stockholm, &counter.Config{Now: recordtest.Clock(noon)})
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// taking is what Take has sent for the chat's first message, made by hand: the
// part of the work that any caller has.
func taking(sent *dynamodb.UpdateItemInput) *dynamodb.UpdateItemInput {
	entry := sent.ExpressionAttributeValues[":entry"].(*types.AttributeValueMemberS).Value // with its nonce
	return &dynamodb.UpdateItemInput{
		TableName:           aws.String("limits"),
		Key:                 ddb.Item{"chatId": item.S(chat), "date": item.S("2026-03-29")},
		UpdateExpression:    aws.String(*sent.UpdateExpression),
		ConditionExpression: aws.String(*sent.ConditionExpression),
		ReturnValues:        types.ReturnValueUpdatedNew,
		ExpressionAttributeNames: map[string]string{
			"#count": "count", "#updatedAt": "updatedAt", "#ttl": "ttl", "#entry": "e_01KMWQE6G06EA5WGCYD4HMYMG1", "#recorded": "recorded",
		},
		ExpressionAttributeValues: ddb.Item{
			":now": item.S("2026-03-29T12:00:00.000Z"), ":ttl": item.Digits("1775426400"), ":entry": item.S(entry),
			":weight": item.Digits("1"), ":one": item.Digits("1"), ":most": item.Digits("1000"),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}

func BenchmarkTake(b *testing.B) {
	m, take := measure(b), counter.Take{Key: chat, Event: message(b, noon, 1), Weight: 1, Cap: 3}
	call := func() {
		if _, err := m.store.Take(b.Context(), take); err != nil {
			b.Fatal(err)
		}
	}
	call()
	sent := m.api.update
	byHand := func() *dynamodb.UpdateItemInput {
		in := taking(sent)
		in.ExpressionAttributeValues[":room"] = item.Digits("2")
		return in
	}
	compare(b, byHand, sent, call)
}

func BenchmarkAdd(b *testing.B) {
	m, add := measure(b), counter.Add{Key: chat, Event: message(b, noon, 1), Weight: 1}
	call := func() {
		if _, err := m.store.Add(b.Context(), add); err != nil {
			b.Fatal(err)
		}
	}
	call()
	sent := m.api.update
	compare(b, func() *dynamodb.UpdateItemInput { return taking(sent) }, sent, call)
}

func BenchmarkGet(b *testing.B) {
	m := measure(b)
	call := func() {
		if _, err := m.store.Get(b.Context(), chat, day); err != nil {
			b.Fatal(err)
		}
	}
	call()
	sent := m.api.get
	byHand := func() *dynamodb.GetItemInput {
		return &dynamodb.GetItemInput{
			TableName:            aws.String("limits"),
			Key:                  ddb.Item{"chatId": item.S(chat), "date": item.S("2026-03-29")},
			ConsistentRead:       aws.Bool(true),
			ProjectionExpression: aws.String(*sent.ProjectionExpression),
			ExpressionAttributeNames: map[string]string{
				"#count": "count", "#updatedAt": "updatedAt", "#ttl": "ttl", "#recorded": "recorded",
			},
		}
	}
	compare(b, byHand, sent, call)
}

// compare shows the whole call, and the making of the same request by hand:
// the difference is what the package costs.
func compare[T any](b *testing.B, byHand func() *T, sent *T, call func()) {
	b.Helper()
	if diff := cmp.Diff(sent, byHand(), cmpopts.IgnoreUnexported(dynamodb.UpdateItemInput{}, dynamodb.GetItemInput{}, types.AttributeValueMemberS{}, types.AttributeValueMemberN{})); diff != "" {
		b.Fatalf("what is made by hand is another request (-sent +by hand):\n%s", diff)
	}
	for _, side := range []struct {
		name string
		do   func()
	}{{"request", func() { made = byHand() }}, {"call", call}} {
		b.Run(side.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				side.do()
			}
		})
	}
}

// made keeps the compiler from leaving out what nobody reads.
var made any
