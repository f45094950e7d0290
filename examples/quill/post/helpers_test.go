package post_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/post"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi"
	"github.com/homeops/ddbpatterns/examples/quill/powerbi/powerbitest"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// clock advances when somebody sleeps, and by a millisecond at each reading.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time { return c.advance(time.Millisecond) }

func (c *clock) advance(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.advance(d)
	return ctx.Err()
}

// env is an outbox, a ledger and an imitated Power BI, with one clock.
type env struct {
	t      *testing.T
	clock  *clock
	db     *dynamotest.DB
	bi     *powerbitest.Server
	outbox *outbox.Store
	tally  *post.Tally

	tolerates string // the status of violations that the test is about
}

func open(t *testing.T, cfg powerbitest.Config) *env {
	t.Helper()
	e := &env{t: t, clock: &clock{now: noon}, tally: &post.Tally{}}
	e.db = dynamotest.New(t, &dynamotest.Config{Now: e.clock.Now, MaxBackoff: time.Millisecond})
	cfg.Now = e.clock.Now
	e.bi = powerbitest.New(cfg)
	e.outbox = e.store(e.db.Client())
	if err := schema.Create(t.Context(), e.db.Client(), e.outbox.Table(), e.lease(e.db.Client()).Table()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, v := range e.bi.Violations() {
			if e.tolerates != "" && strings.HasPrefix(v, e.tolerates) {
				continue
			}
			t.Errorf("Power BI: %s", v)
		}
	})
	return e
}

func (e *env) store(api outbox.API) *outbox.Store {
	e.t.Helper()
	s, err := outbox.New(api, "QuillFacts", &outbox.Config{Now: e.clock.Now})
	if err != nil {
		e.t.Fatal(err)
	}
	return s
}

func (e *env) lease(api ledger.API) *ledger.Store {
	e.t.Helper()
	s, err := post.NewLease(api, "QuillIdempotencyLedger", &ledger.Config{Now: e.clock.Now})
	if err != nil {
		e.t.Fatal(err)
	}
	return s
}

func (e *env) client() *powerbi.Client {
	return &powerbi.Client{
		Tenant: powerbitest.Tenant, ID: powerbitest.ID, Secret: powerbitest.Secret,
		Workspace: powerbitest.Workspace, Dataset: powerbitest.Dataset,
		HTTP: &http.Client{Transport: e.bi}, Now: e.clock.Now,
	}
}

// poster is a new process.
func (e *env) poster() *post.Poster { return e.posterOf(&hooked{Sink: e.client()}) }

func (e *env) posterOf(s sink.Sink) *post.Poster {
	return &post.Poster{Lease: e.lease(e.db.Client()), Outbox: e.outbox, Sink: s, Clock: e.clock, Tally: e.tally}
}

// put stores facts, as the intake does.
func (e *env) put(facts ...fact.Fact) {
	e.t.Helper()
	for _, f := range facts {
		i, err := e.outbox.PutItem(f)
		if err != nil {
			e.t.Fatal(err)
		}
		_, err = e.db.Client().TransactWriteItems(e.t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{i.Item}})
		if err != nil {
			e.t.Fatal(err)
		}
	}
}

// sums are what all posters wrote down.
func (e *env) sums() outbox.Sums {
	e.t.Helper()
	p, err := e.outbox.LoadPoster(e.t.Context())
	late, err2 := e.outbox.Late(e.t.Context())
	if err := errors.Join(err, err2); err != nil {
		e.t.Fatal(err)
	}
	return p.Sums.Plus(late)
}

func (e *env) pending() int {
	e.t.Helper()
	n, err := e.outbox.Waiting(e.t.Context(), fact.FactTables...)
	if err != nil {
		e.t.Fatal(err)
	}
	return n
}

func (e *env) drain(p *post.Poster) {
	e.t.Helper()
	if err := p.Drain(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
}

// wantOnce fails unless the sink has each fact once, and nothing is pending.
func (e *env) wantOnce(facts ...fact.Fact) {
	e.t.Helper()
	if again := e.extra(facts...); again > 0 {
		e.t.Errorf("%d facts are in the sink twice", again)
	}
}

// extra fails unless the sink has each fact and nothing is pending. It returns how
// many facts the sink has twice. Three times is a failure.
func (e *env) extra(facts ...fact.Fact) int {
	e.t.Helper()
	if n := e.pending(); n > 0 {
		e.t.Errorf("%d facts are pending", n)
	}
	keys := map[string]map[string]int{}
	extra, total := 0, map[string]int{}
	for _, f := range facts {
		if keys[f.Table] == nil {
			keys[f.Table] = e.bi.Keys(f.Table)
		}
		n := keys[f.Table][f.Key]
		if n < 1 || n > 2 {
			e.t.Errorf("%s is in the sink %d times", f.Key, n)
		}
		extra += max(0, n-1)
		total[f.Table]++
	}
	for table, want := range total {
		if got := len(keys[table]); got != want {
			e.t.Errorf("%s has %d keys, want %d", table, got, want)
		}
	}
	return extra
}

func call(n int) fact.Fact {
	return fact.Fact{
		Key: fmt.Sprint("ALOWARE:CALL:", n), Table: fact.Communications, At: noon.Add(time.Duration(n) * time.Second),
		Row: fact.Row{"kind": "call", "id": fmt.Sprint(n), "seconds": json.Number("33"), "user": ""},
		Dimension: &fact.Dimension{
			Key: fmt.Sprint("ALOWARE:CONTACT:", n%3), Table: fact.Contacts,
			Row: fact.Row{"firstName": "Dee", "stage": fmt.Sprint("stage ", n/3)},
		},
	}
}

func change(n int) fact.Fact {
	return fact.Fact{
		Key: fmt.Sprint("HUBSPOT:1:2:deal.propertyChange:", n), Table: fact.Changes, At: noon.Add(time.Duration(n) * time.Minute),
		Row: fact.Row{"portal": "1", "type": "deal.propertyChange", "object": "9", "property": "amount", "value": fmt.Sprint(n)},
		Dimension: &fact.Dimension{
			Key: "HUBSPOT:DEAL:9", Table: fact.Deals, Row: fact.Row{"amount": json.Number(fmt.Sprint(100 + n))},
		},
	}
}

// mixed returns n calls and n changes.
func mixed(n int) []fact.Fact {
	var facts []fact.Fact
	for i := range n {
		facts = append(facts, call(i), change(i))
	}
	return facts
}

// hooked is a sink whose calls and limits a test changes.
type hooked struct {
	sink.Sink
	limits sink.Limits
	post   func(next func() error) error
	posted func(next func() error) error
	refuse func(table string, rows []fact.Row) error
	sizes  []int
}

func (h *hooked) Limits() sink.Limits {
	if h.limits != (sink.Limits{}) {
		return h.limits
	}
	return h.Sink.Limits()
}

func (h *hooked) Post(ctx context.Context, table string, rows []fact.Row) error {
	h.sizes = append(h.sizes, len(rows))
	if h.refuse != nil {
		if err := h.refuse(table, rows); err != nil {
			return err
		}
	}
	next := func() error { return h.Sink.Post(ctx, table, rows) }
	if h.post != nil {
		return h.post(next)
	}
	return next()
}

func (h *hooked) Posted(ctx context.Context, table, batch string) (keys []string, err error) {
	next := func() error {
		keys, err = h.Sink.Posted(ctx, table, batch)
		return err
	}
	if h.posted != nil {
		err = h.posted(next)
	} else {
		err = next()
	}
	if err != nil {
		return nil, err
	}
	return keys, nil
}

var errDead = errors.New("the process has ended")
