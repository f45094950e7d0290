package worker_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/dynamotest/explore"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/homeops/worker"
	"github.com/homeops/ddbpatterns/examples/internal/pipeline"
	"github.com/homeops/ddbpatterns/ledger"
)

// perDelivery is how many schedules of a delivery run without -proof.long.
const perDelivery = 12

// explored is a Telegram whose sends the explorer orders. It asks to wait until it is open.
type explored struct {
	*explore.Process
	open time.Time
}

func (s explored) Send(_ context.Context, out telegram.Outgoing) (int64, error) {
	if left := s.open.Sub(s.Now()); left > 0 {
		return 0, &telegram.RefusedError{Code: 429, Description: "Too Many Requests", RetryAfter: left}
	}
	return 1_000_001, s.Do("send "+out.Text, func() error { return nil })
}

// convergesAfter explores one message after the other.
func (b *bench) convergesAfter(conversation func(*bench) []telegram.Message) {
	b.t.Helper()
	for _, m := range conversation(b) {
		b.converges(delivery(b.t, m, 1))
	}
}

// converges explores a delivery, and then handles it: if a process dies at any request, or
// two processes have the delivery, the tables are those of one process that nothing
// disturbs, and what is said is said once. Derived rows count in their version how often
// they were computed.
func (b *bench) converges(m queue.Message) {
	b.t.Helper()
	ignore := []string{"createdAt", "updatedAt", "seenAt", "expiresAt", "lease", "claim", "fence", "e_*", "version"}
	if b.waits > 0 { // who is asked to wait leaves a row of the ledger, and who comes later is not asked
		ignore = append(ignore, "pk", "attempts", "fingerprint", "source", "state")
	}
	pipeline.Test(b.t, perDelivery, explore.Config{Server: b.db.Server(), Start: b.now}, explore.Deliveries[queue.Message]{
		Messages: []queue.Message{m}, Visibility: queue.Visibility, AtMostOnce: []string{"send *"},
		Ignore: ignore,
	}, func(p *explore.Process) func(context.Context, queue.Message) error { return b.process(p).Handle })
	b.mustHandle(m)
}

// process is a worker whose requests, clock and nonces are the explorer's.
func (b *bench) process(p *explore.Process) *worker.Worker {
	cfg, err := config.Load(func(string) (string, bool) { return "", false })
	if err != nil {
		panic(err)
	}
	a, err := app.New(app.Options{
		Config: cfg, DB: p.Client(), Now: p.Now, Queue: queue.NewMemory(queue.Config{Now: p.Now}),
		Sender: explored{p, b.now.Add(b.waits)}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err)
	}
	deps := a.Deps
	limits, err := counter.New(p.Client(), cfg.CountersTable, app.Zone, &counter.Config{Now: p.Now, Rand: p.Rand()})
	if err != nil {
		panic(err)
	}
	deps.Limits = limits
	deps.Seen, err = ledger.New(p.Client(), cfg.LedgerTable, &ledger.Config{Now: p.Now, Rand: p.Rand(), Retention: cfg.LedgerRetention, MaxAttempts: 1})
	if err != nil {
		panic(err)
	}
	return worker.New(deps)
}

// Redelivered or twice at once, a conversation about the household leaves the same rows
// and is answered once.
func TestRedeliveryAboutTheHouseholdConverges(t *testing.T) {
	t.Parallel()
	newBench(t, 0).convergesAfter(aboutUs)
}
