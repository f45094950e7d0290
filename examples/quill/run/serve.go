package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/homeops/ddbpatterns/examples/internal/database"
	"github.com/homeops/ddbpatterns/examples/internal/serving"
	"github.com/homeops/ddbpatterns/examples/internal/sleep"
	"github.com/homeops/ddbpatterns/examples/quill/aloware"
	"github.com/homeops/ddbpatterns/examples/quill/config"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/hubspot"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/post"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
	"github.com/homeops/ddbpatterns/examples/quill/spool"
	"github.com/homeops/ddbpatterns/ledger"
)

const (
	// toSetUp bounds the time of the service's start.
	toSetUp = 2 * time.Minute

	// toAnswer is Aloware's time, which is the longest, and that for reading the body
	// before it and keeping it after it.
	toAnswer = intake.AlowareWithin + 30*time.Second

	takeInEvery = 10 * time.Second
)

// Ending bounds how long the steps of ending take.
type Ending struct {
	// Notice: readiness fails until it returns, then the listener closes.
	Notice func(context.Context)
	// Answer is for requests in flight.
	Answer time.Duration
	// Post is for the post in hand, and also for pending facts if they would be
	// lost with the process.
	Post time.Duration
}

// Orderly is how a service ends.
var Orderly = Ending{
	Notice: func(ctx context.Context) { _ = sleep.For(ctx, time.Second) },
	Answer: 10 * time.Second,
	Post:   10 * time.Second,
}

// service is the webhooks and the poster in one process.
type service struct {
	log    *slog.Logger
	cfg    config.Config
	db     database.DB
	stores stores
	tally  *intake.Tally
	poster *post.Poster
	clock  *clock // the poster's
	server *http.Server
	ending Ending

	webhooks *intake.Handler
	ends     chan struct{} // closed when it ends

	ready   atomic.Bool
	pending atomic.Pointer[string]      // how many facts are pending, for people
	late    atomic.Pointer[outbox.Sums] // what posters learned after they had lost their lease
	probe   probe
}

func (p Program) serve(ctx context.Context, cfg config.Config, c command) error {
	to, err := p.openSink(cfg)
	if err != nil {
		return err
	}
	if file, ok := to.(io.Closer); ok {
		defer file.Close() // each post is on the disk already
	}
	s, err := p.newService(ctx, cfg, to, p.logger(c, slog.LevelInfo))
	if err != nil {
		return err
	}
	if cfg.Spool != "" {
		if s.webhooks.Spool, err = spool.Open(cfg.Spool, spool.Most); err != nil {
			return fmt.Errorf("QUILL_SPOOL: %w", err)
		}
		defer s.webhooks.Spool.Close()
	}
	if err := s.setUp(ctx); err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.serve)
	if err != nil {
		return err
	}
	return s.run(ctx, listener)
}

// openSink opens the sink of the rows.
func (p Program) openSink(cfg config.Config) (sink.Sink, error) {
	switch {
	case cfg.PowerBI.On():
		return p.client(cfg.PowerBI), nil
	case cfg.Sink != "":
		return sink.OpenFile(cfg.Sink)
	}
	return sink.NewWriter(p.Out), nil
}

func (p Program) newService(ctx context.Context, cfg config.Config, to sink.Sink, log *slog.Logger) (*service, error) {
	db, stores, err := open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	lease, err := post.NewLease(db.Client, cfg.LedgerTable, &ledger.Config{Retention: cfg.Retention})
	if err != nil {
		return nil, err
	}
	waits := newClock()
	s := &service{
		log: log, cfg: cfg, db: db, stores: stores, tally: &intake.Tally{}, clock: waits, ending: p.Ending, ends: make(chan struct{}),
		poster: &post.Poster{Lease: lease, Outbox: stores.facts, Sink: to, Clock: waits, Idle: p.Idle, Log: log, Tally: &post.Tally{}, AskAfter: cfg.AskAfter},
		probe:  probe{ask: stores.facts.LoadPoster},
	}
	if s.ending.Notice == nil {
		s.ending = Orderly
	}
	s.webhooks = webhooks(cfg, db, stores, s.tally, log)
	s.webhooks.Ending = s.ends
	s.server = serving.Server(s.routes(s.webhooks), toAnswer, log)
	return s, nil
}

