package ledger_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
)

func TestFenceRisesAfterTheRowIsGone(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{Retention: time.Hour})
	c := mustClaim(t, store, order)
	must(t, c.Fail(t.Context(), errors.New("again")))
	c = mustClaim(t, store, order)
	b.clock.Add(3 * time.Hour)
	b.sweep(t, order.Key)
	if next := mustClaim(t, store, order); next.Fence <= c.Fence || next.Attempt != 1 {
		t.Errorf("fence %d after %d, attempt %d", next.Fence, c.Fence, next.Attempt)
	}
}

// Fences rise also from a worker whose clock is ahead to one whose clock is
// behind, when the row between them was deleted as early as it may be.
func TestFenceRisesAcrossClocks(t *testing.T) {
	t.Parallel()
	const skew = time.Hour
	now := time.Now().Truncate(time.Second)
	db := dynamotest.New(t, &dynamotest.Config{Now: func() time.Time { return now }})
	at := func(offset time.Duration) *ledger.Store {
		store, err := ledger.New(db.Client(), "ledger", &ledger.Config{
			Now: func() time.Time { return now.Add(offset) }, Lease: time.Second, MaxSkew: skew, Retention: time.Second + skew,
		})
		must(t, err)
		return store
	}
	ahead, behind := at(skew/2), at(-skew/2)
	must(t, schema.Create(t.Context(), db.Client(), ahead.Table()))
	first := mustClaim(t, ahead, order)
	must(t, first.Fail(t.Context(), errors.New("again")))
	second := mustClaim(t, behind, order)
	must(t, second.Fail(t.Context(), errors.New("again")))
	now = now.Add(-skew / 2).Add(time.Second + skew).Add(time.Hour + time.Second)
	if n := db.Server().ExpireTTL(); n != 1 {
		t.Fatalf("%d rows deleted", n)
	}
	if third := mustClaim(t, behind, order); second.Fence <= first.Fence || third.Fence <= second.Fence {
		t.Errorf("fences %d, %d, %d", first.Fence, second.Fence, third.Fence)
	}
}

func TestOneHolderAmongMany(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{MaxAttempts: 100, Lease: time.Minute, MaxSkew: time.Second})
	fences := []int64{0}
	for round := range 4 {
		winners := race(t, store, 12)
		if len(winners) != 1 {
			t.Fatalf("round %d: %d holders", round, len(winners))
		}
		if last := fences[len(fences)-1]; winners[0].Fence <= last {
			t.Errorf("round %d: fence %d after %d", round, winners[0].Fence, last)
		}
		fences = append(fences, winners[0].Fence)
		if round%2 == 0 { // a failure, then a crash
			must(t, winners[0].Fail(t.Context(), errors.New("again")))
		} else {
			b.clock.Add(time.Minute + time.Second)
		}
	}
}

// race lets workers claim the key at once and returns the claims granted.
func race(t *testing.T, store *ledger.Store, workers int) []*ledger.Claim {
	t.Helper()
	claims := make([]*ledger.Claim, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			c, err := store.Claim(t.Context(), order)
			var busy *ledger.InProgressError
			if err != nil && !errors.As(err, &busy) {
				t.Error(err)
			}
			claims[i] = c
		})
	}
	wg.Wait()
	var winners []*ledger.Claim
	for _, c := range claims {
		if c != nil {
			winners = append(winners, c)
		}
	}
	return winners
}
