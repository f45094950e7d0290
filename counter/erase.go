package counter

import (
	"context"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/erase"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Erase deletes the key's rows of all windows, also those of stores with another
// [Config].Window on the same table, and returns how many rows it deleted.
// After an error, call Erase again to delete the rest. A write during Erase may
// create a row that stays, without what Erase has deleted. So call Erase until it
// returns 0. A request of Erase that the network delays deletes what stands when it
// arrives, even after Erase has returned.
//
// Erased events are forgotten: the current limit begins anew, and a redelivered event
// counts again. Call Erase when you expect no more events of the key, or leave the
// deletion to the TTL: a row expires [Config].Retention after the end of its window.
//
// Errors: an [*event.InputError] for an invalid key; otherwise the errors of
// the API, or an error if DynamoDB leaves rows unprocessed, 10 times or until
// the context ends.
//
// Price: 2 requests, 1 RCU, 1 WCU. That is the price for a key with one row.
// Reading takes 1 request for each MB, and costs 1 RCU for each 4 KB. Deleting
// takes 1 request for each 25 rows, and costs 1 WCU for each KB of a row. A key
// without rows costs 1 request and 1 RCU.
func (s *Store) Erase(ctx context.Context, key string) (int, error) {
	if err := check.PartitionKey(pkg, "key", key); err != nil {
		return 0, err
	}
	p := erase.Partition{Table: s.table, Attr: attrScope, Value: item.S(key)}
	erased, err := erase.Rows(ctx, s.api, p, attrScope, attrDate)
	return erased, s.wrap("Erase", err)
}
