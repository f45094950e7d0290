package message

import (
	"context"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/erase"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Erase deletes all messages of a scope, including expired messages, and
// returns how many rows it deleted. After an error, call Erase again to delete
// the rest. A message that is saved while Erase runs may stay, so call Erase
// until it returns 0.
//
// Erased messages are forgotten: an erased message that is delivered again is
// Created again, unless it is too old for the Retention. So erase only when you
// expect no more redeliveries.
//
// Price: 2 requests, 1 RCU, 1 WCU. That is the price for one message. To read
// the rows, each page of 1 MB costs 1 request, and 1 RCU for each 4 KB begun.
// To delete the rows, each 25 rows cost 1 request, and each row costs 1 WCU for
// each KB. With [Config].ActorIndex, a row with an actor costs as many WCU
// again, for its entry in the index.
func (s *Store) Erase(ctx context.Context, scope string) (int, error) {
	if err := check.PartitionKey(pkg, "scope", scope); err != nil {
		return 0, err
	}
	p := erase.Partition{Table: s.table, Attr: attrScope, Value: item.S(scope)}
	n, err := erase.Rows(ctx, s.api, p, attrScope, attrSeq)
	return n, s.wrap("Erase", err)
}

// EraseActor deletes all messages of an actor, in all scopes, and returns how
// many rows it deleted. After an error, call EraseActor again to delete the
// rest. Erased messages are forgotten, as after [Store.Erase]. Without
// [Config].ActorIndex, the call is bad input.
//
// EraseActor reads the index, which lags behind the table, normally by less than
// a second. So it may miss a message that was saved just now. A row that it finds
// and that is another actor's by now stays. Call EraseActor until it returns 0, and
// once more after a while. Rows of an older system without a timestamp are not in
// the index. Messages of other actors stay, even if their data or text names the
// actor.
//
// Price: 2 requests, 0.5 RCU, 2 WCU. That is the price for one message with its
// entry in the index. To read the rows, each page of 1 MB costs 1 request, and 0.5
// RCU for each 4 KB begun. To delete the rows, each row costs 1 request, 8 at a
// time, and as many WCU as in [Store.Erase].
func (s *Store) EraseActor(ctx context.Context, actor string) (int, error) {
	if err := s.checkIndexed(actor); err != nil {
		return 0, err
	}
	p := erase.Partition{Table: s.table, Index: indexActor, Attr: attrActor, Value: s.actorKey(actor)}
	n, err := erase.Indexed(ctx, s.api, p, attrScope, attrSeq)
	return n, s.wrap("EraseActor", err)
}
