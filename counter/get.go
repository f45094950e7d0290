package counter

import (
	"cmp"
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Count is the count of a window.
type Count struct {
	Used      int64
	Recorded  int64     // events in the row, refunded ones included
	UpdatedAt time.Time // of the last write; zero if the window has no row that counts, or that row has no updatedAt
}

// lastMilli is the end of the year 9999, the last of a row's name.
const lastMilli = 253402300799999

const getProjection = "#count, #recorded, #updatedAt, #ttl"

var getNames = item.Names(attrCount, attrRecorded, attrUpdatedAt, attrTTL)

// Get returns the count of a key in the window of an instant: time.Now() gives the
// current window. The read is consistent. The count is zero if the window has no row,
// or only an expired row that DynamoDB has not deleted yet. A row with the
// earlier ttl of an older system counts for [Config].Retention after its day, as for
// Take, unless DynamoDB deletes the row sooner.
//
// Errors: an [*event.InputError] for an invalid key, and for an instant before 1970
// or beyond the year 9999.
//
// Price: 1 request, 1 RCU. A row above 4 KB costs 1 RCU for each 4 KB.
func (s *Store) Get(ctx context.Context, key string, at time.Time) (Count, error) {
	err := cmp.Or(check.PartitionKey(pkg, "key", key),
		check.Refuse(pkg, "at", at.Before(time.UnixMilli(0)) || at.After(time.UnixMilli(lastMilli)), "must be an instant from 1970 to 9999, is "+at.UTC().Format(time.RFC3339)))
	if err != nil {
		return Count{}, err
	}

	w := s.windowOf(at)
	out, err := s.api.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:                aws.String(s.table),
		Key:                      s.rowKey(key, w.date),
		ConsistentRead:           aws.Bool(true),
		ProjectionExpression:     aws.String(getProjection),
		ExpressionAttributeNames: getNames,
	})
	if err != nil {
		return Count{}, s.wrap("Get", err)
	}
	if s.expired(out.Item, w) {
		return Count{}, nil
	}

	c, err := s.readCounts(out.Item)
	if err != nil {
		return Count{}, s.wrap("Get", err)
	}

	updatedAt, err := item.ParseTime(out.Item, attrUpdatedAt)
	if err != nil {
		return Count{}, s.wrap("Get", err)
	}

	return Count{Used: c.used, Recorded: c.recorded, UpdatedAt: updatedAt}, nil
}

// expired reports whether the row is past its TTL and past the TTL that every
// write here gives it. An older system's TTL may come first; Take continues
// such a row.
func (s *Store) expired(row ddb.Item, w *window) bool {
	now := s.cfg.Now()
	return item.Expired(row, attrTTL, now) && !now.Before(w.expiry)
}
