package counter

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Count is a day's count as it stands.
type Count struct {
	Used      int64
	Recorded  int64     // events in the row, refunded ones included
	UpdatedAt time.Time // zero when nothing was counted
}

const getProjection = "#count, #recorded, #updatedAt, #ttl"

// Get returns the count of a key and day, consistently: it holds all that was
// answered before. A day without a row counts zero, and so does one whose row
// has expired, deleted or not.
//
// Price: 1 request, 1 RCU. A row above 4 KB costs 1 RCU for each.
func (s *Store) Get(ctx context.Context, key string, day tzclock.Date) (Count, error) {
	if err := check.PartitionKey(pkg, "key", key); err != nil {
		return Count{}, err
	}
	if err := day.Check(pkg, "day"); err != nil {
		return Count{}, err
	}
	out, err := s.api.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:            aws.String(s.table),
		Key:                  s.rowKey(key, day),
		ConsistentRead:       aws.Bool(true),
		ProjectionExpression: aws.String(getProjection),
		ExpressionAttributeNames: map[string]string{
			"#count": attrCount, "#recorded": attrRecorded, "#updatedAt": attrUpdatedAt, "#ttl": attrTTL,
		},
	})
	if err != nil {
		return Count{}, s.wrap("Get", err)
	}
	if expired(out.Item, s.cfg.Now()) {
		return Count{}, nil
	}
	c, err := readCounts(out.Item)
	if err != nil {
		return Count{}, s.wrap("Get", err)
	}
	return Count{Used: c.used, Recorded: c.recorded, UpdatedAt: c.updatedAt}, nil
}
