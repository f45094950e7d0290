package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/app"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/job"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/homeops/telegram"
	"github.com/homeops/ddbpatterns/examples/internal/database"
	"github.com/homeops/ddbpatterns/examples/internal/serving"
	"github.com/homeops/ddbpatterns/examples/internal/sleep"
	"github.com/homeops/ddbpatterns/schema"
)

// How the service starts and ends.
const (
	toSetUp  = 2 * time.Minute
	logged   = 64 << 10    // the most bytes of a lost body
	askAgain = time.Minute // after a job that the queue refused
)

// Ending says how long the steps of the end take at most.
type Ending struct {
	// Notice: readiness fails until it returns, then the listener closes.
	Notice func(context.Context)
	// Answer is for requests in flight.
	Answer time.Duration
	// Empty is for what is in the queue, if the queue ends with the process.
	Empty time.Duration
}

// Orderly is how a service normally ends.
var Orderly = Ending{
	Notice: func(ctx context.Context) { _ = sleep.For(ctx, time.Second) },
	Answer: 10 * time.Second,
	Empty:  10 * time.Second,
}

// service is the webhook and the worker in one process.
type service struct {
	log    *slog.Logger
	db     database.DB
	app    *app.App
	queue  queue.Queue
	memory *queue.Memory // the queue, if it ends with this process
	gate   *gate         // the queue, as the worker uses it
	server *http.Server
	ready  atomic.Bool
	ending Ending
	spent  spent
}

func (p Program) serve(ctx context.Context, cfg config.Config, f flags) error {
	seeds, err := loadSeeds(f.seeds)
	if err != nil {
		return err
	}
	s, err := p.newService(ctx, cfg, p.logger(f, slog.LevelInfo))
	if err != nil {
		return err
	}
	if s.gate.pollers = f.pollers; f.pollers == 0 && s.memory != nil {
		return errors.New("-pollers 0 needs MESSAGES_QUEUE_URL: no other process can work on a queue that is inside this process")
	}
	if err := s.setUp(ctx, seeds); err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", f.serve)
	if err != nil {
		return err
	}
	return s.run(ctx, listener)
}

func (p Program) newService(ctx context.Context, cfg config.Config, log *slog.Logger) (*service, error) {
	s := &service{log: log, ending: p.Ending}
	db, err := database.Open(ctx, cfg.Settings, time.Now, s.spent.options(cfg)...)
	if err != nil {
		return nil, err
	}
	var sender telegram.Sender = &telegram.Client{BaseURL: cfg.TelegramAPI, Token: cfg.TelegramToken}
	if cfg.TelegramToken == "" {
		sender = &telegram.Console{W: p.Out}
		log.Warn("TELEGRAM_BOT_TOKEN is not set: replies go to standard output")
	}
	s.db = db
	if s.ending.Notice == nil {
		s.ending = Orderly
	}
	if err := s.openQueue(ctx, p, cfg); err != nil {
		return nil, err
	}
	s.gate = newGate(s.queue, s.memory, s.ending.Empty, log, s.probe)
	s.app, err = app.New(app.Options{
		Config: cfg, DB: db.Client, Now: time.Now, Queue: s.gate, Classifier: p.classifier(cfg, log), Sender: sender, Log: log,
		Observe: s.gate.observe,
	})
	if err != nil {
		return nil, err
	}
	s.server = serving.Server(s.routes(&ingest.Handler{Secret: cfg.TelegramSecret, Queue: entrance{s.gate}, Log: log}, cfg), 15*time.Second, log)
	return s, nil
}

func (s *service) openQueue(ctx context.Context, p Program, cfg config.Config) (err error) {
	if cfg.QueueURL == "" {
		s.memory = queue.NewMemory(queue.Config{Log: s.log})
		s.queue = s.memory
		return nil
	}
	s.queue, err = p.Queue(ctx, cfg, s.log)
	return err
}

func (s *service) setUp(ctx context.Context, seeds app.Seeds) error {
	ctx, cancel := context.WithTimeout(ctx, toSetUp)
	defer cancel()
	if err := s.tables(ctx); err != nil {
		return err
	}
	if err := s.app.Seed(ctx, seeds); err != nil {
		return fmt.Errorf("seeding phrases: %w", err)
	}
	s.spent.since, s.spent.sum = time.Now(), dynamotest.Cost{} // without requests about the tables themselves, which are free
	tables, err := schema.Merge(s.app.Tables(true)...)
	if err != nil {
		return err
	}
	s.log.Info("tables exist", "on", s.db.Where, "tables", len(tables))
	if s.db.Embedded != nil {
		s.log.Warn("neither DYNAMO_ENDPOINT nor AWS credentials are set: what is stored ends with this process")
	}
	return nil
}

