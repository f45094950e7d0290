package ledger

import (
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/backfill"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Backfill returns the update that gives a row of an older system, as a Scan returned
// it, its expiry: Config.Retention after the key was seen. The bool is false for a row
// that needs no update: this package wrote it, or it has an expiry (a positive whole
// number of seconds, up to the year 9999). Backfill returns an error for a row that does
// not say when its key was seen, or has no room for the expiry.
//
// The update is safe to repeat, and beside live writes: it is refused, with a
// *types.ConditionalCheckFailedException, when the row has changed or is gone. A key
// that was seen longer ago than the Retention is forgotten. The update costs 1 WCU for
// each KB of the row.
func (s *Operators) Backfill(row map[string]types.AttributeValue) (*dynamodb.UpdateItemInput, bool, error) {
	row = s.names.Read(row)
	if item.Has(row, attrClaim) || item.HasTTL(row, attrExpiresAt) {
		return nil, false, nil
	}

	seenAt, err := item.ParseTime(row, attrSeenAt)
	if err == nil && seenAt.Unix() <= 0 {
		err = errors.New("attribute seenAt does not say when the key was seen")
	}

	if err != nil {
		return nil, false, s.wrap("Backfill", err)
	}

	expires := expiresAt(seenAt, s.cfg.Retention) - int64(grace/time.Second)
	in, ok, err := backfill.Update(s.names.Stored, s.table, row, []string{attrKey}, ddb.Item{attrExpiresAt: item.N(expires)}, attrSeenAt, attrClaim)
	return s.names.Update(in), ok, s.wrap("Backfill", err)
}
