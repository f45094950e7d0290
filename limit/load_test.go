package limit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/limit"
)

// load is what some processes ask for on one key, and how much of it was granted.
type load struct {
	processes int
	offered   time.Duration // from one call to the next
	lasts     time.Duration
	limit     limit.Limit
	most      float64 // percent of the calls that may be requests: with more, the load ends

	asked, granted, naive, requests int
}

// run offers the load on a clock of its own, at even distances, to one process after
// another. Without memory, each call is a request, and GCRA alone decides.
func (l *load) run(t testing.TB, seed byte) {
	t.Helper()
	db := dynamotest.New(t, nil)
	now := noon
	var stores []*limit.Store
	for i := range l.processes {
		s, err := limit.New(counted{db.Client(), &l.requests}, "limits", &limit.Config{Now: func() time.Time { return now }, Timeout: time.Minute, Rand: rand.NewChaCha8([32]byte{seed, byte(i)})})
		if err != nil {
			t.Fatal(err)
		}
		stores = append(stores, s)
	}
	recordtest.Create(t, db.Client(), stores[0].Table())
	rnd := rand.New(rand.NewPCG(uint64(seed), 0))
	unit := l.limit.Per / time.Duration(l.limit.N)
	full := now
	for ; now.Sub(noon) < l.lasts && 100*float64(l.requests) <= l.most*float64(l.lasts/l.offered); now = now.Add(l.offered) {
		l.asked++
		if full.Before(now) {
			full = now
		}
		if free := full.Add(unit); free.Sub(now) <= time.Duration(l.limit.Burst)*unit {
			full, l.naive = free, l.naive+1
		}
		g, err := stores[rnd.IntN(l.processes)].Take(t.Context(), limit.Take{Key: "tenant", Limits: []limit.Limit{l.limit}})
		if err != nil {
			t.Fatal(err)
		}
		if g.OK {
			l.granted++
		}
	}
}

// counted counts the requests.
type counted struct {
	*dynamodb.Client
	n *int
}

func (c counted) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	*c.n++
	return c.Client.UpdateItem(ctx, in, opts...)
}

// flood is 10,000 calls a second for 30 seconds, under a limit of 10 a second.
func flood(processes int, most float64) *load {
	return &load{
		processes: processes, most: most, offered: 100 * time.Microsecond, lasts: 30 * time.Second,
		limit: limit.Limit{Name: "rps", N: 10, Per: time.Second, Burst: 10, Weight: 1},
	}
}

// wantShares fails the test if too many of the calls were requests, or less of what the
// limit admits was granted than the parts of a hundred.
func (l *load) wantShares(t testing.TB, grants float64) {
	t.Helper()
	if sent, got := 100*float64(l.requests)/float64(l.asked), 100*float64(l.granted)/float64(l.naive); sent > l.most || got < grants {
		t.Errorf("%d processes: %d requests for %d calls, %.2f %%; %d of %d grants, %.1f %%", l.processes, l.requests, l.asked, sent, l.granted, l.naive, got)
	}
}

// A flood costs what the limit admits, and not what is offered. Each process knows what
// it was told, and processes that compete keep out of each other's way. Where calls are
// few, they lose no turns by that. The benchmark has the rest.
func TestPriceOfAFlood(t *testing.T) {
	t.Parallel()
	l := flood(16, 0.5)
	l.run(t, 1)
	l.wantShares(t, 99)
	few := &load{processes: 4, most: 100, offered: 50 * time.Millisecond, lasts: 20 * time.Second, limit: l.limit}
	few.limit.Burst = 1
	few.run(t, 1)
	few.wantShares(t, 95)
}

func BenchmarkFlood(b *testing.B) {
	many, hundred := flood(1, 0), flood(1, 100)
	few := &load{most: 100, offered: 50 * time.Millisecond, lasts: 5 * time.Minute, limit: many.limit}
	few.limit.Burst = 1
	hundred.limit.N, hundred.limit.Burst = 100, 100
	for name, shape := range map[string]*load{"10 a second of 10,000": many, "10 a second of 20, burst 1": few, "100 a second of 10,000": hundred} {
		for i, processes := range []int{1, 4, 16} {
			b.Run(fmt.Sprintf("%s/%d processes", name, processes), func(b *testing.B) {
				var sum load
				for n := range b.N {
					l := *shape
					l.processes = processes
					if shape == many {
						l.most = []float64{0.15, 0.5, 1}[i]
					}
					l.run(b, byte(n))
					switch shape {
					case many:
						l.wantShares(b, 99)
					case few:
						l.wantShares(b, 95)
					}
					sum.asked, sum.requests = sum.asked+l.asked, sum.requests+l.requests
					sum.granted, sum.naive = sum.granted+l.granted, sum.naive+l.naive
				}
				b.ReportMetric(100*float64(sum.requests)/float64(sum.asked), "%sent")
				b.ReportMetric(100*float64(sum.granted)/float64(sum.naive), "%granted")
			})
		}
	}
}
