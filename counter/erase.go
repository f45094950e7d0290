package counter

import (
	"context"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/erase"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Erase deletes all rows of the key, of every day, and returns how many. After
// an error calling again goes on with the rest. What is written while it runs may
// stay, with nothing in it of what was there before: erase until it is 0.
//
// Erased events are forgotten: today's limit begins anew, and an event that is
// delivered again counts again. Erase when no event of the key comes any more, or
// leave it to the TTL: nothing is kept longer than [Config].Retention after its day.
//
// Errors: an [*event.InputError] for an invalid key; else those of the API.
//
// Price: 2 requests, 1 RCU, 1 WCU. That is a key of one row; each further 25 rows
// take a request. A row costs 1 WCU for each KB, and all of them together 1 RCU
// for each 4 KB. A key without rows costs 1 request and 1 RCU.
func (s *Store) Erase(ctx context.Context, key string) (int, error) {
	if err := check.PartitionKey(pkg, "key", key); err != nil {
		return 0, err
	}
	p := erase.Partition{Table: s.table, Attr: s.cfg.ScopeAttr, Value: item.S(key)}
	erased, err := erase.Rows(ctx, s.api, p, s.cfg.ScopeAttr, s.cfg.DateAttr)
	return erased, s.wrap("Erase", err)
}
