package alias

import (
	"context"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/erase"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Erase deletes all rows of a scope, including forgotten and unreadable rows,
// and returns how many it deleted. It also takes the scope's book out of this
// Store's memory. Other processes answer from the book in their own memory
// until it expires, after [Config].CacheTTL at most.
//
// After an error, call Erase again: it goes on. A row that is written while
// Erase runs may stay, and holds nothing of a deleted row. So call Erase until it
// returns 0.
//
// Erase also deletes the events that the rows remember. Therefore, an old Put or
// Correct that is delivered again after the Erase teaches its phrase again, and
// a Seed brings back phrases that Forget had taken out. So erase only when you
// expect no more redeliveries.
//
// Price (none): 1 request, 1 RCU. This is for a scope without rows.
//
// Price: 2 requests, 1 RCU, 2 WCU. This is for one row. Erase reads the scope
// consistently: 1 RCU for each 4 KB, and 1 request for each MB. Then it sends 1
// request for each 25 rows. Each row costs 1 WCU, and 1 WCU more for its entry
// in the index. A forgotten phrase does not have an entry in the index.
func (s *Store) Erase(ctx context.Context, scope string) (int, error) {
	partition, _, err := s.partitions(scope)
	if err != nil {
		return 0, check.Positional(err)
	}
	defer s.cache.drop(scope)
	p := erase.Partition{Table: s.table, Attr: attrPK, Value: item.S(partition)}
	erased, err := erase.Rows(ctx, s.api, p, attrPK, attrSK)
	return erased, s.wrap("Erase", err)
}
