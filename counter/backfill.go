package counter

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/backfill"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Backfill returns the update that gives a row of an older system the TTL that
// [Store.Take] would have written. Pass the row as a Scan of the table returned it.
// The bool is false if the row already has a TTL that DynamoDB accepts. So the
// earlier TTL of an older system stays until the next write.
//
// DynamoDB refuses the update, with a *types.ConditionalCheckFailedException, if
// the TTL has changed or the row is gone. So the update is safe to send during
// live writes, and safe to repeat. If the day is long over, DynamoDB deletes the
// row soon after the update, unless the new TTL lies more than five years in the
// past.
//
// A row of another [Config].Window has a TTL, because only this package writes such
// rows. So Backfill is for a Store whose Window is [Day].
//
// Errors: an [*event.InputError] for a Store with another Window. Another error for a
// row without a TTL if its date is not a day, its count is not a whole number, or the
// TTL does not fit into it.
//
// The update costs 1 WCU for each KB of the row.
func (s *Store) Backfill(row map[string]types.AttributeValue) (*dynamodb.UpdateItemInput, bool, error) {
	if s.cfg.Window != Day {
		return nil, false, event.BadInput(pkg, "Config.Window", "must be Day: older systems have rows of days")
	}

	row = s.names.Read(row)
	if item.HasTTL(row, attrTTL) {
		return nil, false, nil
	}

	day, err := tzclock.ParseDate(item.Text(row, attrDate))
	if err == nil {
		_, err = s.readCounts(row)
	}

	if err != nil {
		return nil, false, s.wrap("Backfill", fmt.Errorf("the row is not the count of a day: %v", err)) // not wrapped: what is stored is nobody's bad input
	}

	ttl := item.N(s.zone.End(day).Add(s.cfg.Retention).Unix())
	in, ok, err := backfill.Update(s.names.Stored, s.table, row, []string{attrScope, attrDate}, ddb.Item{attrTTL: ttl}, attrDate)
	return s.names.Update(in), ok, s.wrap("Backfill", err)
}