// tables creates the tables that do not exist. If the queue is deployed, so are
// the tables, and they are only compared with what is expected.
func (s *service) tables(ctx context.Context) error {
	if s.memory == nil {
		if err := schema.Verify(ctx, s.db.Client, s.app.Tables(true)...); err != nil {
			return fmt.Errorf("checking the tables on %s, which the deployed queue needs: %w", s.db.Where, err)
		}
		return nil
	}
	if err := s.app.CreateTables(ctx, true); err != nil {
		return fmt.Errorf("creating tables on %s: %w", s.db.Where, err)
	}
	return nil
}

// run serves until the context ends, then ends in order: readiness fails,
// requests in flight are answered, the queue is emptied, and the worker
// finishes what it has in hand.
func (s *service) run(ctx context.Context, listener net.Listener) error {
	working, stopWorking := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWorking()
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		s.app.Worker.Run(working, s.gate.pollers)
	}()
	go s.gate.watch(working)
	go s.tellDepth(working, s.logDepth(working, queue.Depth{Waiting: -1}))
	go s.tellTime(ctx)
	if s.db.Embedded != nil {
		go serving.Expire(working, s.db.Embedded)
	}
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(listener) }()
	s.ready.Store(true)
	s.log.Info("serving", "address", listener.Addr().String())

	var err error
	select {
	case <-ctx.Done():
		s.log.Info("ending", "cause", context.Cause(ctx))
	case err = <-served: // the listener broke: clients that are connected are still served
	}
	err = errors.Join(err, s.close(context.WithoutCancel(ctx)))
	s.empty(context.WithoutCancel(ctx))
	stopWorking()
	<-worked // each item in hand has a time limit of its own
	s.logDepth(context.WithoutCancel(ctx), queue.Depth{Waiting: -1})
	err = errors.Join(err, s.lose())
	s.log.Info("ended")
	return err
}

// tellTime sends the hour's job at every full hour, and at once for the present
// hour, which may have begun while no process ran. If the queue refuses the job, it
// is sent again while the hour lasts. Several processes send the same job.
func (s *service) tellTime(ctx context.Context) {
	for ctx.Err() == nil {
		now := time.Now()
		hourly := job.Job{Name: job.Hourly, Due: now.UTC().Truncate(time.Hour)}
		wait := hourly.Due.Add(time.Hour).Sub(now)
		if _, err := (entrance{s.gate}).Send(ctx, hourly.Body(), nil); err != nil && ctx.Err() == nil {
			s.log.Warn("the hour's job is not sent yet", "due", hourly.Due, "error", err)
			wait = min(wait, askAgain)
		}
		_ = sleep.For(ctx, wait)
	}
}

// lose logs what is lost with a queue in memory, and returns an error with how
// much that is.
func (s *service) lose() error {
	if s.memory == nil {
		return nil
	}
	left, dead := s.memory.Left(), s.memory.Dead()
	for _, m := range left {
		s.write("an item is lost with the queue", m)
	}
	for _, m := range dead {
		s.write("a dead letter is lost with the queue", m)
	}
	if len(left)+len(dead) == 0 {
		return nil
	}
	return fmt.Errorf("%d items and %d dead letters are lost with the queue: they are in the log", len(left), len(dead))
}

func (s *service) write(what string, m queue.Message) {
	body, _ := m.Content()
	m.Log(s.log).Error(what, "reason", m.Why(), "body", strings.ToValidUTF8(string(body[:min(len(body), logged)]), ""))
}

// close stops taking requests, and says so before it does.
func (s *service) close(ctx context.Context) error {
	s.ready.Store(false)
	s.ending.Notice(ctx)
	if err := serving.Close(ctx, s.server, s.ending.Answer); err != nil {
		return err
	}
	s.log.Info("takes no more requests")
	return nil
}

// empty gives the worker time for the updates that wait in a queue in memory:
// Telegram does not send them again. Such a queue takes no more than this time is
// enough for, at [aDelivery] each. On SQS they simply stay.
func (s *service) empty(ctx context.Context) {
	if s.memory == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.ending.Empty)
	defer cancel()
	s.gate.handBack(ctx)
	for s.memory.Len() > 0 && ctx.Err() == nil {
		_ = sleep.For(ctx, 10*time.Millisecond)
	}
}
