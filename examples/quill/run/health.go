package run

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/examples/internal/sleep"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/intake"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
)

// These say how figures are reported.
const (
	countEvery = time.Minute
	toCount    = 2 * time.Second // also bounds the cost of counting
	toProbe    = time.Second
	probeEvery = time.Second
)

// routes is what the service serves over HTTP.
func (s *service) routes(webhooks http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(intake.AlowarePath, webhooks)
	mux.Handle(intake.HubSpotPath, webhooks)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "alive") // this process only: a restart does not mend a database
	})
	mux.HandleFunc("GET /readyz", s.readyz)
	return mux
}

// readyz says whether webhooks are accepted, and how many events and facts are in
// which state. A sink that accepts nothing does not stop webhooks: facts wait.
func (s *service) readyz(w http.ResponseWriter, r *http.Request) {
	state, status := "ready", http.StatusOK
	switch {
	case !s.ready.Load():
		state, status = "not ready", http.StatusServiceUnavailable
	case s.probe.err(r.Context()) != nil:
		state, status = "database", http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, "%s\n%s", state, s.figures())
}

// figures returns a line for each figure.
func (s *service) figures() string {
	in, out := s.tally.Snapshot(), s.probe.sums()
	if late := s.late.Load(); late != nil {
		out = out.Plus(*late)
	}
	var text strings.Builder
	for _, figure := range []struct {
		name string
		n    int
	}{
		{"received", in.Received},
		{"new", in.New},
		{"duplicate", in.Duplicate},
		{"refused", in.Refused},
		{"waiting", in.Waiting},
		{"ignored", in.Ignored},
		{"incomplete", in.Incomplete},
		{"old", in.Old},
		{"later", in.Later},
		{"unstored", in.Unstored},
		{"spooled", in.Spooled},
		{"forged", in.Forged},
		{"unread", in.Unread},
		{"posted", out.Posted},
		{"recovered", out.Recovered},
		{"reposted", out.Reposted},
		{"doubled", out.Doubled},
		{"dimension_rows", out.DimensionRows},
		{"dimension_rows_reposted", out.RowsReposted},
	} {
		fmt.Fprintf(&text, "%s %d\n", figure.name, figure.n)
	}
	if s.webhooks.Spool != nil {
		n, _ := s.webhooks.Spool.Len() // TakeIn says what is wrong
		fmt.Fprintf(&text, "spool %d\n", n)
	}
	pending := "unknown"
	if counted := s.pending.Load(); counted != nil {
		pending = *counted
	}
	fmt.Fprintf(&text, "pending %s\n", pending)
	if err := s.poster.LastError(); err != nil && !errors.Is(err, errEnding) {
		fmt.Fprintf(&text, "poster %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
	}
	return text.String()
}

// count counts now and then what is pending, because counting at each request for
// readiness would cost too much.
func (s *service) count(ctx context.Context) {
	for last := ""; ctx.Err() == nil; _ = sleep.For(ctx, countEvery) {
		counted := s.counted(ctx)
		s.pending.Store(&counted)
		if late, err := s.stores.facts.Late(ctx); err == nil {
			s.late.Store(&late)
		}
		if counted != last {
			s.log.Info("pending facts", "facts", counted)
		}
		last = counted
	}
}

func (s *service) counted(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, toCount)
	defer cancel()
	n, err := s.stores.facts.Waiting(ctx, fact.FactTables...)
	switch {
	case errors.Is(err, context.DeadlineExceeded) && n > 0:
		return fmt.Sprintf("at least %d", n)
	case err != nil:
		return "unknown: the count failed"
	}
	return fmt.Sprint(n)
}

// probe asks at most once a second whether the database answers, however many
// callers want to know.
type probe struct {
	ask func(context.Context) (outbox.Poster, error)

	mu    sync.Mutex
	asked time.Time
	found outbox.Poster // by the last probe that was answered
	last  error
}

// sums are what all posters did, by the last probe that was answered.
func (p *probe) sums() outbox.Sums {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.found.Sums
}

func (p *probe) err(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.asked) < probeEvery {
		return p.last
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), toProbe)
	defer cancel()
	found, err := p.ask(ctx)
	if p.last = err; err == nil {
		p.found = found
	}
	p.asked = time.Now()
	return p.last
}
