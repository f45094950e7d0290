package ledger

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/names"
	"github.com/homeops/ddbpatterns/schema"
)

// pkg names the package in errors.
const pkg = "ledger"

// API has the methods of *dynamodb.Client that a Store calls. A wrapper of a client
// must pass on the options of a call: without them, the outcome of each failed
// [Store.MarkSeen] is unknown. It must not edit its inputs, which calls share, and an
// HTTP client must not repeat requests by itself.
type API interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

var _ API = (*dynamodb.Client)(nil)

// Config of a Store. The zero Config works. All writers of a table must agree on
// MaxSkew and Names; in the other fields, each Store goes by its own. A resumed claim
// keeps its lease and retention.
type Config struct {
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time

	// Rand gives the nonces by which a call recognizes its own row. It must be safe for
	// concurrent use. Defaults to crypto/rand.
	Rand io.Reader

	// Names gives attributes other names in the table, each by its name in FORMAT.md:
	// {"pk": "id", "expiresAt": "ttl"}. Errors use the names of FORMAT.md.
	Names map[string]string

	// Retention is how long a key is remembered after the last write to its row, except
	// [Store.Erase] and [Operators.Backfill]. It must be longer than senders redeliver
	// an event, and at least Lease and MaxSkew together, so that no row expires while a
	// worker holds it. It cannot be unlimited; a century will do. Defaults to 14 days.
	Retention time.Duration

	// Lease is how long a claim holds without being renewed; after a crash, the key
	// stays blocked for MaxSkew more. At least 1 second. Defaults to 1 minute.
	Lease time.Duration

	// MaxSkew is the declared bound on the difference between the clocks of any two
	// users of the table. A Claim takes a key over only MaxSkew after the lease. At
	// most an hour. Defaults to 10 seconds.
	MaxSkew time.Duration

	// MaxAttempts is how often a key may be claimed until it completes, not
	// counting claims that were given back. Defaults to 5.
	MaxAttempts int

	// MaxResult bounds the stored result, in bytes of JSON: every replay pays for the
	// size of the row. At most 384 KB. Defaults to 16 KB.
	MaxResult int

	// Errors are the caller's sentinels, each under its code. errors.Is still finds
	// them in a replayed permanent error: see [Permanent]. Rows store the code, so a
	// code must keep its meaning for ever:
	//
	//	Errors: map[string]error{"shop.ErrSoldOut": shop.ErrSoldOut, "counter.ErrFull": counter.ErrFull}
	//
	// A code has 1 to 30 ASCII letters, digits, '.', '_' and '-', and does not begin with
	// "event." or "ledger.".
	Errors map[string]error
}

const (
	defaultRetention   = 14 * 24 * time.Hour
	defaultLease       = time.Minute
	defaultMaxSkew     = 10 * time.Second
	defaultMaxAttempts = 5
	defaultMaxResult   = 16 << 10

	// shortestLease leaves room for a renewal and its retries.
	shortestLease = time.Second
	// mostResult leaves room for the key and the bounded attributes beside it
	// in an item of 400 KB.
	mostResult = 384 << 10
)

func (c *Config) fill() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	c.Retention = cmp.Or(c.Retention, defaultRetention)
	c.Lease = cmp.Or(c.Lease, defaultLease)
	c.MaxSkew = cmp.Or(c.MaxSkew, defaultMaxSkew)
	c.MaxAttempts = cmp.Or(c.MaxAttempts, defaultMaxAttempts)
	c.MaxResult = cmp.Or(c.MaxResult, defaultMaxResult)
	c.Errors = maps.Clone(c.Errors) // the caller may go on changing its own
}

func (c *Config) validate() error {
	switch {
	case c.MaxSkew < 0 || c.MaxSkew > grace:
		return event.BadInput(pkg, "Config.MaxSkew", fmt.Sprintf("must be 0 to %v, is %v", grace, c.MaxSkew))
	case c.MaxAttempts < 0:
		return event.BadInput(pkg, "Config.MaxAttempts", fmt.Sprintf("must not be negative, is %d", c.MaxAttempts))
	case c.MaxResult < 1 || c.MaxResult > mostResult:
		return event.BadInput(pkg, "Config.MaxResult", fmt.Sprintf("must be 1 to %d bytes, is %d", mostResult, c.MaxResult))
	}

	if err := validateCodes(c.Errors); err != nil {
		return err
	}
	return c.checkTerms(terms{c.Lease, c.Retention}, "Config.Lease", "Config.Retention")
}

// Store is a ledger in one table. It is safe for concurrent use.
type Store struct {
	api   API // with the names of FORMAT.md
	table string
	cfg   Config
	names *names.Names
}

// New returns the ledger in the given table. A nil Config works.
func New(api API, table string, cfg *Config) (*Store, error) {
	s := &Store{api: api, table: table}
	if cfg != nil {
		s.cfg = *cfg
	}

	s.cfg.fill()
	if err := check.NotNil(pkg, "api", api); err != nil {
		return nil, err
	}
	if err := check.Table(pkg, table); err != nil {
		return nil, err
	}
	if err := s.cfg.validate(); err != nil {
		return nil, err
	}

	var err error
	if s.names, err = names.New(pkg, s.cfg.Names, attributes, nil); err != nil {
		return nil, err
	}

	s.api = names.Client(s.names, api)
	return s, nil
}

// Table returns the definition of the table, for [schema.Create]. If the table
// exists already and has a sort key, Create returns a [*schema.MismatchError].
func (s *Store) Table() schema.Table {
	return s.names.Table(schema.Table{
		Name: s.table,
		Key:  schema.Key{Partition: schema.String(attrKey)},
		TTL:  attrExpiresAt,
	})
}

// Actions returns what IAM must grant for each call: see [schema.Policy].
func (s *Store) Actions() schema.Actions {
	get, scan, update := schema.Grants{"": {"GetItem"}}, schema.Grants{"": {"Scan"}}, schema.Grants{"": {"UpdateItem"}}
	work := schema.Grants{"": {"GetItem", "UpdateItem"}}
	return schema.Actions{
		Calls: map[string]schema.Grants{
			"Do":           work,
			"DoTx":         work,
			"Hold":         work,
			"CheckItem":    {"": {"ConditionCheckItem"}},
			"Claim":        work,
			"Complete":     update,
			"CompleteItem": update,
			"Fail":         update,
			"Renew":        update,
			"Release":      update,
			"Resume":       update,
			"MarkSeen":     {"": {"PutItem"}},
			"MarkItem":     {"": {"PutItem"}},
			"Get":          get,
		},
		Operators: map[string]schema.Grants{
			"Get":    get,
			"List":   scan,
			"Reopen": update,
			"Forget": {"": {"DeleteItem"}},
			"Erase":  update,
		},
	}
}

func (s *Store) wrap(op string, err error) error { return ddb.Wrap(pkg, op, s.table, err) }

// nonce returns the `claim` attribute of a new row.
func (s *Store) nonce(op string) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(s.cfg.Rand, b[:]); err != nil {
		return "", s.wrap(op, fmt.Errorf("no randomness for a nonce: %w", err))
	}
	return hex.EncodeToString(b[:]), nil
}

// nonceFor is the nonce of a call that writes to the key, if that can be a key.
func (s *Store) nonceFor(op, field, key string) (string, error) {
	if err := check.PartitionKey(pkg, field, key); err != nil {
		return "", err
	}
	return s.nonce(op)
}
