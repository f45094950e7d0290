package week_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/dynamotest/explore"
	"github.com/homeops/ddbpatterns/examples/homeops/week"
	"github.com/homeops/ddbpatterns/examples/internal/pipeline"
	"github.com/homeops/ddbpatterns/record"
)

// If a process dies anywhere, or two write at once, the rows are at last those of what
// stands.
func TestPipeline(t *testing.T) {
	t.Parallel()
	f := on(t, dynamotest.New(t, nil))
	all := aWeek(t)
	f.record(t, all[:4]...)
	f.recompute(t, wednesday, "42", "99")
	type change func(context.Context, flat) error
	recorded := func(ctx context.Context, f flat) error { _, err := f.acts.Record(ctx, all[4]); return err }
	retracted := func(ctx context.Context, f flat) error {
		_, err := f.acts.Retract(ctx, activity.Retract{Scope: home, Event: all[0].Event})
		if errors.Is(err, activity.ErrNotFound) { // by an earlier delivery
			return nil
		}
		return err
	}
	pipeline.Test(t, 150, explore.Config{Server: f.db.Server()}, explore.Deliveries[change]{
		Messages: []change{recorded, retracted}, Ignore: []string{"version", "createdAt", "updatedAt"},
	}, func(p *explore.Process) func(context.Context, change) error {
		f := through(t, f.db, p.Client())
		return func(ctx context.Context, do change) error {
			if err := do(ctx, f); err != nil {
				return err
			}
			_, err := f.Recompute(ctx, week.Recompute{Household: home, Members: []string{"42", "99"}, Of: wednesday})
			return err
		}
	})
}

// wantTable checks that the table has the rows of a week.
func (f flat) wantTable(t testing.TB, want aWeeks) {
	t.Helper()
	got := aWeeks{Period: want.Period}
	for _, s := range want.Summaries {
		got.Summaries = append(got.Summaries, f.summary(t, s.User, want.Period))
	}
	var err error
	if got.Balances, err = f.Balances(t.Context(), home); err != nil {
		t.Error(err)
	}
	wantWeek(t, got, want)
}

// A lost reply costs a round: the row that refuses the write is its own.
func TestALostReply(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := on(t, dynamotest.New(t, nil))
		f.record(t, aWeek(t)...)
		f.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "UpdateItem", Nth: 2})
		cost := f.db.Meter(func() { f.bring(t, wednesday, "42", "99") })
		if cost.ByOp["Query"] != 2 || cost.ByOp["UpdateItem"] != 7 || cost.ByOp["GetItem"] != 3 {
			t.Errorf("%v", cost)
		}
		f.wantTable(t, model(t, aWeek(t), wednesday, "42", "99"))
	})
}

// A Recompute that never wins gives up after 16 attempts, within seconds. If
// its context ends, it gives up earlier.
func TestContended(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := on(t, dynamotest.New(t, nil))
		tries := 0
		f.db.Inject(dynamotest.Fault{Op: "UpdateItem", Times: -1, Do: dynamotest.Before(func() { tries++; f.recompute(t, wednesday, "42") })})
		ask := week.Recompute{Household: home, Members: []string{"42"}, Of: wednesday}
		began := time.Now()
		if _, err := f.Recompute(t.Context(), ask); !errors.Is(err, record.ErrContended) || tries != 16 {
			t.Errorf("%v after %d", err, tries)
		}
		if d := time.Since(began); d == 0 || d > 7*time.Second {
			t.Errorf("gave up after %v", d)
		}
		ctx, cancel := context.WithCancel(t.Context())
		f.db.Heal()
		f.db.Inject(dynamotest.Fault{Op: "UpdateItem", Do: dynamotest.Before(func() { f.recompute(t, wednesday, "42"); cancel() })})
		if _, err := f.Recompute(ctx, ask); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// If one row loses, all are computed anew: the returned week is that of one
// listing.
func TestTheWeekIsOneListing(t *testing.T) {
	t.Parallel()
	f := on(t, dynamotest.New(t, nil))
	all := aWeek(t)
	f.record(t, all[:3]...)
	one := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "USER#42"}}
	f.db.Inject(dynamotest.Fault{Op: "UpdateItem", Key: one, Do: dynamotest.Before(func() {
		f.recompute(t, wednesday, "42") // wins one of the three rows
		f.record(t, all[3:]...)
	})})
	got := f.recompute(t, wednesday, "42", "99")
	wantWeek(t, got, model(t, all, wednesday, "42", "99"))
	f.wantTable(t, got)
}

// Former members are members of a week that was last computed with them, here.
func TestFormer(t *testing.T) {
	t.Parallel()
	f := on(t, dynamotest.New(t, nil))
	f.record(t, aWeek(t)...)
	want := f.recompute(t, wednesday, "42", "99")
	f.bring(t, wednesday.AddDate(0, 0, 7), "7")
	if _, err := f.Recompute(t.Context(), week.Recompute{Household: "-9", Members: []string{"8"}, Of: wednesday}); err != nil {
		t.Fatal(err)
	}
	asked := week.Recompute{Household: home, Members: []string{"42"}, Former: []string{"7", "99", "8"}, Of: wednesday}
	var err error
	f.db.Meter(func() { _, err = f.Recompute(t.Context(), asked) }).Want(t, dynamotest.Price{Requests: 10, RCU: 7, WCU: 3})
	if err != nil {
		t.Error(err)
	}
	f.wantTable(t, want)
}
