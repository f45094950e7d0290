package alias

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Forget says that a phrase shall stand for nothing.
type Forget struct {
	Scope  string
	Phrase string
	Event  event.Event
}

// forget notes the event of a phrase that stands for nothing, too: an earlier
// Put or Correct may arrive after it.
var forget = expression{
	update: "SET #type = :type, #namedBy = :event, #createdAt = if_not_exists(#createdAt, :now), #updatedAt = :now " +
		"REMOVE #canonicalActivity, #gsi1pk, #gsi1sk, #confirmations, #source, #learnedFrom, #confirmedBy, #confirmers",
	condition: "attribute_not_exists(#namedBy) OR #namedBy < :event",
	names: item.Names(attrType, attrNamedBy, attrCreatedAt, attrUpdatedAt, attrName, attrIndexPK, attrIndexSK,
		attrConfirmations, attrSource, attrLearnedFrom, attrConfirmedBy, attrConfirmers),
	returns: types.ReturnValueAllOld,
}

// Forget takes a phrase out of the book. Of its item the key, the event and the
// times stay, so that neither a seed nor a redelivery of what taught it brings
// it back; a later Put or Correct does. A phrase that a later event named or
// forgot is [event.ErrTooOld]. One that stands only under an older spelling, which
// Forget looks for in the scope's book, is adopted first, as by [Store.Adopt].
//
// One that stands for nothing is [ErrNotFound]. The event is noted all the
// same, in an item of its own where there is none: a Put or Correct that
// happened before it and arrives after it is then refused. That item has no TTL
// and is read with the scope's book for good, by Match and all who read that: do
// not forget whatever somebody says, but phrases that were known.
//
// Price: 2 requests, 0.5 RCU, 2 WCU. With the scope's book in memory 1 request;
// else the book is read first, as by [Store.All]. Of the WCU one is for the item
// and one for the index; a phrase that stands for nothing costs 1 WCU. A refusal
// costs 1 WCU.
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
	return 0, s.tooOld("Forget")
}
