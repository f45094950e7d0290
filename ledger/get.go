package ledger

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Get reads where a key stands, false when it is unknown or has expired. The
// read is consistent. It is for people and monitors: what a worker may do is
// decided by [Store.Claim] alone.
//
// Price: 1 request, 1 RCU. A larger row costs 1 RCU for each 4 KB.
func (s *Store) Get(ctx context.Context, key string) (Record, bool, error) {
	if err := check.PartitionKey(pkg, "key", key); err != nil {
		return Record{}, false, err
	}
	out, err := s.api.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(s.table),
		Key:            ddb.Item{s.cfg.KeyAttr: item.S(key)},
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return Record{}, false, s.wrap("Get", err)
	}
	if len(out.Item) == 0 {
		return Record{}, false, nil
	}
	r, err := s.decode(out.Item)
	if err != nil {
		return Record{}, false, s.wrap("Get", err)
	}
	if r.expired(s.cfg.Now()) {
		return Record{}, false, nil
	}
	return r.Record, true, nil
}
