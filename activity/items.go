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

// RecordItems is a set of activities to be recorded in a transaction of the
// caller's own: see [Store.RecordItems].
type RecordItems struct {
	// Items are the actions that record the set, one for each activity in its
	// order.
	Items []types.TransactWriteItem

	store *Store
	all   []Activity
}

// RecordItems returns the actions that record the activities of one event, as
// [Store.RecordAll] does, in a transaction of the caller's own: all of it, or
// nothing. Make it once for each logical write and send it unchanged after an
// unknown outcome. With a Retention it is good for [Config].MaxSkew.
//
// Bad input, and [event.ErrTooOld], are raised here. Where the set, or another of
// its event, stands already, the whole transaction is cancelled;
// [RecordItems.Outcome] says why. What is Duplicate can be left out of the next
// try.
//
// Price: 0 requests, 5 WCU. For one activity. In a transaction each costs 2 WCU
// for each KB of its row, and 1 for each index.
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
	for _, action := range actions { // the caller may add to each
		action.Put.TableName = aws.String(s.table)
		action.Put.ExpressionAttributeNames = maps.Clone(action.Put.ExpressionAttributeNames)
		action.Put.ExpressionAttributeValues = maps.Clone(action.Put.ExpressionAttributeValues)
	}
	return &RecordItems{Items: actions, store: s, all: copied}, nil
}

// Outcome answers for the set when a transaction was cancelled, from the reasons
// of exactly these Items, in their order: those that a
// *types.TransactionCanceledException has at the places where Items stood.
//
//   - 0 and no error: the set was not at fault, and was not written.
//   - Duplicate: it stands already, by another delivery or by an earlier try of
//     this one. The two are one state, and no nonce tells them apart.
//   - [*ConflictError], [ErrRetracted]: as from [Store.RecordAll].
//   - Any other error has DynamoDB's code: a conflict with another transaction,
//     throttling. Send it all again.
//
// Only rows of the set's own N are shown. Where a larger set stands that holds
// this one, RecordAll is a [*ConflictError], and this is Duplicate;
// [Store.OfEvent] shows it.
func (r *RecordItems) Outcome(reasons []types.CancellationReason) (event.Outcome, error) {
	if len(reasons) != len(r.Items) {
		return 0, event.BadInput(pkg, "reasons", fmt.Sprintf("must be those of the %d Items, are %d", len(r.Items), len(reasons)))
	}
	var rows []ddb.Item
	for _, reason := range reasons {
		old, refused, err := ddb.Action(reason)
		if err != nil {
			return 0, r.store.wrap("RecordItems", err)
		}
		if refused {
			rows = append(rows, old)
		}
	}
	if rows == nil {
		return 0, nil
	}
	return r.store.judgeSet("RecordItems", rows, r.all)
}
