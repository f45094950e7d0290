package queue

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/record"
)

// These are the most entries of a page of the index, and the least after the first
// page. An index that lags shows messages that are already done, and with small pages
// each of them would cost a request.
const (
	MostOfPage  = 1000
	leastOfNext = 100
)

// mostBytes is the total size of messages after which no further page is read.
// Together with the size of one page it bounds the memory.
const mostBytes = 16 << 20

// Pending calls take with the messages of the topic that are not done, beginning with
// those that wait longest, until it has taken so many, or over 16 MB. The index may
// lag, but each message is read consistently: one that is done is never taken, and one
// that was written just now may be missing until the next call.
func (q *Queue) Pending(ctx context.Context, topic string, limit int, take func(key string, row record.Item) bool) error {
	in := q.Waiting(pending + topic)
	in.ProjectionExpression = aws.String(Key)
	for taken, bytes, least := 0, 0, 1; ; least = leastOfNext {
		in.Limit = aws.Int32(int32(min(max(limit-taken, least), MostOfPage)))
		page, err := q.API.Query(ctx, in)
		if err != nil {
			return err
		}
		keys := make([]string, len(page.Items))
		for i, entry := range page.Items {
			keys[i] = record.Read(entry).Text(Key)
		}
		rows, err := q.Many(ctx, keys)
		if err != nil {
			return err
		}
		for _, key := range keys {
			row := rows[key]
			if record.Read(row).Text(Outbox) == pending+topic && taken < limit && take(key, row) {
				taken, bytes = taken+1, bytes+SizeOf(row)
			}
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
		if len(page.LastEvaluatedKey) == 0 || taken >= limit || bytes >= mostBytes {
			return nil
		}
	}
}

// Count counts the messages of the topic that are not done, in the index, which may
// lag. With an error it returns how many it had counted.
func (q *Queue) Count(ctx context.Context, topic string) (n int, _ error) {
	in := q.Waiting(pending + topic)
	in.Select = types.SelectCount
	for more := true; more; more = len(in.ExclusiveStartKey) > 0 {
		page, err := q.API.Query(ctx, in)
		if err != nil {
			return n, err
		}
		n += int(page.Count)
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
	return n, nil
}

// Waiting queries the index for the rows with the value, the oldest first.
func (q *Queue) Waiting(outbox string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName:                 aws.String(q.Table),
		IndexName:                 aws.String(Index),
		KeyConditionExpression:    aws.String("#outbox = :outbox"),
		ExpressionAttributeNames:  map[string]string{"#outbox": Outbox},
		ExpressionAttributeValues: record.Item{":outbox": record.Text(outbox)},
	}
}

// SizeOf is the size by DynamoDB's rules: names and values as UTF-8, 3 bytes for
// a map, and 1 for each element. A number counts with its text, which is longer
// than DynamoDB's count.
func SizeOf(it record.Item) int {
	size := 0
	for name, value := range it {
		size += len(name)
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			size += len(v.Value)
		case *types.AttributeValueMemberN:
			size += len(v.Value)
		case *types.AttributeValueMemberM:
			size += 3 + len(v.Value) + SizeOf(v.Value)
		default: // a bool
			size++
		}
	}
	return size
}
