package counter

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/backfill"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Backfill returns the update that gives a row of an older system, as a Scan of the
// table returned it, the TTL that [Store.Take] would have written. It is false for a
// row that has one, unless DynamoDB's TTL would ignore it; an older system's earlier
// one stays until the next write.
//
// The update is refused, with a *types.ConditionalCheckFailedException, when the TTL
// has changed or the row is gone, so that it is safe beside live writes, and to repeat.
// DynamoDB deletes a row of a day that is long over soon after, but not one whose TTL
// is over five years past.
//
// Errors: a row that is not a day's count, or that has no room for it.
//
// The update costs 1 WCU for each KB of the row.
func (s *Store) Backfill(row map[string]types.AttributeValue) (*dynamodb.UpdateItemInput, bool, error) {
	day, err := tzclock.ParseDate(item.Text(row, s.cfg.DateAttr))
	if err == nil {
		_, err = s.readCounts(row)
	}
	if err != nil {
		return nil, false, s.wrap("Backfill", fmt.Errorf("the row: %v", err)) // not wrapped: what is stored is nobody's bad input
	}
	if item.HasTTL(row, s.cfg.TTLAttr) {
		return nil, false, nil
	}
	ttl := item.N(s.zone.End(day).Add(s.cfg.Retention).Unix())
	in, ok, err := backfill.Update(s.table, row, []string{s.cfg.ScopeAttr, s.cfg.DateAttr}, ddb.Item{s.cfg.TTLAttr: ttl}, s.cfg.DateAttr)
	return in, ok, s.wrap("Backfill", err)
}
