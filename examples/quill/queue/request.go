package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"

	"github.com/homeops/ddbpatterns/examples/internal/sleep"
	"github.com/homeops/ddbpatterns/record"
)

const (
	mostKeys    = 100 // of a BatchGetItem
	sideBySide  = 4   // BatchGetItems
	mostTries   = 8   // if DynamoDB did not perform the request
	firstPause  = 25 * time.Millisecond
	longestWait = time.Second
)

// retry calls do again while it meets a transaction under way on its item. Nothing
// was written then, and the SDK does not try again.
func retry(ctx context.Context, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		if !conflict(err) || try == mostTries {
			return err
		}
		if wait := pause(ctx, try); wait != nil {
			return errors.Join(err, wait)
		}
	}
}

func conflict(err error) bool {
	failed, ok := errors.AsType[smithy.APIError](err)
	return ok && slices.Contains([]string{"TransactionConflictException", "ReplicatedWriteConflictException"}, failed.ErrorCode())
}

// pause waits before the next try. Each pause is twice as long as the one
// before: 2.6 seconds in all.
func pause(ctx context.Context, try int) error {
	return sleep.For(ctx, min(firstPause<<(try-1), longestWait))
}

func keyItem(pk string) record.Item { return record.Item{Key: record.Text(pk)} }

// One reads a row consistently. It is nil if the row does not exist.
func (q *Queue) One(ctx context.Context, pk string) (record.Item, error) {
	out, err := q.API.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(q.Table), Key: keyItem(pk), ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// Many reads rows consistently and returns the existing ones, by key. A key may be
// given twice.
func (q *Queue) Many(ctx context.Context, keys []string) (map[string]record.Item, error) {
	distinct := slices.Compact(slices.Sorted(slices.Values(keys)))
	parts := slices.Collect(slices.Chunk(distinct, mostKeys))
	found := make([]map[string]record.Item, len(parts))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(sideBySide)
	for i, part := range parts {
		group.Go(func() (err error) {
			found[i], err = q.batch(ctx, part)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	all := make(map[string]record.Item, len(distinct))
	for _, part := range found {
		maps.Copy(all, part)
	}
	return all, nil
}

// batch reads up to 100 items. It asks again for items that DynamoDB leaves out,
// because of their size or for lack of capacity: immediately if it got any items,
// otherwise after a pause.
func (q *Queue) batch(ctx context.Context, keys []string) (map[string]record.Item, error) {
	ask := make([]map[string]types.AttributeValue, len(keys))
	for i, pk := range keys {
		ask[i] = keyItem(pk)
	}
	found := make(map[string]record.Item, len(keys))
	for idle := 0; len(ask) > 0; {
		out, err := q.API.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{q.Table: {Keys: ask, ConsistentRead: aws.Bool(true)}},
		})
		if err != nil {
			return nil, err
		}
		for _, it := range out.Responses[q.Table] {
			found[record.Read(it).Text(Key)] = it
		}
		left := out.UnprocessedKeys[q.Table].Keys
		if idle++; len(left) < len(ask) {
			idle = 0
		}
		if idle == mostTries {
			return nil, fmt.Errorf("%d keys are still unprocessed after %d requests that processed none of them", len(left), idle)
		}
		if ask = left; idle > 0 {
			if err := pause(ctx, idle); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}
