package activity

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// MaxSet is the most activities that RecordAll records together, the most
// actions of a transaction.
const MaxSet = 100

// maxTransaction is the most bytes that a transaction's rows may have.
const maxTransaction = 4 << 20

// vacant lets a put create a row, and replace none but one that has expired,
// deleted or not: what was in it cannot come back, being too old.
const vacant = "attribute_not_exists(#id) OR #ttl BETWEEN :one AND :now"

var vacantNames = map[string]string{"#id": attrID, "#ttl": attrTTL}

// one is the least ttl that DynamoDB takes for one.
var one = item.N(1)

func (s *Store) vacantValues() ddb.Item {
	return ddb.Item{":one": one, ":now": item.N(s.cfg.Now().Unix())}
}

// Record records one activity under its event. A redelivery, and a retry after
// a lost reply, find it there and answer Duplicate. If what stands under the
// event is another activity, it stays, and the error is a [*ConflictError].
// What is read only is ignored: At is the event's time, CreatedAt the clock's.
//
// Of an event that [Store.Retract] has taken back it is [ErrRetracted]. Once
// [Store.Delete] has removed the row, nothing is found there: a late redelivery
// is Created again. With a Retention, an activity so old that its row may have
// expired is refused with [event.ErrTooOld], before any request.
//
// Price: 1 request, 4 WCU. One for the row and one for each index, by KB begun
// of the row. A duplicate, a conflict or a retraction that is found costs the
// row's KB alone, 1 WCU.
func (s *Store) Record(ctx context.Context, a Activity) (event.Outcome, error) {
	row, err := s.encode(a)
	if err != nil {
		return 0, err
	}
	return s.recordRow(ctx, "Record", a, row)
}

// recordRow puts the activity's row.
func (s *Store) recordRow(ctx context.Context, method string, a Activity, row ddb.Item) (event.Outcome, error) {
	if err := s.checkAge(method, a.Event); err != nil {
		return 0, err
	}
	old, refused, err := s.put(ctx, method, row)
	switch {
	case err != nil:
		return 0, err
	case !refused:
		return event.Created, nil
	case retracted(old):
		return 0, ErrRetracted
	}
	stored, err := s.decode(old)
	if err != nil {
		return 0, s.wrap(method, err)
	}
	if !same(stored, a) {
		return 0, &ConflictError{Stored: []Activity{stored}}
	}
	return event.Duplicate, nil
}

// checkAge refuses an event whose row may have expired: it cannot be told
// whether that was recorded.
func (s *Store) checkAge(method string, ev event.Event) error {
	if !s.retention.TooOld(ev.Time(), s.cfg.Now()) {
		return nil
	}
	return s.wrap(method, fmt.Errorf("happened before the retention of %s: %w", s.cfg.Retention, event.ErrTooOld))
}

// put creates the row. If one stands it is left and returned.
func (s *Store) put(ctx context.Context, method string, it ddb.Item) (old ddb.Item, refused bool, err error) {
	values := s.vacantValues()
	err = ddb.Retry(ctx, func() error {
		_, err := s.api.PutItem(ctx, &dynamodb.PutItemInput{
			TableName:                           &s.table,
			Item:                                it,
			ConditionExpression:                 aws.String(vacant),
			ExpressionAttributeNames:            vacantNames,
			ExpressionAttributeValues:           values,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		})
		return err
	})
	if old, refused = ddb.Refused(err); refused {
		return old, true, nil
	}
	return nil, false, s.wrap(method, err)
}

// RecordAll records the activities of one event together, all or none: what
// one message reports, say. They have one Scope, and their Events are Nth of
// one event, no two alike, one of them Nth(1): that row guards the set, so
// that of two sets that share nothing else only one can stand.
//
// The first set stands. An equal one, in any order, is Duplicate. Any other, be
// it larger, smaller, or of other activities, is a [*ConflictError] with all
// that stands, and nothing is written. (In the very moment that a larger set
// is being committed, a smaller one within it may be told Duplicate.)
//
// Where [Store.Retract] has taken back one of the set's own N, the set is
// [ErrRetracted], whatever else stands of it, and nothing is written. What was
// retracted under another N does not stand: the rest of the first set is
// Duplicate.
//
// Only a row of the set's own N refuses it. Beside rows of other N, which Record
// put under the event, it is Created. From then on they are part of what stands,
// and the same set again is a [*ConflictError], though it was recorded: so is the
// SDK's own retry of a single activity after a lost reply. This cannot happen
// where all of an event is recorded together.
//
// More than [MaxSet], none, repeated Events, and rows of more than 4 MB
// together are bad input. What is too old for a Retention is
// [event.ErrTooOld].
//
// Price: 1 request, 4 WCU. For one activity; together they cost 5 WCU each, as
// a transaction doubles the row's price and not the indexes'. A duplicate or a
// conflict is refused at 1 WCU for one activity, 2 each for more, and then
// costs 1 request and 1 RCU for each 4 KB to see all that stands. What the SDK
// sends again after a lost reply costs no WCU but 2 RCU for each and 4 KB of it.
func (s *Store) RecordAll(ctx context.Context, activities []Activity) (event.Outcome, error) {
	items, err := s.encodeSet("RecordAll", activities)
	if err != nil {
		return 0, err
	}
	refused, err := s.putAll(ctx, items)
	if err != nil {
		return 0, err
	}
	if !refused {
		return event.Created, nil
	}
	// What was refused shows only rows of this set, and the first may have had
	// more.
	rows, err := s.rowsOf(ctx, "RecordAll", activities[0].Scope, activities[0].Event)
	if err != nil {
		return 0, err
	}
	return s.judgeSet("RecordAll", rows, activities)
}

