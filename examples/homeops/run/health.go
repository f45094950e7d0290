package run

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/dlq"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/internal/sleep"
	"github.com/homeops/ddbpatterns/ledger"
)

// How the depth of the queue is logged.
const (
	depthEvery = time.Minute
	toCount    = time.Second
)

// routes is what the service answers over HTTP. Dead letters in this process
// can be read only through it; those in SQS can be read without it.
func (s *service) routes(webhook http.Handler, cfg config.Config) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(ingest.Path, webhook)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "alive") // of this process only: restarting it does not mend a database
	})
	mux.HandleFunc("GET /readyz", s.readyz)
	if cfg.StatusToken != "" {
		mux.HandleFunc("GET "+statusPath, s.status(cfg))
	}
	if s.memory != nil {
		letters := dlq.Handler(s.memory, cfg.TelegramSecret, s.log)
		mux.Handle("/dlq", letters)
		mux.Handle("/dlq/", letters)
	}
	return mux
}

// readyz says whether updates are taken, and how many are in each state. If the
// database is down, a queue that lasts goes on taking them.
func (s *service) readyz(w http.ResponseWriter, r *http.Request) {
	state, status := "ready", http.StatusOK
	switch down := s.gate.isDown(); {
	case !s.ready.Load():
		state, status = "not ready", http.StatusServiceUnavailable
	case down && s.memory != nil:
		state, status = "database", http.StatusServiceUnavailable
	case down:
		state = "ready\ndatabase"
	}
	figures := "depth unknown"
	if depth, err := s.depth(r.Context()); err == nil {
		figures = fmt.Sprintf("waiting %d\nin flight %d\ndead %d", depth.Waiting, depth.InFlight, depth.Dead)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, "%s\n%s\n", state, figures)
}

func (s *service) depth(ctx context.Context) (queue.Depth, error) {
	ctx, cancel := context.WithTimeout(ctx, toCount)
	defer cancel()
	return s.queue.Depth(ctx)
}

// tellDepth looks at the depth now and then, and logs it when it has changed.
func (s *service) tellDepth(ctx context.Context, last queue.Depth) {
	for {
		if sleep.For(ctx, depthEvery) != nil {
			return
		}
		last = s.logDepth(ctx, last)
	}
}

// logDepth logs the depth unless it equals the last one, and returns it.
func (s *service) logDepth(ctx context.Context, last queue.Depth) queue.Depth {
	depth, err := s.depth(ctx)
	switch {
	case err != nil:
		s.log.Warn("depth of the queue", "error", err)
		return last
	case depth != last:
		s.log.Info("depth of the queue", depth.LogValues()...)
	}
	return depth
}

// probed is a key that no chat has.
const probed = "PROBE"

// read reads activities of an event that no message has.
func (s *service) read(ctx context.Context) error {
	ev, err := event.New(time.UnixMilli(0), probed)
	if err != nil {
		return err
	}
	_, err = s.app.Activities.OfEvent(ctx, probed, ev)
	return err
}

// probe reads and writes, because either may fail alone. It writes one row of
// the ledger.
func (s *service) probe(ctx context.Context) error {
	var g errgroup.Group
	g.Go(func() error { return s.read(ctx) })
	g.Go(func() error {
		key, err := ledger.Key(probed)
		if err != nil {
			return err
		}
		_, err = s.app.Seen.MarkSeen(ctx, key)
		return err
	})
	return g.Wait()
}
