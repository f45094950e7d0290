// Package erase deletes all rows of a partition, such as those of a person or a
// scope.
package erase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/homeops/ddbpatterns/internal/ddb"
)

type querier interface {
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

// API has the methods of *dynamodb.Client that [Rows] calls.
type API interface {
	querier
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

// IndexedAPI has the methods of *dynamodb.Client that [Indexed] calls.
type IndexedAPI interface {
	querier
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// batch is the most rows of one BatchWriteItem, and concurrency the most
// DeleteItem under way at a time.
const (
	batch       = 25
	concurrency = 8
)

// tries and pause bound how often rows that came back unprocessed are sent
// again.
const (
	tries = 10
	pause = 50 * time.Millisecond
)

var errUnprocessed = errors.New("rows came back unprocessed")

// Partition names the rows to delete.
type Partition struct {
	Table string
	Index string // the index of the partition; "" is the table
	Attr  string // the partition key
	Value types.AttributeValue
}

// query finds the rows and returns their key attributes alone. It reads a table
// consistently, which is impossible for an index.
func (p Partition) query(key []string) *dynamodb.QueryInput {
	names := map[string]string{"#partition": p.Attr}
	projection := make([]string, len(key))
	for i, attribute := range key {
		projection[i] = "#key" + strconv.Itoa(i)
		names[projection[i]] = attribute
	}

	in := &dynamodb.QueryInput{
		TableName:                 aws.String(p.Table),
		ConsistentRead:            aws.Bool(p.Index == ""),
		KeyConditionExpression:    aws.String("#partition = :partition"),
		ExpressionAttributeNames:  names,
		ExpressionAttributeValues: ddb.Item{":partition": p.Value},
		ProjectionExpression:      aws.String(strings.Join(projection, ", ")),
	}
	if p.Index != "" {
		in.IndexName = aws.String(p.Index)
	}

	return in
}

// Rows deletes every row of the partition of a table, by the table's key
// attributes, and returns how many. It reads nothing else of the rows. After an
// error the deleted rows stay deleted, and another call continues with the rest.
//
// A row is deleted even if somebody has changed it since it was found. A row
// that is written after its page was read stays: call Rows again until it
// returns 0.
//
// It takes 1 request and the query's units for each page of 1 MB, then 1 request
// for each 25 rows and 1 WCU for each KB of a row, and of its entry in each index.
func Rows(ctx context.Context, api API, p Partition, key ...string) (int, error) {
	return p.each(ctx, api, key, func(rows []ddb.Item) (erased int, err error) {
		for some := range slices.Chunk(rows, batch) {
			left, err := deleteRows(ctx, api, p.Table, some, key)
			erased += len(some) - left
			if err != nil {
				return erased, err
			}
		}
		return erased, nil
	})
}

// Indexed is [Rows] for the partition of an index, which lags behind the table:
// it deletes a row only if the row still belongs to the partition. For that, it
// takes 1 request for each row.
func Indexed(ctx context.Context, api IndexedAPI, p Partition, key ...string) (int, error) {
	return p.each(ctx, api, key, func(rows []ddb.Item) (erased int, err error) {
		for some := range slices.Chunk(rows, concurrency) {
			deleted, errs := make([]bool, len(some)), make([]error, len(some))
			var all sync.WaitGroup
			for i, row := range some {
				all.Go(func() { deleted[i], errs[i] = p.deleteOwn(ctx, api, keyOf(row, key)) })
			}

			all.Wait()
			for i := range some {
				if deleted[i] {
					erased++
				}
				err = cmp.Or(err, errs[i])
			}

			if err != nil {
				return erased, err
			}
		}
		return erased, nil
	})
}

// each calls do with the keys of all rows, page by page, and adds up how many it
// erased.
func (p Partition) each(ctx context.Context, api querier, key []string, do func([]ddb.Item) (int, error)) (erased int, _ error) {
	in := p.query(key)
	for {
		page, err := api.Query(ctx, in)
		if err != nil {
			return erased, err
		}
		n, err := do(page.Items)
		erased += n
		if err != nil || len(page.LastEvaluatedKey) == 0 {
			return erased, err
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

// keyOf returns the row's key. A query of an index returns the index's key, too.
func keyOf(row ddb.Item, key []string) ddb.Item {
	id := make(ddb.Item, len(key))
	for _, attribute := range key {
		id[attribute] = row[attribute]
	}
	return id
}

// deleteOwn deletes the row if it still belongs to the partition, and reports
// whether it was deleted.
func (p Partition) deleteOwn(ctx context.Context, api IndexedAPI, key ddb.Item) (deleted bool, _ error) {
	var attempts ddb.Attempts
	err := ddb.Retry(ctx, func() error {
		_, err := api.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: aws.String(p.Table), Key: key, ConditionExpression: aws.String("#partition = :partition"),
			ExpressionAttributeNames:  map[string]string{"#partition": p.Attr},
			ExpressionAttributeValues: ddb.Item{":partition": p.Value},
		}, attempts.Watch)
		return err
	})
	if _, refused := ddb.Refused(err); refused {
		// An earlier attempt whose reply was lost may have deleted the row. It counts as
		// the deletion.
		return attempts.Lost(), nil
	}

	return err == nil, err
}

// deleteRows deletes up to 25 rows and returns how many are left after an error.
func deleteRows(ctx context.Context, api API, table string, rows []ddb.Item, key []string) (left int, err error) {
	requests := make([]types.WriteRequest, len(rows))
	for i, row := range rows {
		requests[i] = types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: keyOf(row, key)}}
	}

	for try := 0; ; try++ {
		out, err := api.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: requests}})
		if err != nil {
			return len(requests), err
		}

		requests = out.UnprocessedItems[table]
		switch {
		case len(requests) == 0:
			return 0, nil
		case try == tries-1:
			return len(requests), fmt.Errorf("%d %w after %d tries", len(requests), errUnprocessed, tries)
		}

		if err := ddb.Pause(ctx, pause, try); err != nil {
			return len(requests), fmt.Errorf("%d %w: %w", len(requests), errUnprocessed, err)
		}
	}
}
