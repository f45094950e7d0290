package record

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/erase"
	"github.com/homeops/ddbpatterns/internal/item"
)

// inPartition selects the rows of a partition.
const inPartition = "#pk = :pk"

// Get returns the row, and false if there is none.
//
// Price: 1 request, 0.5 RCU. 1 RCU with Config.ConsistentReads; rows above 4
// KB as much again for each 4 KB.
func (r *Rows[T]) Get(ctx context.Context, partition, sort string) (T, bool, error) {
	var none T
	if err := check.Positional(r.checkKey(partition, sort)); err != nil {
		return none, false, err
	}
	row, err := r.read(ctx, keyOf(partition, sort), r.cfg.ConsistentReads)
	if err != nil || len(row) == 0 {
		return none, false, r.wrap("Get", err)
	}
	value, err := r.kind.Decode(row)
	if err != nil {
		return none, false, r.wrap("Get", err)
	}
	return value, true, nil
}

// All returns the rows of the partition, by sort key; nil if there are none.
//
// Price: 1 request, 0.5 RCU. 0.5 RCU for each 4 KB of all rows together; twice
// that with Config.ConsistentReads; 1 request for each MB.
func (r *Rows[T]) All(ctx context.Context, partition string) ([]T, error) {
	if err := check.Positional(r.checkPartition(partition)); err != nil {
		return nil, err
	}
	in := &dynamodb.QueryInput{
		TableName:                 aws.String(r.table),
		KeyConditionExpression:    aws.String(inPartition),
		ExpressionAttributeNames:  map[string]string{"#pk": attrPK},
		ExpressionAttributeValues: Item{":pk": item.S(partition)},
		ConsistentRead:            aws.Bool(r.cfg.ConsistentReads),
	}
	var values []T
	for {
		page, err := r.api.Query(ctx, in)
		if err != nil {
			return nil, r.wrap("All", err)
		}
		for _, row := range page.Items {
			value, err := r.kind.Decode(row)
			if err != nil {
				return nil, r.wrap("All", err)
			}
			values = append(values, value)
		}
		if len(page.LastEvaluatedKey) == 0 {
			return values, nil
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

// Erase deletes all rows of the partition and returns how many. After an error
// what was deleted is gone: call again, and it goes on with the rest. A row that
// is written while it runs may stay: erase until it answers 0.
//
// It is safe beside live writers. A write that was computed from an erased row
// fails its condition and is computed anew, from none. Erased events are
// forgotten, so that a redelivery of one counts anew: erase when none can come.
//
// Price: 2 requests, 1 RCU, 1 WCU. 1 RCU for each 4 KB of all rows together and 1
// WCU for each row and KB; 1 request for each MB to find them and 1 for each 25
// rows. Where there are none, 1 request and 1 RCU.
func (r *Rows[T]) Erase(ctx context.Context, partition string) (int, error) {
	if err := check.Positional(r.checkPartition(partition)); err != nil {
		return 0, err
	}
	n, err := erase.Rows(ctx, r.api, erase.Partition{Table: r.table, Attr: attrPK, Value: item.S(partition)}, attrPK, attrSK)
	return n, r.wrap("Erase", err)
}

// read returns the row as it stands, nil if there is none.
func (r *Rows[T]) read(ctx context.Context, key Item, consistent bool) (Item, error) {
	out, err := r.api.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(r.table), Key: key, ConsistentRead: aws.Bool(consistent),
	})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}
