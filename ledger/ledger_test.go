package ledger_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
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

func newBench(t *testing.T) *bench {
	t.Helper()
	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond), pricetest.Watch)
	b := &bench{
		db:     db,
		client: db.Client(),
		table:  db.Name("QuillIdempotencyLedger"),
		clock:  &clock{at: time.Now().Truncate(time.Second)},
	}
	recordtest.Create(t, b.client, b.store(t, ledger.Config{}).Table())
	return b
}

// opened is a ledger on a bench of its own.
func opened(t *testing.T, cfg ledger.Config) (*bench, *ledger.Store) {
	t.Helper()
	b := newBench(t)
	return b, b.store(t, cfg)
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
		"retention at its shortest": {"ledger", &ledger.Config{Retention: 70 * time.Second, Lease: time.Minute, MaxSkew: 10 * time.Second}, ""},
		"skew of the whole grace":   {"ledger", &ledger.Config{MaxSkew: time.Hour}, ""},
		"no table":                  {"", nil, "table"},
		"negative retention":        {"ledger", &ledger.Config{Retention: -1}, "Config.Retention"},
		"retention under the skew":  {"ledger", &ledger.Config{Retention: 70*time.Second - 1, Lease: time.Minute, MaxSkew: 10 * time.Second}, "Config.Retention"},
		"lease beyond all time":     {"ledger", &ledger.Config{Lease: 1<<63 - 1}, "Config.Retention"},
		"retention beyond 9999":     {"ledger", &ledger.Config{Retention: 1<<63 - 1, Now: func() time.Time { return time.Date(9800, 1, 1, 0, 0, 0, 0, time.UTC) }}, "Config.Retention"},
		"lease under a second":      {"ledger", &ledger.Config{Lease: time.Second - 1}, "Config.Lease"},
		"skew over the grace":       {"ledger", &ledger.Config{MaxSkew: time.Hour + 1}, "Config.MaxSkew"},
		"negative attempts":         {"ledger", &ledger.Config{MaxAttempts: -1}, "Config.MaxAttempts"},
		"a name that is kept":       {"ledger", &ledger.Config{Names: map[string]string{"pk": "seenAt"}}, `Config.Names["pk"]`},
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

func (b *bench) remove(t *testing.T, key string) {
	t.Helper()
	recordtest.Delete(t, b.client, b.table, ddb.Item{"pk": item.S(key)})
}

// goldenDay is when the rows of testdata were written.
var goldenDay = time.Date(2026, 3, 29, 12, 0, 0, 0, time.UTC)

// goldenBench is a bench whose clock stands at goldenDay, and a ledger whose
// nonces are the same in every run.
func goldenBench(t *testing.T) (*bench, *ledger.Store) {
	t.Helper()
	b := newBench(t)
	b.clock.at = goldenDay
	return b, b.store(t, ledger.Config{Rand: strings.NewReader("nonce of claim 1nonce of claim 2")})
}

// The rows as they are stored, one for each state, and as Get reads them.
func TestGoldenRows(t *testing.T) {
	t.Parallel()
	seen := goldenDay
	until := goldenDay.Add(14 * 24 * time.Hour)
	for name, tc := range map[string]struct {
		write func(*testing.T, *ledger.Store)
		want  ledger.Record
	}{
		"marked": {
			func(t *testing.T, store *ledger.Store) { wantMark(t, store, order.Key, event.Created) },
			ledger.Record{State: ledger.Done},
		},
		"claimed": {
			func(t *testing.T, store *ledger.Store) { mustClaim(t, store, order) },
			ledger.Record{State: ledger.Claimed, Lease: goldenDay.Add(time.Minute), Fence: 1774785600001, Attempts: 1, Fingerprint: orderHash},
		},
		"failed": {
			func(t *testing.T, store *ledger.Store) {
				must(t, mustClaim(t, store, order).Fail(t.Context(), errors.New("no connection")))
			},
			ledger.Record{State: ledger.Failed, LastError: "no connection", Fence: 1774785600001, Attempts: 1, Fingerprint: orderHash},
		},
		"done": {
			func(t *testing.T, store *ledger.Store) {
				must(t, mustClaim(t, store, order).Fail(t.Context(), errors.New("no connection")))
				must(t, mustClaim(t, store, order).Complete(t.Context(), receipt{ID: "r-1", Cents: 1200}))
			},
			ledger.Record{State: ledger.Done, Result: []byte(`{"ID":"r-1","Cents":1200}`), Fence: 1774785600002, Attempts: 2, Fingerprint: orderHash},
		},
		"refused": {
			func(t *testing.T, store *ledger.Store) {
				must(t, mustClaim(t, store, order).Fail(t.Context(), ledger.Permanent(errors.New("card declined"))))
			},
			ledger.Record{State: ledger.Refused, LastError: "card declined", Fence: 1774785600001, Attempts: 1, Fingerprint: orderHash},
		},
		"coded": {
			func(t *testing.T, store *ledger.Store) {
				bad := fmt.Errorf("%w: charging: %w", event.ErrTooOld, event.BadInput("counter", "Take.Cap", "must not be negative"))
				must(t, mustClaim(t, store, order).Fail(t.Context(), ledger.Permanent(bad)))
			},
			ledger.Record{
				State: ledger.Refused, LastError: "event: too old to judge: charging: counter: Take.Cap must not be negative",
				Fence: 1774785600001, Attempts: 1, Fingerprint: orderHash,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, store := goldenBench(t)
			tc.write(t, store)
			golden.Want(t, b.client, b.table, "testdata/"+name+".json", "pk")
			tc.want.Key, tc.want.Source, tc.want.SeenAt, tc.want.ExpiresAt = order.Key, "ALOWARE", seen, until
			tc.want.Nonce = item.Text(golden.Item(t, "testdata/"+name+".json"), "claim")
			if diff := cmp.Diff(tc.want, mustGet(t, store, order.Key)); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
		})
	}
}

// The row of the older system, as its documentation gives it: done without a
// result while it lives, and replaced when it has expired.
func TestTypeScriptRow(t *testing.T) {
	t.Parallel()
	b, store := goldenBench(t)
	golden.Put(t, b.client, b.table, "testdata/typescript.json")
	want := ledger.Record{
		Key: order.Key, State: ledger.Done, Source: "ALOWARE",
		SeenAt: time.Date(2026, 3, 15, 12, 0, 1, 0, time.UTC), ExpiresAt: goldenDay.Add(time.Second),
	}
	if diff := cmp.Diff(want, mustGet(t, store, order.Key)); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	wantDone(t, b.store(t, ledger.Config{}), order, "")
	wantMark(t, b.store(t, ledger.Config{}), order.Key, event.Duplicate)
	golden.Want(t, b.client, b.table, "testdata/typescript.json", "pk") // untouched

	b.clock.Add(time.Second)
	mustClaim(t, b.store(t, ledger.Config{}), order)
	if r := mustGet(t, store, order.Key); r.Attempts != 1 || !r.SeenAt.Equal(b.clock.Now()) {
		t.Errorf("something of the old life is left: %+v", r)
	}
}

// A row that this version cannot read is trouble, never a guess.
func TestUnreadableRows(t *testing.T) {
	t.Parallel()
	b, store := opened(t, ledger.Config{})
	for name, broken := range map[string]ddb.Item{
		"unknown state":    {"state": item.S("paused")},
		"fence is text":    {"fence": item.S("1")},
		"lease is text":    {"lease": item.S("1")},
		"expiry is text":   {"expiresAt": item.S("soon")},
		"seen never":       {"seenAt": item.S("yesterday")},
		"fingerprint text": {"fingerprint": item.S("abc")},
	} {
		row := ddb.Item{"pk": item.S(name), "claim": item.S("x"), "state": item.S("done"), "expiresAt": item.N(b.clock.Now().Add(2 * time.Hour).Unix())}
		for attribute, value := range broken {
			row[attribute] = value
		}
		b.put(t, row)
		if c, err := store.Claim(t.Context(), ledger.Request{Key: name}); c != nil || !isTrouble(err) {
			t.Errorf("%s: Claim = %v, %v", name, c, err)
		}
		if r, ok, err := store.Get(t.Context(), name); ok || !isTrouble(err) {
			t.Errorf("%s: Get = %v, %v, %v", name, r, ok, err)
		}
	}
}

// isTrouble tells an error from the ledger's answers.
func isTrouble(err error) bool {
	return err != nil && !isDone(err) && !isBusy(err) && !errors.Is(err, ledger.ErrFingerprintMismatch) && strings.Contains(err.Error(), "on table")
}

func TestSourceIsTheFirstPart(t *testing.T) {
	t.Parallel()
	_, store := opened(t, ledger.Config{})
	for _, tc := range []struct {
		parts []string
		want  string
	}{
		{[]string{"a:b%3A", "c"}, "a:b%3A"},
		{[]string{"x" + strings.Repeat("ö", 40), "c"}, "x" + strings.Repeat("ö", 31)},
	} {
		key, err := ledger.Key(tc.parts...)
		must(t, err)
		wantMark(t, store, key, event.Created)
		if got := mustGet(t, store, key).Source; got != tc.want {
			t.Errorf("source of %q: %q, want %q", key, got, tc.want)
		}
	}
}