// judgeSet answers for a set that was refused because of these rows.
func (s *Store) judgeSet(method string, rows []ddb.Item, all []Activity) (event.Outcome, error) {
	given := map[string]bool{}
	for _, a := range all {
		given[a.Event.String()] = true
	}
	takenBack := func(row ddb.Item) bool {
		return retracted(row) && given[item.Text(row, attrID)] && !s.expired(row)
	}
	if slices.ContainsFunc(rows, takenBack) {
		return 0, ErrRetracted
	}
	stored, err := s.standing(method, rows)
	if err != nil {
		return 0, err
	}
	if len(stored) == 0 {
		return 0, s.wrap(method, errors.New("refused for rows that were deleted meanwhile: try again"))
	}
	if !sameSet(stored, all) {
		return 0, &ConflictError{Stored: stored}
	}
	return event.Duplicate, nil
}

// encodeSet checks that the activities make a set and returns their rows.
func (s *Store) encodeSet(method string, all []Activity) ([]ddb.Item, error) {
	if len(all) == 0 || len(all) > MaxSet {
		return nil, event.BadInput(pkg, "activities", fmt.Sprintf("must be 1 to %d, are %d", MaxSet, len(all)))
	}
	items := make([]ddb.Item, len(all))
	seen := map[event.Event]bool{}
	guarded := false
	for i, a := range all {
		field := fmt.Sprintf("activities[%d]", i)
		switch {
		case a.Scope != all[0].Scope:
			return nil, event.BadInput(pkg, field+".Scope", "is another than the first's")
		case !a.Event.Same(all[0].Event):
			return nil, event.BadInput(pkg, field+".Event", "does not follow from the first's event")
		case seen[a.Event]:
			return nil, event.BadInput(pkg, field+".Event", "is repeated: the n-th activity has the event's Nth(n)")
		}
		seen[a.Event] = true
		guarded = guarded || a.Event.N() == 1
		var err error
		if items[i], err = s.encode(a); err != nil {
			return nil, err
		}
	}
	if !guarded {
		return nil, event.BadInput(pkg, "activities", "must hold one under the event itself, Nth(1): its row guards the set")
	}
	size := 0
	for _, it := range items {
		size += item.Size(it)
	}
	if size > maxTransaction {
		return nil, event.BadInput(pkg, "activities", fmt.Sprintf("make %d bytes together, a transaction takes %d", size, maxTransaction))
	}
	return items, s.checkAge(method, all[0].Event)
}

// putAll creates all the rows or, where any stands, none.
func (s *Store) putAll(ctx context.Context, items []ddb.Item) (refused bool, err error) {
	if len(items) == 1 {
		_, refused, err := s.put(ctx, "RecordAll", items[0])
		return refused, err
	}
	return s.together(ctx, "RecordAll", s.puts(items))
}

// puts are the actions that create all the rows or, where any stands, none.
func (s *Store) puts(items []ddb.Item) []types.TransactWriteItem {
	actions := make([]types.TransactWriteItem, len(items))
	values := s.vacantValues()
	for i, it := range items {
		actions[i].Put = &types.Put{
			TableName:                           &s.table,
			Item:                                it,
			ConditionExpression:                 aws.String(vacant),
			ExpressionAttributeNames:            vacantNames,
			ExpressionAttributeValues:           values,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}
	}
	return actions
}

// together sends a transaction, and reports whether a condition refused it.
func (s *Store) together(ctx context.Context, method string, actions []types.TransactWriteItem) (refused bool, err error) {
	in := &dynamodb.TransactWriteItemsInput{TransactItems: actions}
	// A set that meets one being written waits until it shows whole.
	err = ddb.RetryIf(ctx, ddb.Busy, func() error {
		_, err := s.api.TransactWriteItems(ctx, in)
		return err
	})
	if reasons, ok := ddb.Cancelled(err); ok && !ddb.Contended(err) && slices.ContainsFunc(reasons, ddb.ConditionFailed) {
		return true, nil
	}
	return false, s.wrap(method, err)
}

// sameSet reports whether both hold the same activities, in any order.
func sameSet(stored, given []Activity) bool {
	byEvent := func(a, b Activity) int { return a.Event.Compare(b.Event) }
	return slices.EqualFunc(slices.SortedFunc(slices.Values(stored), byEvent), slices.SortedFunc(slices.Values(given), byEvent), same)
}
