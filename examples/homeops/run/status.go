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

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/homeops/config"
	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/page"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
	"github.com/homeops/ddbpatterns/examples/internal/prices"
)

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
