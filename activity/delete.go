package activity

import (
	"cmp"
	"context"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// deleteTries is how often a deletion reads the rows, because they may change
// before they are deleted.
const deleteTries = 3

// Delete removes the activity whose Event is ev, and no other activity of the
// same event. If the activity does not exist, the error is [ErrNotFound]. So a
// Delete that is repeated after a lost reply may also return ErrNotFound,
// although the first Delete removed the activity. Delete removes a tombstone of
// [Store.Retract], and an expired row that is still in the table, in the same
// way.
//
// Delete leaves no trace, so the activity can be recorded again: [Store.Record]
// answers a late redelivery with Created, not Duplicate, unless it is too old
// for the Retention. [Store.RecordAll] returns a [*ConflictError] if it finds
// other activities of its set. To keep the activity from being recorded again,
// use [Store.Retract] instead.
//
// The row of Nth(1) guards the other activities of its set, so this row must be
// deleted last: while other activities of the event exist, the error is
// [ErrOthersStand]. If Record puts an activity under another N just before the
// row of Nth(1) is deleted, that activity may be left without a guard.
// [Store.DeleteEvent] removes all rows of an event.
//
// Delete reads the event's rows, and deletes the row only if no other call has
// removed or replaced it meanwhile. Otherwise Delete reads the rows again, up to
// three times in all. If an attempt's reply is lost, Delete does not read again:
// a row that is recorded between two attempts stays, and the error is
// ErrNotFound.
//
// Price: 2 requests, 1 RCU, 4 WCU. Each 4 KB begun of all the event's rows costs
// 1 RCU, and each MB takes 1 request. Each KB begun of the row costs 1 WCU for
// the table and 1 WCU for each index. A tombstone is in no index and costs 1
// WCU. If no row exists, Delete takes only the first request.
func (s *Store) Delete(ctx context.Context, scope string, ev event.Event) error {
	if err := checkArguments(scope, ev); err != nil {
		return err
	}
	for range deleteTries {
		rows, err := s.rowsOf(ctx, "Delete", scope, ev)
		if err != nil {
			return err
		}
		row, err := s.deletable(rows, ev)
		if err != nil {
			return err
		}
		if changed, err := s.deleteSeen(ctx, "Delete", []ddb.Item{row}); err != nil || !changed {
			return err
		}
	}
	return s.wrap("Delete", errChanged)
}

// deletable returns the event's row. The guard can be deleted if no other
// activity of the event exists. A tombstone needs no guard: nothing can be
// recorded under its N.
func (s *Store) deletable(rows []ddb.Item, ev event.Event) (found ddb.Item, err error) {
	id := ev.String()
	for _, row := range rows {
		switch {
		case item.Text(row, attrID) == id:
			found = row
		case ev.N() == 1 && !retracted(row) && !s.expired(row):
			err = ErrOthersStand
		}
	}
	if found == nil {
		return nil, ErrNotFound
	}
	return found, err
}

// DeleteEvent removes all rows of an event in the scope: activities, and
// tombstones of [Store.Retract]. Up to 100 rows are removed together, all or
// none. The N of ev does not matter. If the event has no rows, the error is
// [ErrNotFound]. So a call that is repeated after a lost reply may also return
// ErrNotFound, although the first call removed the rows. DeleteEvent leaves no
// trace, so the event can be recorded again.
//
// DeleteEvent reads the event's rows, and deletes them only if no other call
// has removed or replaced one of them meanwhile. Otherwise DeleteEvent starts
// again, and tries up to three times in all. As with [Store.Delete], a row that
// is recorded between two attempts to delete it stays. A row that another call
// adds meanwhile, under another N, may stay. RecordAll cannot give an event more
// than 100 rows; many calls of Record or Retract can. More than 100 rows are
// deleted in several requests of up to 100 rows, and the last request deletes
// the row of Nth(1).
//
// Price: 2 requests, 1 RCU, 4 WCU. This is the price for an event with one row.
// Each 4 KB begun of the event's rows costs 1 RCU, and each MB takes 1 request.
// Several activities cost 5 WCU each, because a transaction doubles the price
// of the table's row, but not the price of the indexes. A tombstone costs 1 WCU
// alone, and 2 WCU among other rows.
func (s *Store) DeleteEvent(ctx context.Context, scope string, ev event.Event) error {
	if err := checkArguments(scope, ev); err != nil {
		return err
	}
	for range deleteTries {
		rows, err := s.rowsOf(ctx, "DeleteEvent", scope, ev)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return ErrNotFound
		}
		if changed, err := s.deleteAll(ctx, rows); err != nil || !changed {
			return err
		}
	}
	return s.wrap("DeleteEvent", errChanged)
}

// deleteAll deletes the rows, those of the greatest N first, and stops at one
// that changed.
func (s *Store) deleteAll(ctx context.Context, rows []ddb.Item) (changed bool, err error) {
	slices.SortFunc(rows, func(a, b ddb.Item) int { return cmp.Compare(item.Text(b, attrID), item.Text(a, attrID)) })
	for some := range slices.Chunk(rows, MaxSet) {
		if changed, err := s.deleteSeen(ctx, "DeleteEvent", some); err != nil || changed {
			return changed, err
		}
	}
	return false, nil
}

// deleteSeen deletes rows, all or none, as they were read. It reports whether
// any of them has changed. If an earlier attempt may have deleted a single row,
// what is there now was written since: the error is ErrNotFound. A transaction
// has its token for that.
func (s *Store) deleteSeen(ctx context.Context, method string, rows []ddb.Item) (changed bool, err error) {
	actions := make([]types.TransactWriteItem, len(rows))
	for i, row := range rows {
		actions[i].Delete = s.asSeen(row)
	}
	if len(actions) > 1 {
		return s.together(ctx, method, actions)
	}
	single := actions[0].Delete
	var attempts ddb.Attempts
	err = ddb.Retry(ctx, func() error {
		_, err := s.api.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: single.TableName, Key: single.Key, ConditionExpression: single.ConditionExpression,
			ExpressionAttributeNames: single.ExpressionAttributeNames, ExpressionAttributeValues: single.ExpressionAttributeValues,
		}, attempts.Watch)
		return err
	})
	if _, refused := ddb.Refused(err); !refused {
		return false, s.wrap(method, err)
	}
	if attempts.Open() {
		return false, ErrNotFound
	}
	return true, nil
}

// asSeen deletes the row if it is the one that was read: written in the same
// millisecond.
func (s *Store) asSeen(row ddb.Item) *types.Delete {
	action := &types.Delete{
		TableName:                &s.table,
		Key:                      ddb.Item{attrScope: row[attrScope], attrID: row[attrID]},
		ConditionExpression:      aws.String("attribute_exists(#id) AND attribute_not_exists(#createdAt) AND attribute_not_exists(#retractedAt)"),
		ExpressionAttributeNames: map[string]string{"#id": attrID, "#createdAt": attrCreatedAt, "#retractedAt": attrRetractedAt},
	}
	for _, attr := range []string{attrCreatedAt, attrRetractedAt} { // an older system's row has neither
		if written, ok := row[attr]; ok {
			action.ConditionExpression = aws.String("#written = :written")
			action.ExpressionAttributeNames = map[string]string{"#written": attr}
			action.ExpressionAttributeValues = ddb.Item{":written": written}
		}
	}
	return action
}
