package alias

import (
	"context"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/erase"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Erase deletes all rows of a scope, what was forgotten and what cannot be read
// too, and returns how many. The scope's book leaves this Store's memory; other
// processes answer from theirs until it expires, for [Config].CacheTTL at most.
//
// After an error call it again, and it goes on. What is written while it runs
// may stay, so erase until it answers 0; what a writer writes then has nothing of
// what stood before. Erased events are forgotten with their rows: a redelivery of
// a Put or a Correct teaches its phrase again, and a Seed brings back what was
// forgotten. So erase when no more redeliveries are to come.
//
// Price (none): 1 request, 1 RCU. Of a scope without rows.
//
// Price: 2 requests, 1 RCU, 2 WCU. Of one row: the scope is read consistently, 1
// RCU for each 4 KB and a request for each MB, then 1 request for each 25 rows,
// and for each row 1 WCU and 1 for its entry in the index, which a forgotten
// phrase does not have.
func (s *Store) Erase(ctx context.Context, scope string) (int, error) {
	partition, err := s.partition(scope)
	if err != nil {
		return 0, check.Positional(err)
	}
	defer s.cache.erase(scope)
	p := erase.Partition{Table: s.table, Attr: attrPK, Value: item.S(partition)}
	erased, err := erase.Rows(ctx, s.api, p, attrPK, attrSK)
	return erased, s.wrap("Erase", err)
}
