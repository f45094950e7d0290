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
	"github.com/homeops/ddbpatterns/internal/payload"
)

// MaxSet is how many activities RecordAll can record together: the greatest
// number of actions in a transaction.
const MaxSet = 100

// maxTransaction is the most bytes that a transaction's rows may have.
const maxTransaction = 4 << 20

// vacant lets a put create a row, or replace one that has expired: the event in
// that row is too old to be delivered again.
const vacant = "attribute_not_exists(#id) OR #ttl BETWEEN :one AND :now"

var vacantNames = map[string]string{"#id": attrID, "#ttl": attrTTL}

// one is the least number that DynamoDB takes for a ttl.
var one = item.N(1)

func (s *Store) vacantValues() ddb.Item {
	return ddb.Item{":one": one, ":now": item.N(s.cfg.Now().Unix())}
}

// Record records one activity under its event, and answers Created. A redelivery, or
// a retry after a lost reply, finds the activity and answers Duplicate. If a different
// activity is already recorded under this Event in the same Scope, it stays, and the
// error is a [*ConflictError]. The same Event in another Scope is another row.
//
// If [Store.Retract] has taken the activity back, the error is [ErrRetracted]. With a
// Retention, an activity so old that its row may have expired is refused with
// [event.ErrTooOld], before any request.
//
// Price: 1 request, 4 WCU. Each KB begun of the row costs 1 WCU for the table
// and 1 WCU for each index. A duplicate, a conflict or a retracted activity
// costs 1 WCU for each KB of the given or the stored row, whichever is larger.
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

	old, refused, err := s.put(ctx, method, row, vacant, vacantNames)
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

// same reports whether both are the same activity. It compares neither the time
// of writing nor the Unicode form of the name.
func same(a, b Activity) bool {
	return a.Scope == b.Scope && a.Actor == b.Actor && a.ActorName == b.ActorName && a.Event == b.Event &&
		canonical(a.Name) == canonical(b.Name) && a.Kind == b.Kind && a.Seq == b.Seq &&
		a.Effort == b.Effort && a.Confidence == b.Confidence && payload.Equal(a.Data, b.Data)
}

// checkAge refuses an event whose row may have expired: nobody can know whether
// it was recorded.
func (s *Store) checkAge(method string, ev event.Event) error {
	if !s.retention.TooOld(ev.Time(), s.cfg.Now()) {
		return nil
	}
	return s.wrap(method, fmt.Errorf("the event is too old for the retention of %s: %w", s.cfg.Retention, event.ErrTooOld))
}

// put writes the row. If the existing row refuses it, that is left unchanged and
// returned.
func (s *Store) put(ctx context.Context, method string, it ddb.Item, condition string, names map[string]string) (old ddb.Item, refused bool, err error) {
	_, old, refused, err = ddb.Write(ctx, s.api.PutItem, &dynamodb.PutItemInput{
		TableName:                           &s.table,
		Item:                                it,
		ConditionExpression:                 aws.String(condition),
		ExpressionAttributeNames:            names,
		ExpressionAttributeValues:           s.vacantValues(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	return old, refused, s.wrap(method, err)
}

// RecordAll records the activities of one event together, all or none: for
// example, all that one message reports. They have the same Scope, and different Nth
// of one event, among them Nth(1), whose row guards the set: only one of two sets of the
// event can be recorded, even if they share no other N.
//
// The first set stays. For an equal set, in any order, RecordAll answers
// Duplicate. For any other set (larger, smaller, or with other activities) it
// returns a [*ConflictError] with all that is stored, and writes nothing. (While
// another call's set 1, 2, 3 is being committed, the answer for the set 1, 2 may be
// Duplicate.)
//
// If [Store.Retract] has taken back an activity of the set, the error is
// [ErrRetracted], and nothing is written. Retracted activities under other N are left
// out of the comparison.
//
// Do not mix Record and RecordAll under one event. If Record has put an activity under
// Nth(3), RecordAll of the set 1, 2 answers Created, and its repetition a
// [*ConflictError], although the set is recorded. For a set of Nth(1) alone, even the
// first call may return this error after a lost reply.
//
// It is bad input if the set is not as described, is empty, has more than [MaxSet]
// activities, or rows of more than 4 MB together. A set that is too old for the
// Retention is refused with [event.ErrTooOld].
//
// Price: 1 request, 4 WCU. This is the price for one activity. Each number of WCU here
// is for each KB begun of a row. Several cost 5 WCU each, because a transaction doubles the
// price of the table's row, but not that of the indexes. A duplicate, a conflict or a
// retracted activity costs 1 WCU for a set of one, or 2 WCU for each activity of a
// larger set. RecordAll then reads all rows of the event: 1 more request for each MB,
// and 1 RCU for each 4 KB. If the SDK repeats a transaction after a lost reply, this
// costs 2 RCU for each 4 KB of each activity.
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

	// The refusal shows only rows of this set, and the first set may have more.
	rows, err := s.rowsOf(ctx, "RecordAll", activities[0].Scope, activities[0].Event)
	if err != nil {
		return 0, err
	}

	return s.judgeSet("RecordAll", rows, activities)
}

// judgeSet returns the answer for a set that was refused because of these rows.
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
		return 0, s.wrap(method, errors.New("the write was refused because of rows that have been deleted since: try again"))
	}
	if !sameSet(stored, all) {
		return 0, &ConflictError{Stored: stored}
	}

	return event.Duplicate, nil
}

