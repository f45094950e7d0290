package week_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/week"
	"github.com/homeops/ddbpatterns/record"
)

// Writers and recomputers at once, with lost requests and replies, throttling,
// conflicts and delays. Recomputers that begin when the writers have ended
// succeed at last, beside others that began before, and the rows end up as they
// wrote them.
func TestHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { history(t, rand.New(rand.NewPCG(seed, 4)), seed) })
		})
	}
}

func history(t *testing.T, r *rand.Rand, seed uint64) {
	f := on(t, dynamotest.New(t, &dynamotest.Config{Latency: 3 * time.Millisecond}))
	people := []string{"9", "10", "42", "7"}
	members := people[:1+r.IntN(3)]
	all := random(t, r, 12, people...)
	taken := map[int]bool{3: true, 7: true}
	for i, do := range []dynamotest.Effect{
		dynamotest.LoseReply, dynamotest.LoseRequest, dynamotest.Throttle, dynamotest.Conflict,
		dynamotest.Delay(40 * time.Millisecond), dynamotest.DelayReply(300 * time.Millisecond),
	} {
		f.db.Server().Tap().Inject(dynamotest.Fault{Do: do, Chance: 0.08, Seed: seed*10 + uint64(i)})
	}
	recompute := func() {
		for {
			_, err := f.Recompute(t.Context(), week.Recompute{Household: home, Members: members, Of: wednesday})
			if err == nil {
				return
			}
		}
	}
	var writers, recomputers sync.WaitGroup
	for range 3 {
		wait := time.Duration(r.IntN(60)) * time.Millisecond
		recomputers.Go(func() {
			for range 4 {
				time.Sleep(wait)
				recompute()
			}
		})
	}
	for i, a := range all {
		wait, pause := time.Duration(r.IntN(150))*time.Millisecond, time.Duration(r.IntN(30))*time.Millisecond
		writers.Go(func() {
			time.Sleep(wait)
			persist(func() error { _, err := f.acts.Record(t.Context(), a); return err })
			if taken[i] {
				time.Sleep(pause)
				persist(func() error {
					_, err := f.acts.Retract(t.Context(), activity.Retract{Scope: home, Event: a.Event})
					if errors.Is(err, activity.ErrNotFound) { // its own, whose reply was lost
						return nil
					}
					return err
				})
			}
		})
	}
	writers.Wait()
	recomputers.Go(recompute)
	recomputers.Wait()
	f.db.Server().Tap().Heal()
	var stand []activity.Activity
	for i, a := range all {
		if !taken[i] {
			stand = append(stand, a)
		}
	}
	f.wantTable(t, model(t, stand, wednesday, members...))
}

// persist does what is safe to repeat until it succeeds.
func persist(do func() error) {
	for do() != nil {
	}
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

// Wherever a process dies, each row is the old one or the new one, and the next
// process brings all of them up to date.
func TestCrashAtEachRequest(t *testing.T) {
	t.Parallel()
	f := on(t, dynamotest.New(t, nil))
	all := aWeek(t)
	f.record(t, all[:4]...)
	f.recompute(t, wednesday, "42", "99")
	f.record(t, all[4:]...)
	want := model(t, all, wednesday, "42", "99")
	seeded := f.db.Server().Snapshot()
	dying := through(t, f.db, dynamodb.New(f.db.Client().Options(), func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }))
	for _, do := range []dynamotest.Effect{dynamotest.LoseRequest, dynamotest.LoseReply} {
		for request := 1; request <= 7; request++ {
			f.db.Server().Restore(seeded)
			f.db.Inject(dynamotest.Fault{Do: do, Nth: request})
			f.db.Inject(dynamotest.Fault{Do: dynamotest.LoseRequest, Nth: request + 1, Times: -1})
			got, err := dying.Recompute(t.Context(), week.Recompute{Household: home, Members: []string{"42", "99"}, Of: wednesday})
			if err == nil || got != nil {
				t.Errorf("%v of request %d: %+v, %v", do, request, got, err)
			}
			f.db.Tap().Heal() // nothing may have followed
			wantWeek(t, f.recompute(t, wednesday, "42", "99"), want)
			f.wantTable(t, want)
		}
	}
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
