package cookbook_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
	_ "time/tzdata"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/cookbook"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// night is a job for six customers, in pages of two.
type night struct {
	cookbook.Fees
	db    *dynamotest.DB
	asked []string // after whom
	pause func(page int)
}

func newNight(t *testing.T) *night {
	t.Helper()
	n := &night{db: dynamotest.New(t, nil), pause: func(int) {}}
	n.db.Create(schema.Table{Name: "balances", Key: schema.Key{Partition: schema.String("pk")}})
	n.Fees = cookbook.Fees{
		DB: n.db.Client(), Table: "balances", Runs: newLedger(t, n.db, "runs"), Zone: tzclock.Stockholm,
		Next: func(_ context.Context, after string) ([]string, error) {
			n.asked = append(n.asked, after)
			n.pause(len(n.asked))
			var next []string
			for i := 1; i <= 6 && len(next) < 2; i++ {
				if c := fmt.Sprintf("c-%d", i); c > after {
					next = append(next, c)
				}
			}
			return next, nil
		},
	}
	return n
}

// scheduled is half past two at night: 01:30 UTC.
var scheduled = time.Date(2026, 11, 22, 1, 30, 0, 0, time.UTC)

// wantFees checks that each customer paid the fee of so many days.
func (n *night) wantFees(t *testing.T, days int64) {
	t.Helper()
	got := map[string]int64{}
	for _, row := range n.db.Items("balances") {
		if f := record.Read(row); f.Has("cents") {
			got[f.Text("pk")] = f.Int("cents")
		}
	}
	want := map[string]int64{}
	for i := 1; i <= 6; i++ {
		want[fmt.Sprintf("BALANCE#c-%d", i)] = -25 * days
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("balances (-want +got):\n%s", diff)
	}
}

func (n *night) run(t *testing.T, at time.Time) {
	t.Helper()
	if err := n.Run(t.Context(), at); err != nil {
		t.Fatal(err)
	}
}

// Whatever is lost, and wherever the job crashes: one fee, also after a third run.
func TestFeesOnceADay(t *testing.T) {
	t.Parallel()
	eachLoss(t, 9, func(t *testing.T, lose func(*dynamotest.DB), crash bool) {
		n := newNight(t)
		lose(n.db)
		if err := n.Run(t.Context(), scheduled); (err == nil) == crash {
			t.Error(err)
		}
		n.db.Heal()
		time.Sleep(afterTheLease)
		n.run(t, scheduled)
		asked := len(n.asked)
		n.run(t, scheduled)
		if n.wantFees(t, 1); len(n.asked) > asked {
			t.Error("the job was done, and began again")
		}
	})
}

func TestFeesCostWhatThePageSays(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	// The ledger's 2 and the bookmark's, and for each page a transaction and a renewal.
	n.db.Meter(func() { n.run(t, scheduled) }).Want(t, dynamotest.Price{Requests: 3 + 3*2, WCU: 3 + 3*(3*2+1)})
	n.db.Meter(func() { n.run(t, scheduled) }).Want(t, dynamotest.Price{Requests: 1, WCU: 1})
}

// The day is the local one of the schedule, also when the clocks go back at night and
// a run is started late.
func TestFeesOfTheScheduledDay(t *testing.T) {
	t.Parallel()
	n := newNight(t)
	first := time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC) // 02:30, and an hour later 02:30 again
	n.run(t, first)
	n.run(t, first.Add(time.Hour))
	n.wantFees(t, 1)
	n.run(t, time.Date(2026, 10, 25, 22, 59, 0, 0, time.UTC))
	n.wantFees(t, 1)
	n.run(t, time.Date(2026, 10, 25, 23, 1, 0, 0, time.UTC)) // the 26th in Stockholm
	n.wantFees(t, 2)
}

// While a run is at work another is refused, however long it takes. After a crash the
// next goes on from the bookmark.
func TestFeesGoOnAfterACrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNight(t)
		n.pause = func(page int) {
			if page > 3 {
				return
			}
			time.Sleep(50 * time.Second)
			if page < 3 {
				var busy *ledger.InProgressError
				if err := n.Run(t.Context(), scheduled); !errors.As(err, &busy) {
					t.Errorf("beside the first run: %v", err)
				}
				return
			}
			panic("crash")
		}
		func() {
			defer func() { _ = recover() }()
			n.run(t, scheduled)
		}()
		time.Sleep(afterTheLease)
		n.run(t, scheduled)
		n.wantFees(t, 1)
		if diff := cmp.Diff([]string{"", "c-2", "c-4", "c-4", "c-6"}, n.asked); diff != "" {
			t.Errorf("pages (-want +got):\n%s", diff)
		}
	})
}

// A run that stood still while another did the job writes nothing when it wakes up.
func TestFeesOfARunThatStoodStill(t *testing.T) {
	t.Parallel()
	for _, at := range []int{1, 2, 3} {
		synctest.Test(t, func(t *testing.T) {
			n := newNight(t)
			n.pause = func(page int) {
				if page == at {
					time.Sleep(afterTheLease)
					n.run(t, scheduled)
				}
			}
			if err := n.Run(t.Context(), scheduled); !errors.Is(err, ledger.ErrLeaseLost) {
				t.Errorf("the first run: %v", err)
			}
			n.wantFees(t, 1)
		})
	}
}

// A run whose time is up is not an attempt, and the next begins at once.
func TestFeesWhoseTimeIsUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := newNight(t)
		n.pause = func(int) { time.Sleep(6 * time.Second) }
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if err := n.Run(ctx, scheduled); !errors.Is(err, cookbook.ErrUnfinished) || ctx.Err() != nil {
				t.Errorf("%v, %v", err, ctx.Err())
			}
		}
		row, _, err := n.Runs.Get(t.Context(), "JOB:fees:2026-11-22")
		if err != nil || row.Attempts != 0 {
			t.Errorf("%d attempts, %v", row.Attempts, err)
		}
		n.run(t, scheduled)
		n.wantFees(t, 1)
	})
}
