package limit_test

import (
	"context"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/limit"
)

const tenant = "acme"

// noon is when the tests begin.
var noon = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

// env is a table, and stores of several processes on it.
type env struct {
	*limit.Store
	db    *dynamotest.DB
	table string
	now   time.Time
	seeds byte
}

// shared is a source of randomness for several goroutines.
type shared struct {
	mu   sync.Mutex
	from *rand.ChaCha8
}

func (s *shared) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.from.Read(p)
}

func open(t testing.TB, cfg limit.Config) *env {
	t.Helper()
	return on(t, dynamotest.Open(t, pricetest.Watch), cfg)
}

// inBubble opens a server of this process, for a bubble cannot wait for others.
func inBubble(t testing.TB, cfg limit.Config) *env {
	t.Helper()
	cfg.Now = time.Now
	return on(t, dynamotest.New(t, nil), cfg)
}

func on(t testing.TB, db *dynamotest.DB, cfg limit.Config) *env {
	t.Helper()
	e := &env{db: db, now: noon}
	e.table = e.db.Name("limits")
	e.Store = e.process(t, e.db.Client(), cfg)
	recordtest.Create(t, e.db.Client(), e.Table())
	return e
}

// process is another store, which remembers nothing.
func (e *env) process(t testing.TB, client *dynamodb.Client, cfg limit.Config) *limit.Store {
	t.Helper()
	if cfg.Now == nil {
		cfg.Now = func() time.Time { return e.now }
	}
	if cfg.Rand == nil {
		e.seeds++
		cfg.Rand = &shared{from: rand.NewChaCha8([32]byte{e.seeds})}
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = time.Minute
	}
	s, err := limit.New(recordtest.Impatient(client), e.table, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (e *env) other(t testing.TB) *limit.Store { return e.process(t, e.db.Client(), limit.Config{}) }

// ask is a take of the tenant, by default of 10 a second with a burst of 5.
func ask(weight int64, change ...func(*limit.Take)) limit.Take {
	t := limit.Take{Key: tenant, Limits: []limit.Limit{{Name: "rps", N: 10, Per: time.Second, Burst: 5, Weight: weight}}}
	for _, c := range change {
		c(&t)
	}
	return t
}

func of(ev event.Event) func(*limit.Take) { return func(t *limit.Take) { t.Event = ev } }

func waiting(d time.Duration) func(*limit.Take) { return func(t *limit.Take) { t.Wait = d } }

func ev(t testing.TB, n int) event.Event {
	t.Helper()
	return recordtest.Event(t, noon, "shop", string(rune('a'+n)))
}

func take(t testing.TB, s *limit.Store, ask limit.Take) limit.Grant {
	t.Helper()
	g, err := s.Take(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// granted counts the grants of takes one after the other.
func granted(t testing.TB, s *limit.Store, takes int, a limit.Take) (n int) {
	t.Helper()
	for range takes {
		if take(t, s, a).OK {
			n++
		}
	}
	return n
}

func want(t testing.TB, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func (e *env) row(t testing.TB) ddb.Item { t.Helper(); return e.rowOf(t, tenant) }

func (e *env) rowOf(t testing.TB, key string) ddb.Item {
	t.Helper()
	return recordtest.Row(t, e.db.Client(), e.table, ddb.Item{"pk": item.S("LIMIT#" + key), "sk": item.S("limit")})
}

// kept are the last requests of a client, to be sent once more.
type kept struct {
	sent   []*dynamodb.UpdateItemInput
	silent bool // requests are not sent: yes to all
}

// record notes the updates of a client.
type record struct {
	*dynamodb.Client
	k *kept
}

func (r record) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, opts ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if r.k.sent = append(r.k.sent, in); r.k.silent {
		return &dynamodb.UpdateItemOutput{Attributes: ddb.Item{"l0": in.ExpressionAttributeValues[":entry"]}}, nil
	}
	return r.Client.UpdateItem(ctx, in, opts...)
}

func same(a, b types.AttributeValue) bool { return reflect.DeepEqual(a, b) }
