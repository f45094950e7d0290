package counter

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// place is the row of a key and window, and the method and the time of a
// write to it.
type place struct {
	op  string
	key string
	*window
	now time.Time
}

// placeOf finds the row for something that happened at the given time. It
// refuses a row that may have expired, because its events would be counted
// again.
func (s *Store) placeOf(op, key string, at, now time.Time) (place, error) {
	w := s.windowOf(at)
	if err := cmp.Or(check.PartitionKey(pkg, "Key", key), check.TTL(pkg, "Event", w.expiry)); err != nil {
		return place{}, err
	}
	if !now.Before(w.expiry.Add(-s.cfg.MaxSkew)) {
		return place{}, s.wrap(op, fmt.Errorf("the row of %s may have expired: %w", w.name, event.ErrTooOld))
	}
	return place{op: op, key: key, window: w, now: now}, nil
}

// keyed is a write of an event, once, under its own nonce.
type keyed struct {
	place
	event event.Event
	entry entry
	from  int64 // what Adjust settles
}

func (s *Store) keyed(op, key string, ev event.Event, weight int64) (keyed, error) {
	now := s.cfg.Now()
	if err := cmp.Or(ev.Check(pkg, "Event", now), checkWeight("Weight", weight)); err != nil {
		return keyed{}, err
	}

	p, err := s.placeOf(op, key, ev.Time(), now)
	if err != nil {
		return keyed{}, err
	}

	nonce, err := newNonce(s.cfg.Rand)
	if err != nil {
		return keyed{}, s.wrap(op, err)
	}

	return keyed{place: p, event: ev, entry: entry{weight: weight, nonce: nonce}}, nil
}

// checkWeight bounds a weight. It has no default: an amount of 0 that counted as 1
// would be wrong without an error.
func checkWeight(field string, weight int64) error {
	return cmp.Or(
		check.Refuse(pkg, field, weight < 1, fmt.Sprintf("must be at least 1, is %d; 1 counts calls", weight)),
		check.Refuse(pkg, field, weight > mostWeight, fmt.Sprintf("must be 1 to 1,000,000,000,000, is %d", weight)))
}

// update returns the request for the place, without a condition. The values
// are those of every write; callers add their own.
func (s *Store) update(p place, expression string) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName:        aws.String(s.table),
		Key:              s.rowKey(p.key, p.date),
		UpdateExpression: aws.String(expression),
		ReturnValues:     types.ReturnValueUpdatedNew,
		ExpressionAttributeNames: map[string]string{
			"#count": attrCount, "#updatedAt": attrUpdatedAt, "#ttl": attrTTL,
		},
		ExpressionAttributeValues: ddb.Item{
			":now": item.Time(p.now),
			":ttl": p.ttl,
		},
	}
}

// one is how many recorded events an entry adds.
var one = item.N(1)

// newEntry is the condition for an event that the row does not hold yet and has
// room for.
const newEntry = "attribute_not_exists(#entry)" +
	" AND (attribute_not_exists(#recorded) OR #recorded < :most)"

// noRoomCondition never holds. A write above the cap sends it, because the row that
// refuses it shows what the event holds from an earlier write, under a higher cap.
const noRoomCondition = "attribute_exists(#entry) AND attribute_not_exists(#entry)"

// recordNew is [Store.record] for an event that the row must not hold yet, and
// must have room for.
func (s *Store) recordNew(w keyed, condition string) *dynamodb.UpdateItemInput {
	in := s.record(w, takeUpdate, condition)
	s.bound(in)
	in.ExpressionAttributeValues[":weight"] = item.N(w.entry.weight)
	return in
}

// bound adds the bound on recorded events to the request.
func (s *Store) bound(in *dynamodb.UpdateItemInput) {
	in.ExpressionAttributeNames["#recorded"] = attrRecorded
	in.ExpressionAttributeValues[":one"] = one
	in.ExpressionAttributeValues[":most"] = item.N(int64(s.cfg.MaxRecorded))
}

// record returns the request that writes the event's entry under a condition.
func (s *Store) record(w keyed, expression, condition string) *dynamodb.UpdateItemInput {
	in := s.update(w.place, expression)
	in.ConditionExpression = aws.String(condition)
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	in.ExpressionAttributeNames["#entry"] = entryName(w.event)
	in.ExpressionAttributeValues[":entry"] = item.S(w.entry.String())
	return in
}

func (s *Store) rowKey(key string, date types.AttributeValue) ddb.Item {
	return ddb.Item{attrScope: item.S(key), attrDate: date}
}

// send returns the count after the write, or the row that refused it.
func (s *Store) send(ctx context.Context, op string, in *dynamodb.UpdateItemInput) (used int64, refusing ddb.Item, err error) {
	row, refused, err := ddb.Update(ctx, s.api.UpdateItem, in)
	switch {
	case err != nil:
		return 0, nil, s.wrap(op, err)
	case refused && row == nil:
		return 0, ddb.Item{}, nil // it does not exist
	case refused:
		return 0, row, nil
	}

	used, err = s.countAfter(op, row)
	return used, nil, err
}

// countAfter reads the reply of a write that took effect. If another system left a
// count that is not a whole number, the count cannot be read; the write cannot be
// undone.
func (s *Store) countAfter(op string, after ddb.Item) (int64, error) {
	used, err := item.Int(after, attrCount)
	if err != nil {
		return 0, s.wrap(op, &uncounted{err})
	}
	return used, nil
}

func (s *Store) wrap(op string, err error) error { return ddb.Wrap(pkg, op, s.table, err) }

// standing is what a refusing row holds about the write's event.
type standing struct {
	counts
	recorded bool  // the event is in the row
	own      bool  // by this very write, whose reply was lost
	state    state // what has become of it
}

func (s standing) refunded() bool { return s.state == refunded }

// judge reads the standing of w from the row that refused it. If another system
// left a count that is not a whole number, the write's own entry still shows
// that it took effect.
func (s *Store) judge(w keyed, row ddb.Item) (standing, error) {
	e, found, err := entryOf(row, w.event)
	if err != nil {
		return standing{}, s.wrap(w.op, err)
	}
	if given := w.expects(e.state); found && given != 0 && e.weight != given {
		return standing{}, &WeightError{Recorded: e.weight, Given: given}
	}

	own := found && e.nonce == w.entry.nonce
	figures, err := s.readCounts(row)
	if err != nil && own {
		err = &uncounted{err}
	}
	if err != nil {
		return standing{}, s.wrap(w.op, err)
	}
	return standing{counts: figures, recorded: found, own: own, state: e.state}, nil
}

// expects is the weight that an entry in the state must have to match the write,
// 0 for any. A settled or refunded entry may have another weight than it was
// taken with.
func (w keyed) expects(st state) int64 {
	switch {
	case w.entry.state == settled && st == held:
		return w.from
	case w.entry.state == refunded, w.entry.state == st:
		return w.entry.weight
	}
	return 0
}

// known is the answer for an event that the row has.
func (p place) known(s standing) Total {
	t := p.total(s.outcome(), s.used)
	t.Refunded = s.refunded()
	return t
}

// outcome is Created for the write's own work and Duplicate for another's.
func (s standing) outcome() event.Outcome {
	if s.own {
		return event.Created
	}
	return event.Duplicate
}
