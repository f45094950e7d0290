package counter_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// null answers at once, so that what is measured is the package's own work.
type null struct{ recordtest.API }

var updated = &dynamodb.UpdateItemOutput{Attributes: ddb.Item{"count": item.Digits("1")}}

func (null) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return updated, nil
}

func BenchmarkTake(b *testing.B) {
	s, take := limits(b, null{}, "limits"), counter.Take{Key: chat, Event: message(b, noon, 1), Weight: 1, Cap: 3}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Take(b.Context(), take); err != nil {
			b.Fatal(err)
		}
	}
}
