package trips_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/trips"
	"github.com/homeops/ddbpatterns/schema"
)

// asks returns a function that sends so many requests, one after the other.
func asks(t *testing.T) func(ctx context.Context, requests int) {
	t.Helper()
	server := dynamotest.NewServer(nil)
	db := server.Client(trips.Attach)
	if err := schema.Create(t.Context(), db, schema.Table{Name: "orders", Key: schema.Key{Partition: schema.String("pk")}}); err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, requests int) {
		for range requests {
			if _, err := db.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String("orders")}); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestTheLongestChainCounts(t *testing.T) {
	t.Parallel()
	ask := asks(t)
	ctx, count := trips.Counted(t.Context())
	ask(ctx, 1)
	outer := trips.SideBySide(ctx)
	outer.Go(func(ctx context.Context) error {
		ask(ctx, 1)
		inner := trips.SideBySide(ctx)
		for n := range 4 {
			inner.Go(func(ctx context.Context) error { ask(ctx, n); return nil })
		}
		err := inner.Wait()
		ask(ctx, 1)
		return err
	})
	outer.Go(func(ctx context.Context) error { ask(ctx, 2); return nil })
	if err := outer.Wait(); err != nil {
		t.Error(err)
	}
	if count.Longest() != 6 { // 1, 1, the 3 of the inner group's longest, 1
		t.Errorf("the longest chain has %d", count.Longest())
	}
	ask(ctx, 1)
	if count.Longest() != 7 {
		t.Errorf("and with one more %d", count.Longest())
	}
	ask(t.Context(), 1) // in a context that is not counted
	if count.Longest() != 7 {
		t.Errorf("counts what is not of the work: %d", count.Longest())
	}
}

// All steps run to their end in any order, and the error is that of the first
// step that was begun.
func TestAGroupAlwaysEndsAlike(t *testing.T) {
	t.Parallel()
	first, second := errors.New("first"), errors.New("second")
	failed := make(chan struct{})
	g := trips.SideBySide(t.Context())
	var ended bool
	g.Go(func(ctx context.Context) error {
		<-failed
		ended = ctx.Err() == nil
		return first
	})
	g.Go(func(context.Context) error { defer close(failed); return second })
	if err := g.Wait(); !errors.Is(err, first) || !ended {
		t.Errorf("got %v, ran to its end: %v", err, ended)
	}
}
