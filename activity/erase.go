package activity

import (
	"context"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/erase"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Erase deletes all that stands of a scope, tombstones and what has expired too,
// and returns how many rows it deleted. After an error, call it again: it goes on
// with the rest. What is written while it runs may stay, so erase until it
// answers 0.
//
// Erased events are forgotten: one that is delivered again is Created again. Erase
// behind the horizon of your redeliveries.
//
// Price: 2 requests, 1 RCU, 4 WCU. For one activity. 1 request and 1 RCU for each
// 4 KB begun of a page of 1 MB, 1 request for each 25 rows, and 4 WCU a row as for
// [Store.Delete].
func (s *Store) Erase(ctx context.Context, scope string) (int, error) {
	if err := check.PartitionKey(pkg, "scope", scope); err != nil {
		return 0, err
	}
	return s.erase(ctx, "Erase", erase.Partition{Attr: s.cfg.ScopeAttr, Value: item.S(scope)})
}

// EraseActor deletes all activities of an actor, in all scopes, and returns how
// many. Like [Store.Erase] it goes on when it is called again, and forgets what
// it erases; those of others in the same event stay, with or without the row of
// Nth(1) that guards them.
//
// It reads an index, which lags behind the table, normally by less than a
// second: what was recorded just now is not found yet. Erase until it answers 0,
// and once more after a while. Rows of an older system without a timestamp are
// not in the index; a tombstone is not either, and names no actor.
//
// Price: 2 requests, 0.5 RCU, 4 WCU. For one activity; beyond as [Store.Erase],
// with 0.5 RCU for each 4 KB.
func (s *Store) EraseActor(ctx context.Context, actor string) (int, error) {
	if err := check.Positional(s.checkActor(actor)); err != nil {
		return 0, err
	}
	return s.erase(ctx, "EraseActor", erase.Partition{Index: s.cfg.ActorIndexName, Attr: s.cfg.ActorAttr, Value: s.actorKey(actor)})
}

func (s *Store) erase(ctx context.Context, method string, p erase.Partition) (int, error) {
	p.Table = s.table
	n, err := erase.Rows(ctx, s.api, p, s.cfg.ScopeAttr, attrID)
	return n, s.wrap(method, err)
}
