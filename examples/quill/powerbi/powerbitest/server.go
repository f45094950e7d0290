// Package powerbitest imitates Microsoft's login and a workspace of Power BI, for
// tests and for the demonstration. It is strict: it refuses and records requests
// that break the published limits, a column's type or the form of a request, see
// [Server.Violations].
//
// The statuses for too many requests (429) and for an invalid token are documented.
// The others are inferred: 400 if sending the same again never helps.
package powerbitest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

// These are what a Server uses if its Config does not say otherwise.
const (
	Tenant    = "tenant.example"
	ID        = "11111111-2222-4333-8444-555555555555"
	Secret    = "powerbitest's secret ~&+%"
	Workspace = "f0000000-0000-4000-8000-000000000001"
	Dataset   = "d0000000-0000-4000-8000-000000000001"
)

// Config is what a Server imitates. The zero value works.
type Config struct {
	Tables []fact.Table     // of the dataset, defaults to fact.Tables
	Limits sink.Limits      // defaults to Microsoft's; a field that is 0 does not limit
	Now    func() time.Time // defaults to time.Now

	TokenLife    time.Duration // defaults to an hour
	VisibleAfter time.Duration // how long after a post a question sees its rows
}

// These are Microsoft's limits for a dataset without a retention policy, and for
// questions.
var limits = sink.Limits{
	RowsAPost: 10_000, RowsAnHour: 1_000_000, PostsAMinute: 120,
	LargeTable: 250_000, PostsAnHour: 120, RowsATable: 5_000_000, TextUnits: 4_000,
}

const (
	pendingPosts = 5
	asksAMinute  = 120
	mostTables   = 75
	mostColumns  = 75
)

// Counts are requests by kind, including refused and lost ones, and the rows in the
// current dataset.
type Counts struct{ Logins, Posts, Asks, Creates, Throttled, Rows int }

// Server is an http.Handler that listens after Start, and an http.RoundTripper for
// clients in the same process, which need no network. It is safe for concurrent
// use.
type Server struct {
	cfg Config
	mux http.ServeMux

	mu         sync.Mutex
	dataset    string // the id; Create changes it
	tables     map[string]*table
	tokens     map[string]time.Time // when each expires
	arrivals   []arrival            // posts of the last hour, oldest first
	asked      []arrival
	pending    int
	counts     Counts
	violations []string

	onPost, onAsk map[int]Fault
	unauthorized  int
	noAsking      bool
	createCode    string
}

// New returns a Server with an empty dataset.
func New(cfg Config) *Server {
	if cfg.Tables == nil {
		cfg.Tables = fact.Tables
	}
	if cfg.Limits == (sink.Limits{}) {
		cfg.Limits = limits
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.TokenLife = cmp.Or(cfg.TokenLife, time.Hour)
	s := &Server{
		cfg: cfg, dataset: Dataset, tables: tablesOf(cfg.Tables),
		tokens: map[string]time.Time{}, onPost: map[int]Fault{}, onAsk: map[int]Fault{},
	}
	datasets := "/v1.0/myorg/groups/" + Workspace + "/datasets"
	s.mux.HandleFunc("POST /{tenant}/oauth2/v2.0/token", s.login)
	s.mux.HandleFunc("POST "+datasets+"/{dataset}/tables/{table}/rows", s.authorized(s.posted))
	s.mux.HandleFunc("POST "+datasets+"/{dataset}/executeQueries", s.authorized(s.answer))
	s.mux.HandleFunc("POST "+datasets, s.authorized(s.create))
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, http.StatusNotFound, "NotFound", "no such resource: "+r.Method+" "+r.URL.Path)
	})
	return s
}

// ServeHTTP answers, or breaks the connection if a Fault says so.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// RoundTrip answers in the caller's goroutine, so that a synctest bubble can use it.
func (s *Server) RoundTrip(r *http.Request) (response *http.Response, err error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	if r.Body != nil {
		defer r.Body.Close()
	}
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	defer func() {
		switch cause := recover(); cause {
		case nil:
		case http.ErrAbortHandler:
			response, err = nil, io.ErrUnexpectedEOF
		default:
			panic(cause)
		}
	}()
	s.ServeHTTP(w, r.Clone(r.Context()))
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Header: w.header, Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()),
	}, nil
}

type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header         { return w.header }
func (w *recorder) WriteHeader(status int)      { w.status = status }
func (w *recorder) Write(b []byte) (int, error) { return w.body.Write(b) }

// Start listens on a free port of this machine. The URL is both BaseURL and
// LoginURL. Stop stops listening.
func (s *Server) Start() (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	return "http://" + listener.Addr().String(), func() {
		_ = server.Close()
		<-done
	}, nil
}

// Counts returns how often each kind of request came.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := s.counts
	for _, t := range s.tables {
		counts.Rows += len(t.rows)
	}
	return counts
}

// Violations returns what a correct client does not send: requests beyond the
// limits, with unknown columns, with wrong types, or of another form. An expired
// token is not a violation.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

// Rows returns the rows of the current dataset's table in the order of their posts.
func (s *Server) Rows(table string) []fact.Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[table]
	if t == nil {
		return nil
	}
	rows := make([]fact.Row, len(t.rows))
	for i, r := range t.rows {
		rows[i], _ = decode(r.raw) // it was decoded before
	}
	return rows
}

// Keys returns how many rows of the current dataset's table have each key.
func (s *Server) Keys(table string) map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	keys := map[string]int{}
	if t := s.tables[table]; t != nil {
		for _, r := range t.rows {
			keys[r.key]++
		}
	}
	return keys
}

// refuse answers a request that a correct client does not send.
func (s *Server) refuse(w http.ResponseWriter, status int, code, message string) {
	s.mu.Lock()
	s.violations = append(s.violations, fmt.Sprintf("%d %s: %s", status, code, message))
	s.mu.Unlock()
	fail(w, status, code, message)
}

// fail answers with an error in Power BI's form.
func fail(w http.ResponseWriter, status int, code, message string) {
	reply(w, status, map[string]any{"error": map[string]string{"code": code, "message": message}})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	if body != nil {
		_ = json.NewEncoder(w).Encode(body) // the client may have gone
	}
}

// errForm is the error for a body with more than one JSON value.
var errForm = errors.New("the body is not one JSON value")

// decodeBody reads one JSON value with known fields only.
func decodeBody(r *http.Request, to any) error {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errForm
	}
	return nil
}

// names returns a map's keys, sorted, for messages.
func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
