package dlq

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/examples/homeops/ingest"
	"github.com/homeops/ddbpatterns/examples/homeops/queue"
)

// longest is how long an operation over HTTP may take.
const longest = time.Minute

// Handler carries out the commands that come over HTTP with the webhook's
// secret:
//
//	GET /dlq              list
//	GET /dlq/ID           show
//	POST /dlq/redrive     redrive: ?id=ID, repeated, or ?all=true
//
// It answers with the operation's output. If the status is not 200, the last
// line is the error.
func Handler(q queue.Queue, secret string, log *slog.Logger) http.Handler {
	serve := func(command func(*http.Request) Command) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			c := command(r)
			if !ingest.Verified(r, secret) {
				log.WarnContext(r.Context(), "dead letters", "denied", c.Name, "from", r.RemoteAddr)
				http.Error(w, "wrong or missing "+ingest.SecretHeader, http.StatusUnauthorized)
				return
			}
			log.InfoContext(r.Context(), "dead letters", "command", c.Name, "ids", c.IDs, "all", c.All, "from", r.RemoteAddr)
			answer(w, r, q, c)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /dlq", serve(func(*http.Request) Command { return Command{Name: List} }))
	mux.Handle("GET /dlq/{id}", serve(func(r *http.Request) Command { return Command{Name: Show, IDs: []string{r.PathValue("id")}} }))
	mux.Handle("POST /dlq/redrive", serve(func(r *http.Request) Command {
		query := r.URL.Query()
		return Command{Name: Redrive, IDs: query["id"], All: query.Get("all") == "true"}
	}))
	return mux
}

func answer(w http.ResponseWriter, r *http.Request, q queue.Queue, c Command) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(longest)) // some writers do not support it
	ctx, cancel := context.WithTimeout(r.Context(), longest-time.Second)
	defer cancel()
	var out bytes.Buffer
	err := c.Run(ctx, q, &out)
	status := http.StatusOK
	switch {
	case c.Check() != nil:
		status = http.StatusBadRequest
	case errors.Is(err, ErrNotFound):
		status = http.StatusNotFound
	case errors.Is(err, ErrNotSent):
		status = http.StatusConflict
	case err != nil:
		status = http.StatusInternalServerError
	}
	if err != nil {
		fmt.Fprintln(&out, printable(err.Error()))
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = out.WriteTo(w) // the client may be gone
}

// Remote is a service with a Handler.
type Remote struct {
	At     string // its address, such as http://127.0.0.1:8080
	Secret string
	HTTP   http.RoundTripper // defaults to http.DefaultTransport
}

// Run makes the service carry the command out, and writes its answer.
func (r Remote) Run(ctx context.Context, c Command, w io.Writer) error {
	if err := c.Check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	method, path := c.request()
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(r.At, "/")+path, http.NoBody)
	if err != nil {
		return fmt.Errorf("dlq: %w", err)
	}
	request.Header.Set(ingest.SecretHeader, r.Secret)
	client := &http.Client{Transport: r.HTTP, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // nobody else gets the secret
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("dlq: no answer from the service at %s: %w", r.At, err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		_, err = io.Copy(w, response.Body)
		return err
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("dlq: %w", err)
	}
	lines := strings.TrimRight(string(text), "\n")
	last := strings.LastIndexByte(lines, '\n') + 1
	if _, err := io.WriteString(w, lines[:last]); err != nil {
		return err
	}
	return fmt.Errorf("%s answers %s: %s", r.At, response.Status, printable(lines[last:]))
}

func (c Command) request() (method, path string) {
	switch c.Name {
	case List:
		return http.MethodGet, "/dlq"
	case Show:
		return http.MethodGet, "/dlq/" + url.PathEscape(c.IDs[0])
	}
	query := url.Values{"id": c.IDs}
	if c.All {
		query.Set("all", "true")
	}
	return http.MethodPost, "/dlq/redrive?" + query.Encode()
}
