// Package erase deletes all rows of a partition, such as those of a person or a
// scope.
package erase

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

// API has the methods of *dynamodb.Client that erasing calls.
type API interface {
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

// batch is the most rows of one BatchWriteItem.
const batch = 25

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

// Rows deletes every row of the partition, by the table's key attributes, and
// returns how many. It reads nothing else of the rows. After an error the
// deleted rows stay deleted, and another call continues with the rest.
//
// A row is deleted even if somebody has changed it since it was found. A row
// that is written after its page was read stays: call Rows again until it
// returns 0.
//
// It takes 1 request and the query's units for each page of 1 MB, then 1 request
// for each 25 rows and 1 WCU for each KB of a row, and of its entry in each index.
func Rows(ctx context.Context, api API, p Partition, key ...string) (int, error) {
	in := p.query(key)
	erased := 0
	for {
		page, err := api.Query(ctx, in)
		if err != nil {
			return erased, err
		}
		for rows := page.Items; len(rows) > 0; rows = rows[min(batch, len(rows)):] {
			some := rows[:min(batch, len(rows))]
			left, err := deleteRows(ctx, api, p.Table, some, key)
			erased += len(some) - left
			if err != nil {
				return erased, err
			}
		}
		if len(page.LastEvaluatedKey) == 0 {
			return erased, nil
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

// deleteRows deletes up to 25 rows and returns how many are left after an error.
func deleteRows(ctx context.Context, api API, table string, rows []ddb.Item, key []string) (left int, err error) {
	requests := make([]types.WriteRequest, len(rows))
	for i, row := range rows {
		id := make(ddb.Item, len(key))
		for _, attribute := range key { // a query of an index returns its key, too
			id[attribute] = row[attribute]
		}
		requests[i] = types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: id}}
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
