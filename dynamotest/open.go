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

// endpointVariable is the name of the environment variable that [Open] reads.
const endpointVariable = "DYNAMODB_ENDPOINT"

// DB is a database for one test: a server in this process, or some tables on
// the endpoint in DYNAMODB_ENDPOINT. If the DB has a server, the DB and the
// server share one Tap: both count the same requests, and a fault of the DB is also
// a fault of the server.
type DB struct {
	tap    *Tap
	t      testing.TB
	client *dynamodb.Client
	server *Server // nil on an endpoint
	prefix string  // of table names; "" in process

	mu    sync.Mutex
	names map[string]bool // tables to delete at the end
}

// Open returns a database for the test. If DYNAMODB_ENDPOINT is set, the
// database is on that endpoint, otherwise in process. The endpoint must work
// without an account, as DynamoDB Local does. DYNAMODB_ENDPOINT is a URL such
// as http://127.0.0.1:8000; a malformed URL fails the test. On an endpoint, the
// tables with names from [DB.Name] are deleted at the end of the test, even if they
// are protected against deletion.
//
// An endpoint deletes expired items by the wall clock. So give events times
// that are not in the past, and test expiry only on tables with TTL off.
//
// The options, such as [MaxBackoff], configure the client on every backend.
func Open(t testing.TB, options ...func(*dynamodb.Options)) *DB {
	t.Helper()
	endpoint := os.Getenv(endpointVariable)
	if endpoint == "" {
		return inProcess(t, nil, options...)
	}

	if err := checkEndpoint(endpointVariable, endpoint); err != nil {
		t.Fatal(err)
	}

	tap := NewTap()
	client := Connect(endpoint, append(slices.Clone(options), tap.Attach)...)
	db := &DB{tap: tap, t: t, client: client, prefix: randomPrefix(t), names: map[string]bool{}}
	t.Cleanup(db.finish)

	return db
}

// checkEndpoint returns an error if the endpoint is malformed. The SDK would
// notice only when it sends a request, and would then report a URL that it
// built itself.
func checkEndpoint(from, endpoint string) error {
	shown := endpoint
	if at := strings.LastIndex(endpoint, "@"); at >= 0 {
		shown = "…" + endpoint[at:] // the text before it may be a password
	}

	wrong := func(reason string) error {
		return fmt.Errorf("dynamotest: %s is %q: it %s", from, shown, reason)
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
		return wrong("must have no user: the client makes up its credentials")
	case u.Hostname() == "":
		return wrong("must name a host")
	case u.RawQuery != "" || u.ForceQuery:
		return wrong("must have no query")
	case u.Fragment != "":
		return wrong("must have no fragment")
	}
	return nil
}

// New returns a database for the test, always in process. A nil Config is the
// zero Config. Outside a synctest bubble set its MaxBackoff, or the SDK may wait
// for seconds after each lost reply.
func New(t testing.TB, cfg *Config) *DB {
	t.Helper()
	return inProcess(t, cfg)
}

// Use returns a database for the test. The database is on an existing server,
// such as a fork or a server with a data file.
//
//	db := dynamotest.Use(t, seeded.Fork())
//
// A fault that never fired fails the test, as with [New], even if it was injected
// through the Server. All faults end with the test. So only one test at a time
// may use a server. The server keeps its data after the test. If the server has a
// data file, the caller must close the server.
func Use(t testing.TB, srv *Server) *DB { return use(t, srv) }

func inProcess(t testing.TB, cfg *Config, options ...func(*dynamodb.Options)) *DB {
	return use(t, NewServer(cfg), options...)
}

func use(t testing.TB, server *Server, options ...func(*dynamodb.Options)) *DB {
	db := &DB{tap: server.tap, t: t, client: server.Client(options...), server: server, names: map[string]bool{}}
	t.Cleanup(db.finish)
	return db
}

// MaxBackoff is a client option for any endpoint. It sets the longest time that
// the client waits before it sends a request again. [Config].MaxBackoff sets
// this time for all clients from [Server.Client] and [DB.Client].
//
//	db := dynamotest.Open(t, dynamotest.MaxBackoff(time.Millisecond))
func MaxBackoff(longest time.Duration) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) { o.Retryer = retry.AddWithMaxBackoffDelay(o.Retryer, longest) }
}

// Client returns the client. It is safe for concurrent use and has the SDK's
// own retries.
func (db *DB) Client() *dynamodb.Client { return db.client }

// Name returns the name under which the test creates the table. In process, it
// is the given name. On an endpoint, it is a name that no other test has.
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

// InProcess reports whether the database is a server of this process. Only with
// such a server can tests rely on the server's clock, on the prices of refused
// requests and on the TTL sweep.
func (db *DB) InProcess() bool { return db.server != nil }

// Server returns the server in this process, or nil on an endpoint.
func (db *DB) Server() *Server { return db.server }

// Tap returns the Tap of the client.
func (db *DB) Tap() *Tap { return db.tap }

// Heal removes all faults. A fault that never fired fails the test. To get the
// messages without failing the test, call db.Tap().Heal().
func (db *DB) Heal() {
	db.t.Helper()
	for _, idle := range db.tap.Heal() {
		db.t.Error("dynamotest: " + idle)
	}
}

// Meter is [Tap.Meter] of the client's Tap.
func (db *DB) Meter(f func()) Cost { return db.tap.Meter(f) }

// Inject is like [Tap.Inject], but fails the test where Tap.Inject panics.
func (db *DB) Inject(f Fault) {
	db.t.Helper()
	if err := db.tap.inject(f); err != nil {
		db.t.Fatal(err)
	}
}

// finish fails the test if a fault never fired, and deletes its tables.
func (db *DB) finish() {
	db.Heal()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for name := range db.names {
		// The table does not exist if the test failed early.
		if err := db.drop(ctx, name); err != nil && !strings.Contains(err.Error(), "ResourceNotFound") {
			db.t.Logf("dynamotest: %v", err)
		}
	}
}

// drop deletes a table. If DynamoDB calls that invalid, the table is protected, and
// drop switches the protection off first.
func (db *DB) drop(ctx context.Context, name string) error {
	in := &dynamodb.DeleteTableInput{TableName: &name}
	_, err := db.client.DeleteTable(ctx, in)
	if err == nil || !strings.Contains(err.Error(), "ValidationException") {
		return err
	}
	if _, err := db.client.UpdateTable(ctx, &dynamodb.UpdateTableInput{TableName: &name, DeletionProtectionEnabled: aws.Bool(false)}); err != nil {
		return err
	}

	active := dynamodb.NewTableExistsWaiter(db.client, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay = 100 * time.Millisecond })
	if err := active.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, createWithin); err != nil {
		return err
	}

	_, err = db.client.DeleteTable(ctx, in)
	return err
}

func randomPrefix(t testing.TB) string {
	var b [6]byte
	if _, err := rand.Read(b[:]); err != nil {
		t.Fatal(err)
	}
	return "t" + hex.EncodeToString(b[:]) + "-"
}
