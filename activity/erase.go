package activity

import (
	"context"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/erase"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Erase deletes all rows of a scope, including tombstones and expired rows, and
// returns how many it deleted. After an error, call Erase again: it goes on with
// the remaining rows. Rows that are written while Erase runs may stay, so call
// Erase until it returns 0.
//
// An erased event that is delivered again can be recorded again. So erase a scope only
// when you expect no more redeliveries.
//
// Price: 2 requests, 1 RCU, 4 WCU. This is the price for one activity. Reading
// takes 1 request for each MB, and costs 1 RCU for each 4 KB begun. Deleting
// takes 1 request for each 25 rows, and costs 4 WCU for each row up to 1 KB. A
// tombstone is in no index and costs 1 WCU.
func (s *Store) Erase(ctx context.Context, scope string) (int, error) {
	if err := check.PartitionKey(pkg, "scope", scope); err != nil {
		return 0, err
	}
	p := erase.Partition{Table: s.table, Attr: attrScope, Value: item.S(scope)}
	n, err := erase.Rows(ctx, s.api, p, attrScope, attrID)
	return n, s.wrap("Erase", err)
}

// EraseActor deletes all activities of an actor, in all scopes, and returns how
// many it deleted. After an error, call it again: it goes on with the rest. Activities
// of other actors stay, also in the same event, even if the row of Nth(1) that guards
// them is erased.
//
// EraseActor reads an index, which lags behind the table, normally by less than a
// second, and may not find what was recorded a moment ago. So call it until it returns
// 0, and once more after a while. A row that is another actor's by now stays. The index
// lacks tombstones, which do not say who the actor was, and rows of an older system
// without a timestamp.
//
// Price: 2 requests, 0.5 RCU, 4 WCU. This is the price for one activity. Reading
// takes 1 request for each MB, and costs 0.5 RCU for each 4 KB begun. Deleting
// takes 1 request for each row, 8 at a time, and costs as much as in
// [Store.Erase].
func (s *Store) EraseActor(ctx context.Context, actor string) (int, error) {
	if err := check.Positional(s.checkActor(actor)); err != nil {
		return 0, err
	}
	p := erase.Partition{Table: s.table, Index: indexActor, Attr: attrActor, Value: s.actorKey(actor)}
	n, err := erase.Indexed(ctx, s.api, p, attrScope, attrID)
	return n, s.wrap("EraseActor", err)
}
