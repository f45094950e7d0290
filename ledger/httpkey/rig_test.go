package httpkey_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/ledger/httpkey"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// pipes is a network inside the process, so that a bubble of testing/synctest can hold a
// real client and a real server.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	p <- there
	return here, nil
}

// shop is a server with one handler behind keys, and a client.
type shop struct {
	db      *dynamotest.DB
	answers *ledger.Store
	client  *http.Client
	runs    atomic.Int64 // of the handler
	adds    bool         // sell adds to the answer
}

// open starts a shop whose handler is h, or counts and says what it was sent.
func open(t *testing.T, cfg *httpkey.Config, h http.HandlerFunc) *shop {
	t.Helper()
	s := &shop{db: dynamotest.New(t, &dynamotest.Config{MaxBackoff: time.Millisecond})}
	var err error
	s.answers, err = ledger.New(s.db.Client(), "answers", nil)
	keys, bad := httpkey.New(s.answers, func(r *http.Request) string { return r.Header.Get("Customer") }, cfg)
	if err := errors.Join(err, bad); err != nil {
		t.Fatal(err)
	}
	s.db.Create(s.answers.Table())
	s.db.Create(schema.Table{Name: "sold", Key: schema.Key{Partition: schema.String("pk")}})
	if h == nil {
		h = s.sell
	}
	count := func(w http.ResponseWriter, r *http.Request) { s.runs.Add(1); h(w, r) }
	network := make(pipes)
	server := &http.Server{Handler: keys.Handler(http.HandlerFunc(count)), ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = server.Serve(network) }()
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.client = &http.Client{Transport: &http.Transport{DialContext: network.dial}, CheckRedirect: stay}
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		_ = server.Close()
	})
	return s
}

// sell is a handler whose answer tells one run from another, and cannot be stored as
// text. It may add a lamp, and a shade until none is left.
func (s *shop) sell(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if c, ok := httpkey.FromContext(r.Context()); ok && s.adds {
		err := httpkey.Add(r.Context(), piece("lamp", 100))
		switch reasons := c.Reasons(); {
		case reasons == nil:
			err = errors.Join(err, httpkey.Add(r.Context(), piece("shade", 1)))
		case len(reasons) != 2 || aws.ToString(reasons[0].Code) != "None" || aws.ToString(reasons[1].Code) != "ConditionalCheckFailed":
			err = errors.New("wrong reasons")
		}
		if err != nil {
			panic(err)
		}
	}
	w.Header().Set("Location", "/orders/"+time.Now().Format(time.RFC3339Nano))
	w.Header().Add("Link", "</a>")
	w.Header().Add("Link", "</b>")
	w.Header().Set("Set-Cookie", "session=1")
	w.WriteHeader(http.StatusCreated)
	_, _ = w.Write(append([]byte("\xff<sold> "), body...))
}

// answer is all that a client sees.
type answer struct {
	Status int
	Header http.Header
	Body   string
}

func (a answer) replayed() bool { return a.Header.Get("Idempotent-Replayed") == "true" }

// try sends a POST of ann's, with the key k-1 unless it is changed.
func (s *shop) try(t *testing.T, change ...func(*http.Request)) (answer, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://shop/orders?n=1", strings.NewReader("lamp"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Customer", "ann")
	r.Header.Set("Idempotency-Key", `"k-1"`)
	for _, f := range change {
		f(r)
	}
	res, err := s.client.Do(r)
	if err != nil {
		return answer{}, err
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	res.Header.Del("Date")
	return answer{res.StatusCode, res.Header, string(body)}, err
}

// want posts, and checks the status and how often the handler ran since the beginning.
func (s *shop) want(t *testing.T, status int, runs int64, change ...func(*http.Request)) answer {
	t.Helper()
	a, err := s.try(t, change...)
	if got := s.runs.Load(); err != nil || a.Status != status || got != runs {
		t.Errorf("answered %d after %d runs, want %d after %d: %s, %v", a.Status, got, status, runs, a.Body, err)
	}
	return a
}

func key(k string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Idempotency-Key", k) }
}

func text(body string) func(*http.Request) {
	return func(r *http.Request) {
		r.Body, r.ContentLength, r.GetBody = io.NopCloser(strings.NewReader(body)), int64(len(body)), nil
	}
}

// piece adds one piece to what was sold, up to most.
func piece(what string, most int64) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{
		TableName: aws.String("sold"), Key: record.Item{"pk": record.Text(what)},
		UpdateExpression:          aws.String("ADD pieces :one"),
		ConditionExpression:       aws.String("attribute_not_exists(pieces) OR pieces < :most"),
		ExpressionAttributeValues: record.Item{":one": record.Int(1), ":most": record.Int(most)},
	}}
}

func (s *shop) sold(t *testing.T, lamps, shades int64) {
	t.Helper()
	sold := map[string]int64{}
	for _, row := range s.db.Items("sold") {
		sold[record.Read(row).Text("pk")] = record.Read(row).Int("pieces")
	}
	if sold["lamp"] != lamps || sold["shade"] != shades {
		t.Errorf("sold %v, want %d and %d", sold, lamps, shades)
	}
}
