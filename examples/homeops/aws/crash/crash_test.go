package crash_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"github.com/homeops/ddbpatterns/examples/homeops/aws/internal/backend"
	"github.com/homeops/ddbpatterns/examples/homeops/aws/internal/process"
	"github.com/homeops/ddbpatterns/examples/homeops/aws/sqsqueue"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

var updates = flag.Int("updates", 300, "how many updates come in")

// The queue gives a killed worker's item to another soon, any number of times: a
// receive that a kill ended says nothing against the item, and poison is refused on
// its first receive. Workers live a little longer each time, so that a slow machine
// finishes, too.
const (
	visibility  = 5 * time.Second
	maxReceives = 1000 // ElasticMQ takes no more
	workers     = 2
	senders     = 8
	betweenKill = 3 * time.Second
	longer      = 1.05
)

// Workers die any number of times: each message takes effect once, and is
// answered at most once.
func TestKilledWorkers(t *testing.T) {
	server := backend.Open(t, backend.ElasticMQ)
	seed := rand.Uint64()
	t.Logf("seed %d, %d updates", seed, *updates)
	s := newStream(seed, *updates, time.Now())
	want := undisturbed(t, s)

	w := newWorld(t, server, s)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	q, err := sqsqueue.Open(ctx, sqs.NewFromConfig(server.Config()), w.queue.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	working, stop := context.WithCancel(ctx)
	var killing sync.WaitGroup
	kills := make([]int, workers)
	for i := range workers {
		killing.Go(func() { kills[i] = w.killAgainAndAgain(working, i) })
	}
	if err := w.deliverAll(ctx, s); err != nil {
		t.Fatalf("%v\n%s", err, tail(w.webhook))
	}
	w.settle(ctx, q)
	stop()
	killing.Wait()
	if sum := kills[0] + kills[1]; sum < 2 {
		t.Errorf("%d kills: the run was undisturbed", sum)
	}
	t.Logf("%v kills", kills)
	compare(t, want, read(ctx, t, w.dynamo.URL), w.bot, s)
	checkDead(ctx, t, q, s)
}

// deliverAll posts the updates from several connections, those of a chat in order.
func (w *world) deliverAll(ctx context.Context, s stream) error {
	var group errgroup.Group
	for i := range senders {
		group.Go(func() error {
			for _, p := range s.posts {
				if -p.chat%senders != int64(i) {
					continue
				}
				if err := deliver(ctx, w.webhook.URL, p); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// killAgainAndAgain runs a worker, kills it every few seconds until the context
// ends, and returns the number of kills. The other worker is killed at other
// times.
func (w *world) killAgainAndAgain(ctx context.Context, i int) (kills int) {
	life := betweenKill
	wait := life/2 + time.Duration(i)*life/2
	for {
		p := w.start()
		select {
		case <-ctx.Done():
			p.Kill()
			return kills
		case <-time.After(wait):
			p.Kill()
			kills++
		}
		life = time.Duration(float64(life) * longer)
		wait = life
	}
}

// settle waits until the queue is empty and stays so.
func (w *world) settle(ctx context.Context, q queue.Queue) {
	w.t.Helper()
	for empty := 0; empty < 5; {
		depth, err := q.Depth(ctx)
		if err != nil {
			w.t.Fatalf("waiting for the queue: %v", err)
		}
		if empty++; depth.Waiting+depth.InFlight > 0 {
			empty = 0
		}
		select {
		case <-ctx.Done():
			w.t.Fatalf("the queue is never empty: %+v\n%s", depth, tail(w.webhook))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// tail returns the end of what a process logged.
func tail(p *process.Process) string {
	text := p.Log.String()
	return text[max(0, len(text)-4000):]
}
