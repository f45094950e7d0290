package ledger_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/pricetest"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/ledger"
)

// clock is a clock that stands until it is moved.
type clock struct {
	mu sync.Mutex // guards at
	at time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// bench is a ledger of a test: its database, its table and its clock.
type bench struct {
	db     *dynamotest.DB
	client *dynamodb.Client // db's, which does not wait long before it tries again
	table  string
	clock  *clock
}

// newBench creates the table with TTL off: the tests move the ledger's clock
// and not the server's, and an expired row must stay.
// denied refuses a request.
var denied = dynamotest.Answer(400, `{"__type": "AccessDeniedException"}`)

func isDenied(err error) bool {
	return err != nil && strings.Contains(err.Error(), "AccessDeniedException")
}

func newBench(t *testing.T) *bench {
	t.Helper()
	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond), pricetest.Watch)
	b := &bench{
		db:     db,
		client: db.Client(),
		table:  db.Name("QuillIdempotencyLedger"),
		clock:  &clock{at: time.Now().Truncate(time.Second)},
	}
	b.create(t)
	return b
}

// opened is a ledger on a bench of its own.
func opened(t *testing.T, cfg ledger.Config) (*bench, *ledger.Store) {
	t.Helper()
	b := newBench(t)
	return b, b.store(t, cfg)
}

func (b *bench) create(t *testing.T) {
	t.Helper()
	recordtest.Create(t, b.client, b.store(t, ledger.Config{}).Table())
}

// store returns a ledger in the table. The clock is the bench's unless set.
func (b *bench) store(t *testing.T, cfg ledger.Config) *ledger.Store {
	t.Helper()
	if cfg.Now == nil {
		cfg.Now = b.clock.Now
	}
	s, err := ledger.New(b.client, b.table, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ops is the store for people.
func (b *bench) ops(t *testing.T, store *ledger.Store) *ledger.Operators {
	t.Helper()
	ops, err := store.Operators(b.client)
	must(t, err)
	return ops
}

// put stores a row as it is.
func (b *bench) put(t *testing.T, it ddb.Item) {
	t.Helper()
	recordtest.Put(t, b.client, b.table, it)
}

// row reads a row as it is stored.
func (b *bench) row(t *testing.T, key string) ddb.Item {
	t.Helper()
	return recordtest.Row(t, b.client, b.table, ddb.Item{"pk": item.S(key)})
}

func TestNewFillsAndRefuses(t *testing.T) {
	t.Parallel()
	client := dynamotest.Connect("http://127.0.0.1:1")
	for name, tc := range map[string]struct {
		table string
		cfg   *ledger.Config
		field string
	}{
		"nil config":                {"ledger", nil, ""},
		"retention at its shortest": {"ledger", &ledger.Config{Retention: 70 * time.Second, Lease: time.Minute, MaxSkew: 10 * time.Second}, ""},
		"skew of the whole grace":   {"ledger", &ledger.Config{MaxSkew: time.Hour}, ""},
		"no table":                  {"", nil, "table"},
		"negative retention":        {"ledger", &ledger.Config{Retention: -1}, "Config.Retention"},
		"retention under the skew":  {"ledger", &ledger.Config{Retention: 70*time.Second - 1, Lease: time.Minute, MaxSkew: 10 * time.Second}, "Config.Retention"},
		"lease beyond all time":     {"ledger", &ledger.Config{Lease: 1<<63 - 1}, "Config.Retention"},
		"retention beyond 9999":     {"ledger", &ledger.Config{Retention: 1<<63 - 1, Now: func() time.Time { return time.Date(9800, 1, 1, 0, 0, 0, 0, time.UTC) }}, "Config.Retention"},
		"lease under a second":      {"ledger", &ledger.Config{Lease: time.Second - 1}, "Config.Lease"},
		"skew over the grace":       {"ledger", &ledger.Config{MaxSkew: time.Hour + 1}, "Config.MaxSkew"},
		"negative result":           {"ledger", &ledger.Config{MaxResult: -1}, "Config.MaxResult"},
		"result over an item":       {"ledger", &ledger.Config{MaxResult: 400 << 10}, "Config.MaxResult"},
	} {
		store, err := ledger.New(client, tc.table, tc.cfg)
		if tc.field == "" {
			if err != nil || store == nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		recordtest.WantBad(t, err, "ledger", tc.field, name)
		if store != nil {
			t.Errorf("%s: a store came back with the error", name)
		}
	}
	if _, err := ledger.New(nil, "ledger", nil); err == nil {
		t.Error("a nil api is taken")
	}
}

func TestKeysThatCannotBe(t *testing.T) {
	t.Parallel()
	store, err := ledger.New(recordtest.Silent(t), "ledger", nil)
	must(t, err)
	for name, key := range map[string]string{"empty": "", "too long": strings.Repeat("x", 2049), "not UTF-8": "a\xff"} {
		_, err := store.MarkSeen(t.Context(), key)
		recordtest.WantBad(t, err, "ledger", "key", "MarkSeen "+name)
		_, err = store.MarkItem(key)
		recordtest.WantBad(t, err, "ledger", "key", "MarkItem "+name)
		_, err = store.Claim(t.Context(), ledger.Request{Key: key})
		recordtest.WantBad(t, err, "ledger", "Request.Key", "Claim "+name)
		_, _, err = store.Get(t.Context(), key)
		recordtest.WantBad(t, err, "ledger", "key", "Get "+name)
	}
}

func TestWithoutRandomness(t *testing.T) {
	t.Parallel()
	dry, err := ledger.New(recordtest.Silent(t), "ledger", &ledger.Config{Rand: strings.NewReader("")})
	must(t, err)
	for name, call := range map[string]func() error{
		"Claim":    func() error { _, err := dry.Claim(t.Context(), order); return err },
		"MarkSeen": func() error { _, err := dry.MarkSeen(t.Context(), "k"); return err },
		"MarkItem": func() error { _, err := dry.MarkItem("k"); return err },
	} {
		if err := call(); !errors.Is(err, io.EOF) || !strings.HasPrefix(err.Error(), "ledger: "+name+" on table ledger: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// emptyHash is SHA-256 of nothing.
var emptyHash, _ = hex.DecodeString("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")

// orderHash is SHA-256 of order's payload.
var orderHash = func() []byte { sum := sha256.Sum256([]byte(`{"amount":12}`)); return sum[:] }()

// sweep deletes the row, as TTL does once the server's clock has passed
// expiresAt.
func (b *bench) sweep(t *testing.T, key string) {
	t.Helper()
	if expires := number(t, b.row(t, key), "expiresAt"); b.clock.Now().Unix() < expires {
		t.Fatalf("TTL would not delete it before %d", expires)
	}
	b.remove(t, key)
}

func (b *bench) dropTable(t *testing.T) {
	t.Helper()
	if _, err := b.client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: aws.String(b.table)}); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) remove(t *testing.T, key string) {
	t.Helper()
	recordtest.Delete(t, b.client, b.table, ddb.Item{"pk": item.S(key)})
}
