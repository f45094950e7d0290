package ledger

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Get returns the state of a key, and false if the key is unknown or has expired. The
// read is consistent. Get is for people, for monitors and to look for a mark of
// [Store.MarkSeen]. Whether a worker may work only [Store.Claim] decides.
//
// Price: 1 request, 1 RCU. A larger row costs 1 RCU for each 4 KB.
func (s *Store) Get(ctx context.Context, key string) (Record, bool, error) {
	if err := check.PartitionKey(pkg, "key", key); err != nil {
		return Record{}, false, err
	}
	r, live, err := s.get(ctx, key, aws.Bool(true))
	if err != nil || !live {
		return Record{}, false, s.wrap("Get", err)
	}
	return r.Record, true, nil
}

// get reads a row, and reports whether it exists and has not expired.
func (s *Store) get(ctx context.Context, key string, consistent *bool) (row, bool, error) {
	out, err := s.api.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(s.table),
		Key:            ddb.Item{attrKey: item.S(key)},
		ConsistentRead: consistent,
	})
	if err != nil || len(out.Item) == 0 {
		return row{}, false, err
	}
	r, err := s.decode(out.Item)
	return r, !r.expired(s.cfg.Now()), err
}
