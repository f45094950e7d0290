package failures_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/homeops/ddbpatterns/examples/failures"
	"github.com/homeops/ddbpatterns/ledger"
)

// A worker crashes when it has claimed an order. The next delivery, when the lease
// and the skew budget are over, charges it; the one after that gets the same receipt.
func TestCrash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, "Deliver, crash, redeliver, replay", "Worker 1 claims an order and crashes."+
			" The order is delivered again: worker 2 claims it, charges the card and stores the receipt."+
			" The third delivery is answered with the stored receipt.",
			time.TimeOnly, provider, worker1, worker2, database)
		first, second := r.worker(worker1, crash), r.worker(worker2, r.charge(worker2))
		r.deliver(worker1, first, "order 1001")
		r.until(70 * time.Second)
		r.deliver(worker2, second, "order 1001, again")
		r.until(5 * time.Minute)
		r.deliver(worker2, second, "order 1001, again")
		r.check("crash")
	})
}

// worker is a process of its own, with a client and a ledger.
func (r *run) worker(name string, charge func(context.Context, string, int64) (string, error)) failures.Worker {
	r.Helper()
	seen, err := ledger.New(r.client(name), "seen", &ledger.Config{Now: r.now})
	if err != nil {
		r.Fatal(err)
	}
	return failures.Worker{Seen: seen, Charge: charge}
}

// crash is the end of a worker at its work. It sends nothing from then on.
func crash(context.Context, string, int64) (string, error) { panic(crashed{}) }

type crashed struct{}

// charge is the work: an effect outside of DynamoDB.
func (r *run) charge(worker string) func(context.Context, string, int64) (string, error) {
	return func(_ context.Context, order string, _ int64) (string, error) {
		r.Note(worker, "charges the card")
		return "ch-" + order, nil
	}
}

// deliver sends the order 1001 to the worker, and draws what becomes of it.
func (r *run) deliver(name string, w failures.Worker, label string) {
	r.Helper()
	defer func() {
		if cause := recover(); cause == (crashed{}) {
			r.Crash(name, "crashes")
		} else if cause != nil {
			panic(cause)
		}
	}()
	r.Request(provider, name, label)
	answer, err := w.Deliver(r.Context(), "1001")
	switch {
	case err != nil:
		r.Reply(name, provider, "500")
	case answer.Wait > 0:
		r.Reply(name, provider, "503")
	default:
		r.Reply(name, provider, "200 "+answer.Receipt)
	}
}
