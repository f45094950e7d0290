package rmw

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// inPartition selects the rows of a partition.
const inPartition = "#pk = :pk"

func keyOf(pk, sk string) ddb.Item { return ddb.Item{attrPK: item.S(pk), attrSK: item.S(sk)} }

// Get returns the row, and false if there is none.
func (r *Rows[T]) Get(ctx context.Context, pk, sk string, decode Decode[T]) (T, bool, error) {
	var none T
	row, err := r.read(ctx, keyOf(pk, sk), r.Consistent)
	if err != nil || len(row) == 0 {
		return none, false, r.wrap(get, err)
	}
	value, err := decode(row)
	if err != nil {
		return none, false, r.wrap(get, err)
	}
	return value, true, nil
}

// All returns the rows of the partition, by sort key; nil if there are none.
func (r *Rows[T]) All(ctx context.Context, pk string, decode Decode[T]) ([]T, error) {
	in := &dynamodb.QueryInput{
		TableName:                 aws.String(r.Table),
		KeyConditionExpression:    aws.String(inPartition),
		ExpressionAttributeNames:  map[string]string{"#pk": attrPK},
		ExpressionAttributeValues: ddb.Item{":pk": item.S(pk)},
		ConsistentRead:            aws.Bool(r.Consistent),
	}
	var values []T
	for {
		page, err := r.API.Query(ctx, in)
		if err != nil {
			return nil, r.wrap(all, err)
		}
		for _, row := range page.Items {
			value, err := decode(row)
			if err != nil {
				return nil, r.wrap(all, err)
			}
			values = append(values, value)
		}
		if len(page.LastEvaluatedKey) == 0 {
			return values, nil
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

// read returns the row as it stands, nil if there is none.
func (r *Rows[T]) read(ctx context.Context, key ddb.Item, consistent bool) (ddb.Item, error) {
	out, err := r.API.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: aws.String(r.Table), Key: key, ConsistentRead: aws.Bool(consistent),
	})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}
