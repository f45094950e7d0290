package alias

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Forget makes a phrase stand for nothing.
type Forget struct {
	Scope  string
	Phrase string
	Event  event.Event
}

// forget also notes the event of a phrase that stands for nothing, because an
// earlier Put or Correct may arrive after it.
var forget = expression{
	update: "SET #type = :type, #namedBy = :event, #createdAt = if_not_exists(#createdAt, :now), #updatedAt = :now " +
		"REMOVE #canonicalActivity, #gsi1pk, #gsi1sk, #confirmations, #source, #learnedFrom, #confirmedBy, #confirmers",
	condition: "attribute_not_exists(#namedBy) OR #namedBy < :event",
	names: item.Names(attrType, attrNamedBy, attrCreatedAt, attrUpdatedAt, attrName, attrIndexPK, attrIndexSK,
		attrConfirmations, attrSource, attrLearnedFrom, attrConfirmedBy, attrConfirmers),
	returns: types.ReturnValueAllOld,
}

// Forget takes a phrase out of the book. The item of the phrase stays, with its
// key, the event and the times. So neither a seed nor a redelivery of an earlier
// Put or Correct brings the phrase back. A Put or Correct by a later event
// brings it back. If this event or a later event named the phrase, or if a later
// event forgot it, the error is [event.ErrSuperseded]. If the phrase is stored only
// under an older spelling, Forget first adopts that row, as [Store.Adopt] does.
// Forget looks for older spellings in the scope's book.
//
// Forget answers [event.Duplicate] if this event has already forgotten the
// phrase, or has already found that it stands for nothing. Otherwise, if the
// phrase stands for nothing and no later event forgot it, the error is
// [ErrNotFound]. Forget then notes its event all the same; if the phrase has no
// item, Forget creates one. Then a Put or Correct that happened before the
// Forget and arrives after it is refused. The item has no TTL, so from then on
// every read of the scope's book, for instance for Match, also reads this item.
// So forget only phrases that were known, not any text that somebody says.
//
// Price: 2 requests, 0.5 RCU, 2 WCU. If the scope's book is in memory, Forget
// takes 1 request. Otherwise it reads the book first, as [Store.All] does. One
// WCU is for the item and one is for its entry in the index. A phrase that
// stands for nothing costs 1 WCU. A refusal also costs 1 WCU. If Forget adopts
// a row first, the price of [Store.Adopt] is added.
func (s *Store) Forget(ctx context.Context, f Forget) (event.Outcome, error) {
	p, err := s.place(f.Scope, f.Phrase)
	if err != nil {
		return 0, err
	}
	if err := s.check(f.Event, ""); err != nil {
		return 0, err
	}
	if _, err := s.settle(ctx, "Forget", p, false); err != nil {
		return 0, err
	}
	got, err := s.update(ctx, "Forget", p, forget, ddb.Item{
		":type":  item.S(p.prefix),
		":event": item.S(f.Event.String()),
		":now":   item.Time(s.cfg.Now()),
	})
	switch {
	case err != nil:
		return 0, err
	case !got.refused && item.Has(got.before, attrName):
		return event.Created, nil
	case !got.refused:
		return 0, ErrNotFound
	case got.by.NamedBy == f.Event && !got.by.named():
		return event.Duplicate, nil
	}
	return 0, s.superseded("Forget")
}
