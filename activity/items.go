package activity

import (
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/payload"
)

// RecordItems is a set of activities to be recorded in the caller's own
// transaction: see [Store.RecordItems].
type RecordItems struct {
	// Items are the actions that record the set, one for each activity, in the
	// order of the activities.
	Items []types.TransactWriteItem

	store *Store
	all   []Activity
}

// RecordItems returns actions for the caller's own transaction. They record the
// activities of one event as [Store.RecordAll] does: the whole transaction is
// written, or nothing. If the outcome of the transaction is unknown, send the
// same Items again, unchanged; do not call RecordItems again. With a Retention,
// send the Items only within [Config].MaxSkew after the call of RecordItems.
//
// RecordItems itself returns the errors for bad input, and [event.ErrTooOld].
// If the set, or another set of the same event, is already recorded, or if an
// activity of the set was retracted, DynamoDB cancels the whole transaction,
// and [RecordItems.Outcome] says why. If Outcome returns Duplicate, you can
// leave the set out of the next try.
//
// Price: 0 requests, 5 WCU. This is the price for one activity. In a
// transaction, each KB begun of an activity's row costs 2 WCU for the table and
// 1 WCU for each index.
func (s *Store) RecordItems(activities []Activity) (*RecordItems, error) {
	items, err := s.encodeSet("RecordItems", activities)
	if err != nil {
		return nil, err
	}
	copied := slices.Clone(activities)
	for i := range copied {
		copied[i].Data = payload.Clone(activities[i].Data)
	}
	actions := s.puts(items)
	for i, action := range actions { // the caller may add to each
		action.Put.TableName = aws.String(s.table)
		action.Put.ExpressionAttributeNames = maps.Clone(action.Put.ExpressionAttributeNames)
		action.Put.ExpressionAttributeValues = maps.Clone(action.Put.ExpressionAttributeValues)
		actions[i] = s.names.Action(action)
	}
	return &RecordItems{Items: actions, store: s, all: copied}, nil
}

// Outcome says what a cancelled transaction means for the set. Pass the
// cancellation reasons of exactly these Items, in their order. A
// *types.TransactionCanceledException has one reason for each action of the
// transaction: take the reasons at the places of the Items.
//
//   - 0 and no error: the set did not cause the cancellation, and was not
//     written.
//   - Duplicate: the set is already recorded, by another delivery or by an
//     earlier try of this delivery. Outcome cannot distinguish the two cases,
//     and the state is the same in both.
//   - [*ConflictError], [ErrRetracted]: as from [Store.RecordAll].
//   - An error with DynamoDB's code: DynamoDB refused the set for another
//     reason, such as a conflict with another transaction, or throttling. After
//     a conflict or throttling, send the whole transaction again.
//
// The reasons show only rows of the set's own N. Suppose that the activities 1,
// 2, 3 of an event are recorded, and that the Items are for 1, 2. Then
// RecordAll would return a [*ConflictError], but Outcome returns Duplicate.
// [Store.OfEvent] shows the larger set.
func (r *RecordItems) Outcome(reasons []types.CancellationReason) (event.Outcome, error) {
	if len(reasons) != len(r.Items) {
		return 0, event.BadInput(pkg, "reasons", fmt.Sprintf("must have one element for each of the %d Items, has %d", len(r.Items), len(reasons)))
	}
	var rows []ddb.Item
	for _, reason := range reasons {
		old, refused, err := ddb.Action(reason)
		if err != nil {
			return 0, r.store.wrap("RecordItems", err)
		}
		if refused {
			rows = append(rows, r.store.names.Read(old))
		}
	}
	if rows == nil {
		return 0, nil
	}
	return r.store.judgeSet("RecordItems", rows, r.all)
}
