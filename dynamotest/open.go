package dynamotest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// EndpointVariable names the environment variable that [Open] looks at.
const EndpointVariable = "DYNAMODB_ENDPOINT"

// DB is a database for one test: a server of its own, or a corner of the
// endpoint in DYNAMODB_ENDPOINT. Its Tap is that of its server, if it has one:
// db.Meter and db.Server().Meter are the same, and so are their faults.
type DB struct {
	tap    *Tap
	t      testing.TB
	client *dynamodb.Client
	server *Server // nil on an endpoint
	prefix string  // of table names; "" in process

	mu    sync.Mutex
	names map[string]bool // tables to delete at the end
}

// Open returns a database for the test: in process, or on the endpoint in
// DYNAMODB_ENDPOINT, whose tables of the names from [DB.Name] are deleted at
// the end. The endpoint must be one that asks for no account, such as DynamoDB
// Local: a URL such as http://127.0.0.1:8000. A malformed one fails the test.
//
// On an endpoint time is the wall clock's: date events from now, and test
// expiry on tables with TTL off.
//
// Options are the client's, on every backend, such as [MaxBackoff].
func Open(t testing.TB, options ...func(*dynamodb.Options)) *DB {
	t.Helper()
	endpoint := os.Getenv(EndpointVariable)
	if endpoint == "" {
		return inProcess(t, nil, options...)
	}
	if err := checkEndpoint(endpoint); err != nil {
		t.Fatal(err)
	}
	tap := NewTap()
	client := Connect(endpoint, append(slices.Clone(options), tap.Attach)...)
	db := &DB{tap: tap, t: t, client: client, prefix: randomPrefix(t), names: map[string]bool{}}
	t.Cleanup(db.finish)
	return db
}

// checkEndpoint says what is wrong with the endpoint. The SDK would find it
// only when it sends a request, and then speak of a URL of its own making.
func checkEndpoint(endpoint string) error {
	shown := endpoint
	if at := strings.LastIndex(endpoint, "@"); at >= 0 {
		shown = "…" + endpoint[at:] // what stands before it may be a password
	}
	wrong := func(reason string) error {
		return fmt.Errorf("dynamotest: %s is %q: it %s", EndpointVariable, shown, reason)
	}
	if scheme, _, _ := strings.Cut(strings.ToLower(endpoint), ":"); scheme != "http" && scheme != "https" {
		return wrong("must begin with http:// or https://")
	}
	u, err := url.Parse(endpoint)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return wrong("cannot be parsed: " + failed.Err.Error())
	}
	switch {
	case u.User != nil:
		return wrong("must name no user: credentials are made up")
	case u.Hostname() == "":
		return wrong("must name a host")
	case u.RawQuery != "" || u.ForceQuery:
		return wrong("must have no query")
	case u.Fragment != "":
		return wrong("must have no fragment")
	}
	return nil
}

// New returns a database for the test, always in process. A nil Config works.
func New(t testing.TB, cfg *Config) *DB {
	t.Helper()
	return inProcess(t, cfg)
}

// Use returns a database for the test on an existing server: a fork, or one with a
// data file.
//
//	db := dynamotest.Use(t, seeded.Fork())
//
// It does for that server what [New] does for its own: a fault that never fired
// fails the test, whether it was injected through the DB or the Server, and all
// faults end with the test. So only one test at a time may use a server. What the
// server holds stays, and one with a data file is the caller's to close.
func Use(t testing.TB, srv *Server) *DB { return use(t, srv) }

func inProcess(t testing.TB, cfg *Config, options ...func(*dynamodb.Options)) *DB {
	return use(t, NewServer(cfg), options...)
}

func use(t testing.TB, server *Server, options ...func(*dynamodb.Options)) *DB {
	db := &DB{tap: server.tap, t: t, client: server.Client(options...), server: server, names: map[string]bool{}}
	t.Cleanup(db.finish)
	return db
}

// MaxBackoff is an option of a client of any endpoint, as [Config].MaxBackoff is
// of those of a server: the longest that it waits before it sends a request
// again.
//
//	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond))
func MaxBackoff(longest time.Duration) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) { o.Retryer = retry.AddWithMaxBackoffDelay(o.Retryer, longest) }
}

// Client returns the client: safe for concurrent use, with the SDK's own
// retries.
func (db *DB) Client() *dynamodb.Client { return db.client }

// HTTPClient returns what carries the client's requests, for other clients of
// the same backend, such as one of DynamoDB Streams: what they send is metered and
// disturbed, too.
func (db *DB) HTTPClient() dynamodb.HTTPClient { return db.client.Options().HTTPClient }

// Name returns the name under which the test shall create the table: the name
// itself in process, and one that no other test has on an endpoint.
func (db *DB) Name(table string) string {
	if db.prefix == "" {
		return table
	}
	name := db.prefix + table
	db.mu.Lock()
	defer db.mu.Unlock()
	db.names[name] = true
	return name
}

// InProcess reports whether the database is a server of this process, whose
// clock, refusals' prices and TTL sweep tests may rely on.
func (db *DB) InProcess() bool { return db.server != nil }

// Server returns the server in this process, nil on an endpoint.
func (db *DB) Server() *Server { return db.server }

// Tap returns the Tap of the client.
func (db *DB) Tap() *Tap { return db.tap }

// Heal removes all faults. One that never fired fails the test, as it does at the
// test's end: [Tap.Heal] of db.Tap returns what it would say.
func (db *DB) Heal() {
	db.t.Helper()
	for _, idle := range db.tap.Heal() {
		db.t.Error("dynamotest: " + idle)
	}
}

// Meter is [Tap.Meter] of the client's Tap.
func (db *DB) Meter(f func()) Cost { return db.tap.Meter(f) }

// Attach is [Tap.Attach] of the client's Tap.
func (db *DB) Attach(o *dynamodb.Options) { db.tap.Attach(o) }

// Wrap is [Tap.Wrap] of the client's Tap.
func (db *DB) Wrap(next dynamodb.HTTPClient) dynamodb.HTTPClient { return db.tap.Wrap(next) }

// Inject is like [Tap.Inject], but an invalid fault fails the test instead of
// panicking.
func (db *DB) Inject(f Fault) {
	db.t.Helper()
	if err := db.tap.inject(f); err != nil {
		db.t.Fatal(err)
	}
}

// finish fails the test for faults that proved nothing and deletes its tables.
func (db *DB) finish() {
	db.Heal()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for name := range db.names {
		// A test that failed early has not created all its tables.
		_, err := db.client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: aws.String(name)})
		if err != nil && !strings.Contains(err.Error(), "ResourceNotFound") {
			db.t.Logf("dynamotest: %v", err)
		}
	}
}

func randomPrefix(t testing.TB) string {
	var b [6]byte
	if _, err := rand.Read(b[:]); err != nil {
		t.Fatal(err)
	}
	return "t" + hex.EncodeToString(b[:]) + "-"
}
