package histories_test

import (
	"context"
	"errors"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// recordItems records in a transaction, which it sends up to three times
// unchanged while the outcome is unknown.
func (st *activityStory) recordItems(ctx context.Context, c *caller, a activity.Activity) (event.Outcome, error) {
	set, err := st.stores[c.id].RecordItems([]activity.Activity{a})
	if err != nil {
		return 0, err
	}
	for range 3 {
		_, err = c.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: set.Items})
		if err == nil {
			return event.Created, nil
		}
		if cancelled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
			out, judged := set.Outcome(cancelled.CancellationReasons[:1])
			_, other := errors.AsType[*activity.ConflictError](judged)
			if judged == nil || other || errors.Is(judged, activity.ErrRetracted) {
				return out, judged
			}
		}
	}
	return 0, err
}

// stale is a client of an index that still has the row of an event, and perhaps of
// an actor whose row it was.
func stale(c *caller, key row) *dynamodb.Client {
	return recordtest.Between(c.client, func(in any, send recordtest.Send) (any, error) {
		if _, ok := in.(*dynamodb.QueryInput); ok {
			return &dynamodb.QueryOutput{Items: []row{key}}, nil
		}
		return send(in)
	})
}

func (st *activityStory) eraseActor(c *caller, ev event.Event) *call {
	in := erasesOf{actorOf(st.w.rnd.Int64N(2))}
	store := st.over(stale(c, row{"chatId": s("chat"), "activityId": s(ev.String())}), c.now)
	return &call{caller: c, key: ev.String(), in: in, do: func(ctx context.Context) any {
		n, err := store.EraseActor(ctx, in.actor)
		if err != nil {
			return nil
		}
		return removed{n}
	}}
}

// backfill completes the row if it needs that.
func (st *activityStory) backfill(c *caller, ev event.Event) *call {
	if !st.old.IsZero() {
		ev = st.old
	}
	return c.backfill(ev.String(), st.stores[c.id].Backfill)
}

// intrude erases the scope, or records as an older system does.
func (st *activityStory) intrude() {
	if st.w.rnd.IntN(6) == 0 {
		stood := st.w.rows()
		if n, err := st.eraser.Erase(context.Background(), "chat"); n != len(stood) || err != nil {
			panic(err)
		}
		for key := range stood {
			st.w.happened(key, erased{}, nil)
		}
		return
	}
	ev, in := st.event(), olderEntry{st.w.rnd.Int64N(2)}
	_, err := st.w.raw.PutItem(context.Background(), &dynamodb.PutItemInput{
		TableName: aws.String("activities"), ConditionExpression: aws.String("attribute_not_exists(activityId)"),
		Item: row{
			"chatId": s("chat"), "activityId": s(ev.String()), "userId": &types.AttributeValueMemberN{Value: actorOf(in.version)},
			"timestamp": n(ev.Time().UnixMilli()), "activity": s(strconv.FormatInt(in.version, 10)),
		},
	})
	if err == nil {
		st.old = ev
		st.w.happened(ev.String(), in, nil)
	}
}