// standing reads the rows that are neither retracted nor expired.
func (s *Store) standing(method string, rows []ddb.Item) ([]Activity, error) {
	var all []Activity
	for _, row := range rows {
		if retracted(row) || s.expired(row) {
			continue
		}
		a, err := s.decode(row)
		if err != nil {
			return nil, s.wrap(method, err)
		}
		all = append(all, a)
	}
	return all, nil
}

// encodeSet checks that the activities form a set, and returns their rows.
func (s *Store) encodeSet(method string, all []Activity) ([]ddb.Item, error) {
	if len(all) == 0 || len(all) > MaxSet {
		return nil, event.BadInput(pkg, "activities", fmt.Sprintf("must have 1 to %d elements, has %d", MaxSet, len(all)))
	}

	items := make([]ddb.Item, len(all))
	seen := map[event.Event]bool{}
	guarded := false

	for i, a := range all {
		field := fmt.Sprintf("activities[%d]", i)
		switch {
		case a.Scope != all[0].Scope:
			return nil, event.BadInput(pkg, field+".Scope", "must be the same as activities[0].Scope")
		case !sameEvent(a.Event, all[0].Event):
			return nil, event.BadInput(pkg, field+".Event", "must come from the same event as activities[0].Event: give the first activity the event's Nth(1), the second Nth(2), and so on")
		case seen[a.Event]:
			return nil, event.BadInput(pkg, field+".Event", "is the same as that of an activity before it in the slice: give the first activity the event's Nth(1), the second Nth(2), and so on")
		}

		seen[a.Event] = true
		guarded = guarded || a.Event.N() == 1
		var err error
		if items[i], err = s.encode(a); err != nil {
			return nil, err
		}
	}

	if !guarded {
		return nil, event.BadInput(pkg, "activities", "must include one with the Event Nth(1), which is the event itself: the row of that activity guards the set")
	}

	size := 0
	for _, it := range items {
		size += item.Size(s.names.Stored(it))
	}

	if size > maxTransaction {
		return nil, event.BadInput(pkg, "activities", fmt.Sprintf("have %d bytes together, and a transaction can have at most %d", size, maxTransaction))
	}
	return items, s.checkAge(method, all[0].Event)
}

// putAll creates all the rows or, if any exists, none.
func (s *Store) putAll(ctx context.Context, items []ddb.Item) (refused bool, err error) {
	if len(items) == 1 {
		_, refused, err := s.put(ctx, "RecordAll", items[0], vacant, vacantNames)
		return refused, err
	}
	return s.together(ctx, "RecordAll", s.puts(items))
}

// puts are the actions that create all the rows or, if any exists, none.
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
	for i, action := range actions {
		actions[i] = s.names.Action(action)
	}

	in := &dynamodb.TransactWriteItemsInput{TransactItems: actions}
	// A set that meets another one being written waits until that is complete.
	err = ddb.RetryIf(ctx, ddb.Busy, func() error {
		_, err := s.api.TransactWriteItems(ctx, in)
		return err
	})
	if reasons, ok := ddb.Cancelled(err); ok && !ddb.Contended(err) && slices.ContainsFunc(reasons, ddb.ConditionFailed) {
		return true, nil
	}

	return false, s.wrap(method, err)
}

// sameSet reports whether both have the same activities, in any order.
func sameSet(stored, given []Activity) bool {
	byEvent := func(a, b Activity) int { return a.Event.Compare(b.Event) }
	return slices.EqualFunc(slices.SortedFunc(slices.Values(stored), byEvent), slices.SortedFunc(slices.Values(given), byEvent), same)
}
