package outbox

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/record"
)

// These are the most entries of a page of the index, and the least after the first
// page. An index that lags shows facts that are already marked, and with small
// pages each of them would cost a request.
const (
	mostOfPage  = 1000
	leastOfNext = 100
)

// mostBytes is the total size of facts after which no further page is read.
// Together with the size of one page it bounds the memory: a fact usually has about
// 700 bytes, and at most 400 KB.
const mostBytes = 16 << 20

// Pending returns up to limit facts of the table that are not posted, beginning
// with those that wait longest, or nil. It returns fewer of them if they have over
// 16 MB together. The index may lag, but Pending reads each fact consistently: a
// marked fact is never returned, and a fact that was written just now may be
// missing until the next call. An unreadable row is left out: see
// Config.Unreadable.
//
// Price: 2 requests, 1.5 RCU. The index costs 0.5 RCU for each 4 KB of all facts
// together, and 1 request for each 1,000 facts or MB. Each fact costs 1 RCU for
// each 4 KB, and each 100 facts 1 request. A marked fact that the index still shows
// costs as much.
func (s *Store) Pending(ctx context.Context, table string, limit int) ([]Stored, error) {
	if err := checkTable("table", table, fact.FactTables); err != nil {
		return nil, err
	}
	if limit < 1 {
		return nil, event.BadInput(pkg, "limit", "must be positive")
	}
	var facts []Stored
	bytes := 0
	in := s.waiting(pending + table)
	in.ProjectionExpression = aws.String(attrKey)
	for least := 1; ; least = leastOfNext {
		in.Limit = aws.Int32(int32(min(max(limit-len(facts), least), mostOfPage)))
		page, err := s.api.Query(ctx, in)
		if err != nil {
			return nil, s.wrap("Pending", err)
		}
		more, size, err := s.read(ctx, table, page.Items, limit-len(facts))
		if err != nil {
			return nil, s.wrap("Pending", err)
		}
		facts, bytes = append(facts, more...), bytes+size
		in.ExclusiveStartKey = page.LastEvaluatedKey
		if len(page.LastEvaluatedKey) == 0 || len(facts) >= limit || bytes >= mostBytes {
			return facts, nil
		}
	}
}

// read returns the facts of the index's entries that are still pending, in their
// order and up to the limit. It also returns their total size.
func (s *Store) read(ctx context.Context, table string, entries []map[string]types.AttributeValue, limit int) (facts []Stored, size int, _ error) {
	keys := make([]string, len(entries))
	for i, entry := range entries {
		keys[i] = keyOf(entry)
	}
	rows, err := s.many(ctx, keys)
	if err != nil {
		return nil, 0, err
	}
	for _, key := range keys {
		if len(facts) == limit {
			break
		}
		row := rows[key]
		if record.Read(row).Text(attrOutbox) != pending+table {
			continue
		}
		stored, err := decodeFact(row)
		if err == nil && stored.Table != table {
			err = fmt.Errorf("attribute table is %q, but attribute outbox names table %s", stored.Table, table)
		}
		if err != nil {
			s.cfg.Unreadable(key, err)
			continue
		}
		facts = append(facts, stored)
		size += sizeOfMap(row)
	}
	return facts, size, nil
}

// Waiting counts the facts of the tables that are not posted, in the index, which
// may lag.
//
// Price: 1 request, 0.5 RCU. For each table it is 0.5 RCU for each 4 KB of all the
// facts together, and 1 request for each MB.
func (s *Store) Waiting(ctx context.Context, tables ...string) (int, error) {
	for _, table := range tables {
		if err := checkTable("tables", table, fact.FactTables); err != nil {
			return 0, err
		}
	}
	n := 0
	for _, table := range tables {
		in := s.waiting(pending + table)
		in.Select = types.SelectCount
		for more := true; more; more = len(in.ExclusiveStartKey) > 0 {
			page, err := s.api.Query(ctx, in)
			if err != nil {
				return 0, s.wrap("Waiting", err)
			}
			n += int(page.Count)
			in.ExclusiveStartKey = page.LastEvaluatedKey
		}
	}
	return n, nil
}

// waiting queries the index for the rows with the value, the oldest first.
func (s *Store) waiting(outbox string) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		TableName:                 aws.String(s.table),
		IndexName:                 aws.String(pendingIndex),
		KeyConditionExpression:    aws.String("#outbox = :outbox"),
		ExpressionAttributeNames:  map[string]string{"#outbox": attrOutbox},
		ExpressionAttributeValues: record.Item{":outbox": record.Text(outbox)},
	}
}
