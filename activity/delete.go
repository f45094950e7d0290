package activity

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Delete removes one activity, the one whose Event is ev, and no other of the
// event. If there is none the error is [ErrNotFound]: also when it is repeated
// after a lost reply, the state being the same.
//
// Nothing stays behind, so the event is free to be recorded again: a late
// redelivery is Created, not Duplicate. Delete the row of Nth(1) last: it
// guards the others of its set. While others stand without it, a RecordAll that
// shares none with them is Created, and a [*ConflictError] when it is repeated:
// see [Store.RecordAll].
//
// Price: 1 request, 4 WCU. One for the row and one for each index, by KB begun
// of the row; 1 WCU if there is none.
func (s *Store) Delete(ctx context.Context, scope string, ev event.Event) error {
	if err := check.PartitionKey(pkg, "scope", scope); err != nil {
		return err
	}
	if ev.IsZero() {
		return event.BadInput(pkg, "ev", "must not be the zero Event")
	}
	var out *dynamodb.DeleteItemOutput
	err := ddb.Retry(ctx, func() (err error) {
		out, err = s.api.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName:    &s.table,
			Key:          ddb.Item{s.cfg.ScopeAttr: item.S(scope), attrID: item.S(ev.String())},
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