// webhooks returns the handler for the configured sources.
func webhooks(cfg config.Config, db database.DB, s stores, tally *intake.Tally, log *slog.Logger) *intake.Handler {
	a, h := cfg.Aloware, cfg.HubSpot
	return &intake.Handler{
		Aloware:       aloware.Auth{User: a.User, Password: a.Password, Token: a.Token},
		AlowareReader: aloware.Reader{Terminal: a.Terminal},
		HubSpot:       hubspot.Verifier{Secret: h.Secret, PublicURL: cfg.PublicURL, Versions: h.Signatures, Now: time.Now},
		DB:            db.Client, Ledger: s.marks, Outbox: s.facts,
		Cutover: cfg.Cutover, Retention: cfg.Retention,
		Tally: tally, Log: log, Now: time.Now, Began: time.Now(),
	}
}

func (s *service) setUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, toSetUp)
	defer cancel()
	if err := s.stores.stand(ctx, s.cfg, s.db); err != nil {
		return err
	}
	if _, err := s.probe.ask(ctx); err != nil {
		return fmt.Errorf("reading from %s: %w", s.db.Where, err)
	}
	s.log.Info("tables exist", "on", s.db.Where, "ledger", s.cfg.LedgerTable, "facts", s.cfg.FactsTable)
	if s.db.Embedded != nil {
		s.log.Warn("neither DYNAMO_ENDPOINT nor AWS credentials are set: what is stored ends with this process")
	}
	return nil
}

// run serves until the context ends, then ends in order: readiness fails, requests in
// flight are answered or go to the spool, and the poster finishes the post in hand and
// gives its lease back.
func (s *service) run(ctx context.Context, listener net.Listener) error {
	working, stopWorking := context.WithCancel(context.WithoutCancel(ctx))
	var house sync.WaitGroup
	defer house.Wait()
	defer stopWorking()
	posted := make(chan error, 1)
	go func() { posted <- s.poster.Run(working) }()
	go s.count(working)
	if s.webhooks.Spool != nil {
		house.Go(func() { s.takeIn(working) })
	}
	if s.db.Embedded != nil {
		go serving.Expire(working, s.db.Embedded)
	}
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(bound(s.server, listener, mostConnections)) }()
	s.ready.Store(true)
	s.log.Info("serving", "address", listener.Addr().String())

	var err error
	select {
	case <-ctx.Done():
		s.log.Info("ending", "cause", context.Cause(ctx))
	case err = <-served: // the listener broke: existing connections are still served
	case err = <-posted: // Run does not end by itself
		posted <- nil
	}
	err = errors.Join(err, s.close(context.WithoutCancel(ctx)))
	s.clock.end()
	inHand := time.AfterFunc(s.ending.Post, stopWorking) // the next poster asks for it
	err = errors.Join(err, <-posted)
	inHand.Stop()
	err = errors.Join(err, s.empty(context.WithoutCancel(ctx)))
	s.log.Info("ended", "events", s.tally.Snapshot(), "posted", s.poster.Tally.Counts().Posted)
	return err
}

// takeIn takes in what is in the spool, now and then.
func (s *service) takeIn(ctx context.Context) {
	for ctx.Err() == nil {
		s.webhooks.TakeIn(ctx)
		_ = sleep.For(ctx, takeInEvery)
	}
}

// close announces that it will stop accepting requests, and then stops. From the
// beginning no request waits for the database as long as otherwise.
func (s *service) close(ctx context.Context) error {
	s.ready.Store(false)
	close(s.ends)
	s.ending.Notice(ctx)
	if err := serving.Close(ctx, s.server, s.ending.Answer); err != nil {
		return err
	}
	s.log.Info("takes no more requests")
	return nil
}

// empty posts facts that would be lost with the process. In a lasting database
// they simply stay pending.
func (s *service) empty(ctx context.Context) error {
	if s.db.Embedded == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.ending.Post)
	defer cancel()
	s.clock.resume()
	err := s.poster.Drain(ctx)
	if err == nil {
		return nil
	}
	n, counted := s.stores.facts.Waiting(ctx, fact.FactTables...)
	if counted != nil {
		return fmt.Errorf("facts that are not posted are lost with the database: %w", err)
	}
	return fmt.Errorf("%d facts that are not posted are lost with the database: %w", n, err)
}
