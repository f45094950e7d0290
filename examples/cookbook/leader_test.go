package cookbook_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/cookbook"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// prices counts what leaders publish.
func prices(by string) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String("prices"), Key: record.Item{"pk": record.Text("lamp")},
		UpdateExpression:          aws.String("SET leader = :by ADD written :one"),
		ExpressionAttributeValues: record.Item{":by": record.Text(by), ":one": record.Int(1)},
	}}
}

// election has processes that lead until they are told to fail.
type election struct {
	db      *dynamotest.DB
	locks   *ledger.Store
	leading atomic.Int64
	turns   []string // who led, in order
	mu      sync.Mutex
}

func newElection(t *testing.T) *election {
	t.Helper()
	db := dynamotest.New(t, nil)
	db.Create(schema.Table{Name: "prices", Key: schema.Key{Partition: schema.String("pk")}})
	return &election{db: db, locks: newLedger(t, db, "locks")}
}

// process leads for a while and then returns the error.
func (e *election) process(t *testing.T, name string, term time.Duration, end error) cookbook.Leader {
	l := cookbook.Leader{DB: e.db.Client(), Locks: e.locks, Key: "LEADER:prices", Name: name, Log: func(err error) { t.Log(name, err) }}
	l.Lead = func(ctx context.Context, c *ledger.Claim) error {
		if n := e.leading.Add(1); n != 1 {
			t.Errorf("%d lead", n)
		}
		defer e.leading.Add(-1)
		e.mu.Lock()
		e.turns = append(e.turns, name)
		e.mu.Unlock()
		if err := l.Publish(ctx, c, prices(name)); err != nil {
			t.Error(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(term):
		}
		return end
	}
	return l
}

// One leads at a time; when it fails or is stopped, another does, within seconds.
func TestOneLeads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newElection(t)
		ctx, stop := context.WithTimeout(t.Context(), 20*time.Minute)
		defer stop()
		var all sync.WaitGroup
		for i, end := range []error{nil, errors.New("the supplier is down"), nil} {
			l := e.process(t, fmt.Sprintf("web-%d", i), 2*time.Minute, end)
			all.Go(func() { l.Run(ctx) })
		}
		all.Wait()
		if n := len(e.turns); n < 8 || n > 11 { // terms of 2 minutes, and pauses of some seconds
			t.Errorf("%d terms in 20 minutes: %v", n, e.turns)
		}
		row, _, err := e.locks.Get(t.Context(), "LEADER:prices")
		if err != nil || row.State != ledger.Failed || row.Attempts != 0 || row.Holder != e.turns[len(e.turns)-1] {
			t.Errorf("%+v, %v", row, err)
		}
	})
}

// A leader that stood still while another took over writes nothing when it wakes up.
// One whose renewals or transactions meet each other loses nothing.
func TestALeaderThatStoodStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newElection(t)
		l := e.process(t, "web-0", 0, nil)
		claim := func(lease time.Duration) *ledger.Claim {
			c, err := e.locks.Claim(t.Context(), ledger.Request{Key: "LEADER:prices", Lease: lease})
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		old := claim(time.Second)
		e.db.Inject(dynamotest.Fault{Do: dynamotest.Conflict, Op: "TransactWriteItems", Times: 2})
		if err := l.Publish(t.Context(), old, prices("old")); err != nil {
			t.Error(err)
		}
		e.db.Inject(dynamotest.Fault{Do: dynamotest.Conflict, Op: "TransactWriteItems", Times: 5})
		var cancelled *types.TransactionCanceledException
		if err := l.Publish(t.Context(), old, prices("old")); !errors.As(err, &cancelled) {
			t.Error(err)
		}
		time.Sleep(afterTheLease)
		heir := claim(time.Minute)
		if err := l.Publish(t.Context(), old, prices("old")); !errors.Is(err, ledger.ErrLeaseLost) {
			t.Errorf("the old leader: %v", err)
		}
		if err := l.Publish(t.Context(), heir, prices("new")); err != nil {
			t.Error(err)
		}
		refused := types.TransactWriteItem{Delete: &types.Delete{
			TableName: aws.String("prices"), Key: record.Item{"pk": record.Text("lamp")}, ConditionExpression: aws.String("attribute_not_exists(pk)"),
		}}
		if err := l.Publish(t.Context(), heir, refused); !errors.As(err, &cancelled) {
			t.Errorf("the write's own condition: %v", err)
		}
		if row := e.db.Items("prices")[0]; record.Read(row).Int("written") != 2 || record.Read(row).Text("leader") != "new" {
			t.Errorf("%v", row)
		}
	})
}

