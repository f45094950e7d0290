package activity_test

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/record"
)

func TestOtherNames(t *testing.T) {
	t.Parallel()
	golden.WithOtherNames(t, golden.Renamed(t, "activity"), func(t testing.TB, names map[string]string, note func(...any)) (*dynamodb.Client, string) {
		db, acts := open(t, &activity.Config{Names: names, Now: recordtest.Clock(monday.Add(time.Hour)), Retention: 20 * 365 * 24 * time.Hour})
		ctx, table := t.Context(), acts.Table().Name
		first := chore(t, monday, 1, "dish")
		first.Data = map[string]any{"userId": 7, "activity": "dish"}
		for range 2 {
			out, err := acts.Record(ctx, first)
			note(out, err)
		}
		set := []activity.Activity{chore(t, monday, 2, "dish"), chore(t, monday, 2, "wash")}
		set[1].Event = recordtest.Nth(t, set[1].Event, 2)
		for range 2 {
			out, err := acts.RecordAll(ctx, set)
			note(out, err)
		}
		items, err := acts.RecordItems(set)
		note(err)
		_, err = db.Client().TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items.Items})
		cancelled, _ := errors.AsType[*types.TransactionCanceledException](err)
		out, err := items.Outcome(cancelled.CancellationReasons)
		note(out, err)
		for n := range int64(8) {
			mustRecord(t, acts, chore(t, monday.Add(time.Duration(n)*time.Minute), 3+n, "dish"))
		}
		last := chore(t, monday, 20, "dish")
		mustRecord(t, acts, last)
		out, err = acts.Retract(ctx, activity.Retract{Scope: home, Event: last.Event})
		note(out, err)
		r := activity.Range{Match: activity.Match{Kind: "chore", Actor: martin, Data: []record.Compare{{Name: "userId", Op: ">", Value: 6}, {Name: "activity", Value: "dish"}}}}
		note(collect(t, acts.InScope(ctx, home, r)))
		note(collect(t, acts.ByActor(ctx, martin, activity.Range{NewestFirst: true})))
		note(collect(t, acts.ByName(ctx, home, "dish", activity.Range{Limit: 6})))
		note(collect(t, acts.ByActorAndName(ctx, home, martin, "wash", activity.Range{})))
		tally, err := acts.Tally(ctx, activity.Filter{Scope: home, Consistent: true})
		note(tally, err)
		recordtest.Put(t, db.Client(), table, renamed(names, oldRow(t, "01KHR6CMP0H7PDPVS3CNSN7D01", home, martin, "dish", 1771326000)))
		page, err := db.Client().GetItem(ctx, &dynamodb.GetItemInput{TableName: &table, Key: renamed(names, map[string]types.AttributeValue{
			"chatId": item.S(home), "activityId": item.S("01KHR6CMP0H7PDPVS3CNSN7D01"),
		})})
		note(err)
		update, ok, err := acts.Backfill(page.Item)
		note(ok, err)
		_, err = db.Client().UpdateItem(ctx, update)
		note(err)
		mustRecord(t, acts, activity.Activity{Scope: "other", Actor: "9", Name: "x", Event: newEvent(t, monday, "other", 1)}, activity.Activity{Scope: "more", Actor: rebecca, Name: "x", Event: newEvent(t, monday, "more", 1)})
		erased, err := acts.Erase(ctx, "other")
		note(erased, err)
		erased, err = acts.EraseActor(ctx, rebecca)
		note(erased, err)
		return db.Client(), table
	})
}

// renamed is a row with the table's names.
func renamed(names map[string]string, row map[string]types.AttributeValue) map[string]types.AttributeValue {
	if names == nil {
		return row
	}
	other := map[string]types.AttributeValue{}
	for name, value := range row {
		other[names[name]] = value
	}
	return other
}
