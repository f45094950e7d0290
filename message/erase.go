package message

import (
	"context"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/erase"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Erase deletes all messages of a scope, expired ones too, and returns how many
// rows it deleted. After an error, call it again: it goes on with the rest. What
// is written while it runs may stay, so erase until it answers 0.
//
// Erased messages are forgotten: one that is delivered again is Created again.
// Erase when none is delivered any more.
//
// Price: 2 requests, 1 RCU, 1 WCU. For one message. 1 request and 1 RCU for each
// 4 KB begun of a page of 1 MB, 1 request for each 25 rows, and 1 WCU for each KB
// of a row; the index by actor adds as much again.
func (s *Store) Erase(ctx context.Context, scope string) (int, error) {
	if err := check.PartitionKey(pkg, "scope", scope); err != nil {
		return 0, err
	}
	return s.erase(ctx, "Erase", erase.Partition{Attr: s.cfg.ScopeAttr, Value: item.S(scope)})
}

// EraseActor deletes all messages of an actor, in all scopes, and returns how
// many. Like [Store.Erase] it goes on when it is called again, and forgets what
// it erases. Without [Config].ActorIndex it is bad input.
//
// It reads the index, which lags behind the table, normally by less than a
// second: what was saved just now is not found yet. Erase until it answers 0, and
// once more after a while. Rows of an older system without a timestamp are not in
// the index. Data and texts of others that name the actor stay.
//
// Price: 2 requests, 0.5 RCU, 2 WCU. For one message, with its entry in the
// index; beyond as [Store.Erase], with 0.5 RCU for each 4 KB.
func (s *Store) EraseActor(ctx context.Context, actor string) (int, error) {
	if err := s.checkIndexed(actor); err != nil {
		return 0, err
	}
	return s.erase(ctx, "EraseActor", erase.Partition{Index: s.cfg.ActorIndexName, Attr: s.cfg.ActorAttr, Value: s.actorKey(actor)})
}

func (s *Store) erase(ctx context.Context, op string, p erase.Partition) (int, error) {
	p.Table = s.table
	n, err := erase.Rows(ctx, s.api, p, s.cfg.ScopeAttr, s.cfg.SeqAttr)
	return n, s.wrap(op, err)
}
