package run

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	"golang.org/x/sync/errgroup"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/dlq"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/page"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/internal/prices"
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

const (
	statusPath    = "/status"
	statusEvery   = 30 * time.Second // how often it is loaded anew, unless it is asked for with ?still
	statusLongest = 10 * time.Second // the most that making it may take
)

// status answers with the status page: of all households if the password is the
// token, for any user, or of one if the user is its chat and the password the chat's.
func (s *service) status(cfg config.Config) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		of, given, _ := r.BasicAuth()
		if ingest.Same(given, cfg.StatusToken) {
			of = ""
		} else if of == "" || !ingest.Same(given, chatToken(cfg.StatusToken, of)) {
			s.log.WarnContext(r.Context(), "status page", "denied", r.RemoteAddr)
			w.Header().Set("WWW-Authenticate", `Basic realm="homeops", charset="UTF-8"`)
			http.Error(w, "wrong or missing token", http.StatusUnauthorized)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), statusLongest)
		defer cancel()
		reload := statusEvery
		if r.URL.Query().Has("still") {
			reload = 0
		}
		html, err := s.page(ctx, cfg.Region, reload, of)
		if err != nil {
			s.log.ErrorContext(ctx, "status page", "error", err)
			w.Header().Set("Refresh", "30")
			http.Error(w, "the tables cannot be read: the log says why", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(html) // the client may be gone
	}
}

func (s *service) page(ctx context.Context, region string, reload time.Duration, of string) ([]byte, error) {
	priced, err := prices.Load("")
	if err != nil {
		return nil, err
	}
	depth, err := s.depth(ctx)
	if err != nil {
		depth = queue.Depth{Waiting: -1}
	}
	return page.Make(ctx, s.app, page.Facts{
		At: time.Now(), Where: s.db.Where, Depth: depth, Since: s.spent.since, Cost: s.spent.cost(), Region: region, Prices: priced, Reload: reload, Of: of,
	})
}

// chatToken is the token of one chat's page. Nobody can find the operator's from it, and
// it is another when that changes.
func chatToken(token, chat string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("status page of chat " + chat))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// token prints the user and the password of one chat's page.
func (p Program) token(_ context.Context, cfg config.Config, chat string) error {
	if n, err := strconv.ParseInt(chat, 10, 64); err != nil || strconv.FormatInt(n, 10) != chat {
		return fmt.Errorf("token: a chat id must be a whole number, is %q", chat)
	}
	if cfg.StatusToken == "" {
		return errors.New("token: STATUS_TOKEN must be set to the service's")
	}
	fmt.Fprintf(p.Out, "user %s\npassword %s\n", chat, chatToken(cfg.StatusToken, chat))
	return nil
}

// spent adds up what requests cost, in memory that does not grow with their
// number: a [dynamotest.Meter] keeps the time of each.
type spent struct {
	since time.Time
	mu    sync.Mutex
	sum   dynamotest.Cost
}

func (s *spent) cost() (sum dynamotest.Cost) {
	s.mu.Lock()
	defer s.mu.Unlock()
	page.Add(&sum, s.sum)
	return sum
}

// options are those of a client whose calls are added up, for the status page. The
// server inside the process has a Tap already.
func (s *spent) options(cfg config.Config) []func(*dynamodb.Options) {
	if cfg.StatusToken == "" {
		return nil
	}
	add := middleware.InitializeMiddlewareFunc("Spent", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		ctx, meter := dynamotest.WithMeter(ctx)
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			page.Add(&s.sum, meter.Cost())
		}()
		return next.HandleInitialize(ctx, in)
	})
	options := []func(*dynamodb.Options){func(o *dynamodb.Options) {
		o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error { return stack.Initialize.Add(add, middleware.Before) })
	}}
	if !cfg.Embedded() {
		options = append(options, dynamotest.NewTap().Attach)
	}
	return options
}
