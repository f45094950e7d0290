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

// Get returns the row and true, or false if the row does not exist.
//
// Price: 1 request, 0.5 RCU. 1 RCU with Config.ConsistentReads; each further 4
// KB of the row costs the same again.
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

// All returns the rows of the partition in the order of their sort keys, or nil
// if the partition has no rows.
//
// Price: 1 request, 0.5 RCU. Each 4 KB of all rows together costs 0.5 RCU, or 1
// RCU with Config.ConsistentReads. Each MB takes 1 request.
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

// Erase deletes all rows of the partition and returns their number. If the
// [Kind] is exact, Erase first deletes the rows of the records' events, and counts
// them, too. After an error, some rows may be deleted already: call Erase again to
// delete the rest. A row that is written while Erase runs may stay, and so may an
// event's row whose record is deleted: call Erase until it returns 0.
//
// Other callers may write while Erase runs. If Apply has computed a write from
// a row that is then erased, the write fails its condition, and Apply computes
// it anew from an empty row. If an event of an erased row is delivered again,
// it counts again, so call Erase only when no redelivery can come.
//
// Price: 2 requests, 1 RCU, 1 WCU. Finding the rows costs 1 RCU for each 4 KB of
// all rows together, and 1 request for each MB. Deleting them costs 1 WCU for
// each KB of each row, and 1 request for each 25 rows. If no row is found, the
// call costs 1 request and 1 RCU.
//
// Price (Exact): 4 requests, 2 RCU, 2 WCU. That is the price of a record and the
// row of one event. The rows of events are found and deleted as those of records
// are.
func (r *Rows[T]) Erase(ctx context.Context, partition string) (int, error) {
	if err := check.Positional(r.checkPartition(partition)); err != nil {
		return 0, err
	}

	events := 0
	if r.kind.exact() { // first: while the record stands, an event that counts again is erased with it
		n, err := r.erase(ctx, partition+ofEvents)
		if err != nil {
			return n, r.wrap("Erase", err)
		}
		events = n
	}

	n, err := r.erase(ctx, partition)
	return events + n, r.wrap("Erase", err)
}

func (r *Rows[T]) erase(ctx context.Context, partition string) (int, error) {
	return erase.Rows(ctx, r.api, erase.Partition{Table: r.table, Attr: attrPK, Value: item.S(partition)}, attrPK, attrSK)
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