// A leader's event counts once, also when the row changes under it. What the lock's row
// refuses is not taken for success.
func TestALeadersEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newElection(t)
		decode := func(row record.Item) (int64, error) { return record.Read(row).Int("cents"), nil }
		rows, err := record.New(e.db.Client(), "records", record.Kind[int64]{Package: "prices", Type: "PRICE", Count: "reports", Retention: time.Hour, Decode: decode}, nil)
		if err != nil {
			t.Fatal(err)
		}
		e.db.Create(rows.Table())
		few, err := record.New(e.db.Client(), "records", record.Kind[int64]{Package: "prices", Type: "FEW", Count: "reports", Decode: decode}, nil)
		if err != nil {
			t.Fatal(err)
		}
		claim, err := e.locks.Claim(t.Context(), ledger.Request{Key: "LEADER:prices"})
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		apply := func(id string) record.Apply {
			ev, err := event.New(start, "supplier", id)
			if err != nil {
				t.Fatal(err)
			}
			return record.Apply{Partition: "PRICE", Sort: "lamp", Event: ev, Next: func(row record.Item, _ event.Event) (record.Item, error) {
				return record.Item{"cents": record.Int(record.Read(row).Int("cents") + 1)}, nil
			}}
		}
		l := cookbook.Leader{DB: e.db.Client(), Locks: e.locks}
		want := func(id string, want event.Outcome, cents int64) error {
			t.Helper()
			out, err := cookbook.PublishEvent(t.Context(), l, claim, rows, apply(id))
			if got, _, _ := rows.Get(t.Context(), "PRICE", "lamp"); out != want || got != cents || (out == 0) != (err != nil) {
				t.Errorf("%s: %v, %v, and %d cents", id, out, err, got)
			}
			return err
		}
		e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "TransactWriteItems"})
		_ = want("1", event.Created, 1)
		_ = want("1", event.Duplicate, 1)
		e.db.Inject(dynamotest.Fault{Do: dynamotest.Before(func() {
			if _, err := rows.Apply(t.Context(), apply("2")); err != nil {
				t.Error(err)
			}
		}), Op: "TransactWriteItems"})
		_ = want("3", event.Created, 3)
		e.db.Inject(dynamotest.Fault{Do: dynamotest.Conflict, Op: "TransactWriteItems", Table: "locks", Times: 5})
		if err := want("4", 0, 3); !strings.Contains(err.Error(), "TransactionConflict") {
			t.Error(err)
		}
		_ = want("4", event.Created, 4)
		for _, want := range []event.Outcome{event.Created, event.Duplicate} {
			a := apply("6")
			a.Partition = "FEW"
			if out, err := cookbook.PublishEvent(t.Context(), l, claim, few, a); out != want || err != nil {
				t.Errorf("%v, %v, want %v", out, err, want)
			}
		}
		time.Sleep(2 * afterTheLease)
		if _, err := e.locks.Claim(t.Context(), ledger.Request{Key: "LEADER:prices"}); err != nil {
			t.Fatal(err)
		}
		if err := want("5", 0, 4); !errors.Is(err, ledger.ErrLeaseLost) {
			t.Error(err)
		}
	})
}

// Of five workers one does the night's job, also when workers crash; by Hold alone, all
// five do.
func TestNightlyByOneOfFive(t *testing.T) {
	t.Parallel()
	for _, crashes := range []int64{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			e := newElection(t)
			runs := newLedger(t, e.db, "runs")
			e.db.Inject(dynamotest.Fault{Do: dynamotest.LoseReply, Op: "TransactWriteItems"})
			var began, done, answers atomic.Int64
			job := func(context.Context, *ledger.Claim) (string, []types.TransactWriteItem, error) {
				n := began.Add(1)
				time.Sleep(3 * time.Minute)
				if n <= crashes {
					panic("crash")
				}
				done.Add(1)
				return "41 orders", []types.TransactWriteItem{prices("report")}, nil
			}
			var all sync.WaitGroup
			for range 5 {
				all.Go(func() {
					defer func() { _ = recover() }()
					report, err := cookbook.Nightly(t.Context(), runs, tzclock.Stockholm, scheduled, job)
					if report != "41 orders" || err != nil {
						t.Errorf("%q, %v", report, err)
					}
					answers.Add(1)
				})
			}
			all.Wait()
			if done.Load() != 1 || answers.Load() != 5-crashes {
				t.Errorf("%d crashes: done %d times, %d answers", crashes, done.Load(), answers.Load())
			}
			if rows := e.db.Items("prices"); len(rows) != 1 || record.Read(rows[0]).Int("written") != 1 {
				t.Errorf("%d crashes: written %v", crashes, rows)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		locks := newLedger(t, dynamotest.New(t, nil), "locks")
		var done atomic.Int64
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				err := ledger.Hold(t.Context(), locks, ledger.Request{Key: "REPORT", WaitUpTo: 6 * time.Hour}, func(context.Context, *ledger.Claim) error {
					done.Add(1)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		if all.Wait(); done.Load() != 5 {
			t.Errorf("done %d times", done.Load())
		}
	})
}
