package activity_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// A first, uncontended call costs what its Price line says.
func TestPrices(t *testing.T) {
	db, acts := open(t, nil)
	set := setOf(t, 1, 3)
	mustRecord(t, acts, set...)
	away := chore(t, monday, 9, "diskning")
	away.Scope, away.Actor = "-200", rebecca
	wrong := chore(t, monday, 23, "pantning")
	gone, left := chore(t, monday, 21, "pantning"), chore(t, monday, 22, "pantning")
	gone.Scope, left.Actor = "-300", "99"
	mustRecord(t, acts, away, wrong, gone, left)
	walk := func(seq func(context.Context) iter.Seq2[activity.Activity, error]) func(context.Context) error {
		return func(ctx context.Context) error {
			for _, err := range seq(ctx) {
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
	ofEach := func(ask func(context.Context, activity.Filter) error) func(context.Context) error {
		return func(ctx context.Context) error {
			return errors.Join(
				ask(ctx, activity.Filter{Scope: home}), ask(ctx, activity.Filter{Actor: martin}),
				ask(ctx, activity.Filter{Scope: home, Name: "diskning"}), ask(ctx, activity.Filter{Scope: home, Actor: martin, Name: "diskning"}),
			)
		}
	}
	all := activity.Range{}
	pricetest.Run(t, db, []pricetest.Case{
		{Func: "Store.Retract", Call: func(ctx context.Context) error {
			_, err := acts.Retract(ctx, activity.Retract{Scope: home, Event: wrong.Event})
			return err
		}},
		{
			Func: "Store.RecordItems",
			Actions: func() []types.TransactWriteItem {
				r, err := acts.RecordItems(setOf(t, 30, 1))
				if err != nil {
					t.Fatal(err)
				}
				return r.Items
			},
			Local: &dynamotest.Price{WCU: 8}, Why: "it charges a transaction's entries in an index twice, too",
		},
		{Func: "Store.Erase", Call: func(ctx context.Context) error { _, err := acts.Erase(ctx, "-300"); return err }},
		{Func: "Store.EraseActor", Call: func(ctx context.Context) error { _, err := acts.EraseActor(ctx, "99"); return err }},
		{Func: "Store.Record", Call: func(ctx context.Context) error {
			_, err := acts.Record(ctx, chore(t, monday, 3, "diskning"))
			return err
		}},
		{Func: "Store.RecordAll", Call: func(ctx context.Context) error {
			_, err := acts.RecordAll(ctx, setOf(t, 4, 1))
			return err
		}},
		{Func: "Store.RecordMany", Call: func(ctx context.Context) error {
			_, err := acts.RecordMany(ctx, []activity.Activity{chore(t, monday, 5, "diskning")})
			return err
		}},
		{Func: "Store.OfEvent", Call: func(ctx context.Context) error {
			_, err := acts.OfEvent(ctx, home, set[0].Event)
			return err
		}},
		{Func: "Store.Count", Call: func(ctx context.Context) error {
			_, err := acts.Count(ctx, activity.Filter{Scope: home, Name: "diskning"})
			return err
		}},
		{Func: "Store.Tally", Call: func(ctx context.Context) error {
			_, err := acts.Tally(ctx, activity.Filter{Scope: home})
			return err
		}},
		{Func: "Store.InScope", Call: walk(func(ctx context.Context) iter.Seq2[activity.Activity, error] {
			return acts.InScope(ctx, "-200", all)
		})},
		{Func: "Store.ByActor", Call: walk(func(ctx context.Context) iter.Seq2[activity.Activity, error] {
			return acts.ByActor(ctx, rebecca, all)
		})},
		{Func: "Store.ByName", Call: walk(func(ctx context.Context) iter.Seq2[activity.Activity, error] {
			return acts.ByName(ctx, home, "tvätt", all)
		})},
		{Func: "Store.ByActorAndName", Call: walk(func(ctx context.Context) iter.Seq2[activity.Activity, error] {
			return acts.ByActorAndName(ctx, home, martin, "tvätt", all)
		})},
		{Func: "Store.RecordAll", Beyond: "puts together", Call: func(ctx context.Context) error {
			_, err := acts.RecordAll(ctx, setOf(t, 40, 2))
			return err
		}},
		{Func: "Store.RecordAll", Beyond: "is a duplicate", Call: func(ctx context.Context) error {
			_, err := acts.RecordAll(ctx, setOf(t, 40, 2))
			return err
		}},
		{Func: "Store.Count", Beyond: "by each index and the table", Call: ofEach(func(ctx context.Context, f activity.Filter) error {
			_, err := acts.Count(ctx, f)
			return err
		})},
		{Func: "Store.Tally", Beyond: "by each index and the table", Call: ofEach(func(ctx context.Context, f activity.Filter) error {
			_, err := acts.Tally(ctx, f)
			return err
		})},
	}, acts)
}

// The formula for larger rows: a write costs by KB of the row, a read by 4 KB
// of the page, and a consistent read twice that.
func TestPricesOfLargerRows(t *testing.T) {
	t.Parallel()
	db, acts := open(t, nil)
	large := chore(t, monday, 1, "diskning")
	large.ActorName = strings.Repeat("x", 3000) // a row of 3.2 KB
	for _, step := range []struct {
		what string
		want dynamotest.Price
		call func() error
	}{
		{"Record", dynamotest.Price{Requests: 1, WCU: 16}, func() error { _, err := acts.Record(t.Context(), large); return err }},
		{"InScope", dynamotest.Price{Requests: 1, RCU: 0.5}, func() error { collect(t, acts.InScope(t.Context(), home, activity.Range{})); return nil }},
		{"OfEvent", dynamotest.Price{Requests: 1, RCU: 1}, func() error { _, err := acts.OfEvent(t.Context(), home, large.Event); return err }},
		{"Retract", dynamotest.Price{Requests: 1, WCU: 16}, func() error {
			_, err := acts.Retract(t.Context(), activity.Retract{Scope: home, Event: large.Event})
			return err
		}},
	} {
		cost := db.Meter(func() {
			if err := step.call(); err != nil {
				t.Errorf("%s: %v", step.what, err)
			}
		})
		cost.Want(t, step.want)
	}
	if db.InProcess() { // elsewhere a refusal reports no capacity
		large.Event = newEvent(t, monday, home, 2)
		mustRecord(t, acts, large)
		cost := db.Meter(func() { _, _ = acts.Record(t.Context(), large) })
		cost.Want(t, dynamotest.Price{Requests: 1, WCU: 4})
	}
}

// A set that the SDK sends again after a lost reply is read, not written.
func TestThePriceOfALostReply(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := dynamotest.New(t, nil) // others may not report it
		acts, err := activity.New(db.Client(), "activities", &activity.Config{Now: recordtest.Clock(monday)})
		if err != nil {
			t.Fatal(err)
		}
		db.Create(acts.Table())
		record := func(seq int64) {
			if out, err := acts.RecordAll(t.Context(), setOf(t, seq, 2)); out != event.Created || err != nil {
				t.Errorf("RecordAll = %v, %v", out, err)
			}
		}
		whole := db.Meter(func() { record(7) })
		db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "TransactWriteItems"})
		db.Meter(func() { record(8) }).Want(t, dynamotest.Price{Requests: 2, WCU: whole.WCU, RCU: 4})
	})
}
