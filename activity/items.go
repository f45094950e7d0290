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
// activities of one event as [Store.RecordAll] does. If the outcome of the transaction
// is unknown, send the same Items again, unchanged; do not call RecordItems again. With
// a Retention, send the Items only within [Config].MaxSkew after this call.
//
// The errors are those for bad input, and [event.ErrTooOld]. If the set, or another set
// of the same event, is already recorded, or if an activity of the set was retracted,
// DynamoDB cancels the whole transaction, and [RecordItems.Outcome] says why.
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
// cancellation reasons of exactly these Items, in their order: those at their places in
// the *types.TransactionCanceledException.
//
//   - 0 and no error: the set did not cause the cancellation, and was not
//     written.
//   - Duplicate: the set is already recorded, by another delivery or by an
//     earlier try of this one. The next try can leave it out.
//   - [*ConflictError], [ErrRetracted]: as from [Store.RecordAll].
//   - An error with DynamoDB's code: DynamoDB refused the set for another
//     reason. After a conflict with another transaction, or throttling, send the
//     whole transaction again.
//
// The reasons show only the rows of this set's own events: if a larger set is recorded
// that includes this one, Outcome returns Duplicate. [Store.OfEvent] shows the larger set.
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
