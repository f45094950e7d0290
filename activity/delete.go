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

// deleteTries is how often rows that were written anew meanwhile are looked at.
const deleteTries = 3

// Delete removes one activity, the one whose Event is ev, and no other of the
// event. If there is none the error is [ErrNotFound]: also when it is repeated
// after a lost reply, the state being the same. A tombstone of [Store.Retract]
// is removed likewise.
//
// Nothing stays behind, so the event is free to be recorded again: a late
// redelivery is Created, not Duplicate. [Store.Retract] keeps it away.
//
// The row of Nth(1) guards the others of its set, so it is deleted last: while
// others stand it is [ErrOthersStand]. To know, it reads the event's rows, and
// then deletes the row as it was read, so that no set which another call records
// meanwhile loses its guard. Only an activity that Record puts under another N
// in that very moment may stand without it. [Store.DeleteEvent] removes all.
//
// Price: 2 requests, 1 RCU, 4 WCU. For an activity under Nth(1): 1 RCU for each
// 4 KB begun of all the event's rows, and 4 WCU as below.
// Price (Other): 1 request, 4 WCU. For any other activity: one for the row and
// one for each index, by KB begun of the row; 1 WCU if there is none.
func (s *Store) Delete(ctx context.Context, scope string, ev event.Event) error {
	if err := checkArguments(scope, ev); err != nil {
		return err
	}
	if ev.N() != 1 {
		return s.deleteRow(ctx, scope, ev)
	}
	for range deleteTries {
		rows, err := s.rowsOf(ctx, "Delete", scope, ev)
		if err != nil {
			return err
		}
		guard, err := s.lone(rows, ev)
		if err != nil {
			return err
		}
		if changed, err := s.deleteSeen(ctx, "Delete", []ddb.Item{guard}); err != nil || !changed {
			return err
		}
	}
	return s.wrap("Delete", errChanged)
}

// lone returns the guard's row, if none stands that it guards. A tombstone needs
// no guard: nothing can be recorded under its N.
func (s *Store) lone(rows []ddb.Item, ev event.Event) (guard ddb.Item, err error) {
	id := ev.String()
	for _, row := range rows {
		switch {
		case item.Text(row, attrID) == id:
			guard = row
		case !retracted(row) && !s.expired(row):
			err = ErrOthersStand
		}
	}
	if guard == nil {
		return nil, ErrNotFound
	}
	return guard, err
}

// DeleteEvent removes all that stands of an event in the scope, whatever the N
// of ev, all or none: activities, and tombstones of [Store.Retract]. If there is
// nothing the error is [ErrNotFound]: also when it is repeated after lost
// replies. Nothing stays behind, so the event is free to be recorded again.
//
// It reads the event's rows and deletes them as they were read. What another
// call changes meanwhile is read and deleted anew, up to three times. More than
// 100 rows, which Record may have put but no RecordAll, go a hundred at a time,
// that of Nth(1) with the last.
//
// Price: 2 requests, 1 RCU, 4 WCU. For an event of one activity: 1 RCU for each
// 4 KB begun of its rows; 4 WCU for one row, and 5 each for more, as a
// transaction doubles the row's price and not the indexes'.
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
// any is not what it was.
func (s *Store) deleteSeen(ctx context.Context, method string, rows []ddb.Item) (changed bool, err error) {
	actions := make([]types.TransactWriteItem, len(rows))
	for i, row := range rows {
		actions[i].Delete = s.asSeen(row)
	}
	if len(actions) > 1 {
		return s.together(ctx, method, actions)
	}
	single := actions[0].Delete
	err = ddb.Retry(ctx, func() error {
		_, err := s.api.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: single.TableName, Key: single.Key, ConditionExpression: single.ConditionExpression,
			ExpressionAttributeNames: single.ExpressionAttributeNames, ExpressionAttributeValues: single.ExpressionAttributeValues,
		})
		return err
	})
	if _, refused := ddb.Refused(err); refused {
		return true, nil
	}
	return false, s.wrap(method, err)
}

// asSeen deletes the row if it is the one that was read: written in the same
// millisecond.
func (s *Store) asSeen(row ddb.Item) *types.Delete {
	action := &types.Delete{
		TableName:                &s.table,
		Key:                      ddb.Item{s.cfg.ScopeAttr: row[s.cfg.ScopeAttr], attrID: row[attrID]},
		ConditionExpression:      aws.String("attribute_exists(#id) AND attribute_not_exists(#written)"),
		ExpressionAttributeNames: map[string]string{"#id": attrID, "#written": attrCreatedAt},
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

// deleteRow deletes a row that guards no other, as it may be.
func (s *Store) deleteRow(ctx context.Context, scope string, ev event.Event) error {
	var out *dynamodb.DeleteItemOutput
	err := ddb.Retry(ctx, func() (err error) {
		out, err = s.api.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName:    &s.table,
			Key:          s.key(scope, ev),
			ReturnValues: types.ReturnValueAllOld,
		})
		return err
	})
	if err != nil {
		return s.wrap("Delete", err)
	}
	if len(out.Attributes) == 0 {
		return ErrNotFound
	}
	return nil
}
