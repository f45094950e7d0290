// Package outbox keeps facts from the moment a webhook is answered: each once, by
// its key, and in a sparse index until it is posted. The same table has quill's
// other records: what is known about contacts and deals, what was refused, and how
// far the poster is.
//
// # Items
//
// The key is only pk. Times are text in the form of fact.Time.
//
//	a fact                       pk: its key, such as ALOWARE:CALL:985097163
//	  type        S  FACT
//	  table       S  of the report
//	  at          S  when it happened, by the sender's clock
//	  receivedAt  S  when it was written, by the server's
//	  row         M  its columns
//	  dimension   M  key, table and row of what it disclosed; absent for nothing
//	  nonce       S  of the action that wrote it
//	  outbox      S  PENDING#<table>; removed when it is posted
//	  batch       S  that it was posted in
//	  postedAt    S
//
//	what is known                pk: KNOWN#<key of the contact or the deal>
//	  type        S  KNOWN
//	  table       S
//	  row         M  its columns
//	  changed     M  of each column, when it last changed
//	  fence       N  of the poster that wrote it
//	  written     N  which of its writes this is
//
//	a refusal                    pk: REFUSED#<SHA-256 of the source and the body>
//	  type        S  REFUSED
//	  source      S
//	  reason      S
//	  body        S  cut to 300 KB
//	  receivedAt  S
//	  outbox      S  REFUSED
//	  ttl         N  Unix seconds, 90 days later
//
//	the poster                   pk: POSTER
//	  type        S  POSTER
//	  fence       N
//	  written     N  which write under that fence this is
//	  batch       S  absent when none is open; and its table S, rows N and until S
//	  postAt      S  absent before the first post
//	  hour        M  of each window, by the Unix minute it begins at, a map of rows and posts
//	  total       M  of each table the rows ever posted
//	  sums        M  posted, recovered, reposted, doubled, dimensionRows, rowsReposted
//
//	what a poster learned late   pk: LATE#<batch>
//	  type        S  LATE
//	  outbox      S  LATE
//	  receivedAt  S
//	  sums        M  as the poster's
//
// Index pending-index (outbox S, receivedAt S) has the facts that are not posted, the
// refusals, and what was learned late. The pending facts of each of the report's tables are one
// partition of the index, which accepts 1,000 writes a second, whatever the table
// accepts. Marking a fact is one of these writes. A fact is kept for ever, so that
// it stays unique even after the ledger has forgotten it.
//
// # IAM actions
//
//   - The service, on the table: BatchGetItem, GetItem, PutItem, UpdateItem
//   - The service, on index pending-index: Query
package outbox

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/queue"
	"github.com/homeops/ddbpatterns/schema"
)

const pkg = "outbox"

const (
	attrTTL = "ttl"
	refused = "REFUSED" // in attribute outbox
)

// API is what the package calls of *dynamodb.Client.
type API = queue.API

// Config of a Store. The zero Config works.
type Config struct {
	Now   func() time.Time // defaults to time.Now
	Nonce func() string    // of the next fact; defaults to rand.Text

	// Unreadable is called for each row that Pending, Refusals or Known leaves out
	// because it is unreadable: somebody else wrote it. Such a row does not hold up
	// others. It stays as it is, and Waiting counts it. The key is for the person
	// who mends the row. Calls may come side by side. Defaults to logging an error
	// to slog.Default.
	Unreadable func(key string, err error)
}

// Store keeps the table. It is safe for concurrent use.
type Store struct {
	table string
	cfg   Config
	queue *queue.Queue
}

// New returns the outbox in a table. A nil Config works.
func New(api API, table string, cfg *Config) (*Store, error) {
	s := &Store{table: table}
	if cfg != nil {
		s.cfg = *cfg
	}
	if s.cfg.Now == nil {
		s.cfg.Now = time.Now
	}
	if s.cfg.Unreadable == nil {
		s.cfg.Unreadable = func(key string, err error) {
			slog.Error("a row of the outbox cannot be read", "table", table, "key", key, "error", err)
		}
	}
	if api == nil {
		return nil, event.BadInput(pkg, "api", "must not be nil")
	}
	if table == "" {
		return nil, event.BadInput(pkg, "table", "must not be empty")
	}
	s.queue = &queue.Queue{API: api, Table: table, Now: s.cfg.Now, Nonce: s.cfg.Nonce}
	return s, nil
}

// Table returns the definition of the table, for schema.Create.
func (s *Store) Table() schema.Table {
	return schema.Table{
		Name: s.table,
		Key:  schema.Key{Partition: schema.String(queue.Key)},
		Indexes: []schema.Index{{
			Name: queue.Index,
			Key:  schema.Key{Partition: schema.String(queue.Outbox), Sort: schema.String(queue.Received)},
		}},
		TTL:                 attrTTL,
		PointInTimeRecovery: true,
		Retain:              true,
	}
}

// Actions returns what IAM must grant.
func (s *Store) Actions() schema.Actions {
	get, put, update := schema.Grants{"": {"GetItem"}}, schema.Grants{"": {"PutItem"}}, schema.Grants{"": {"UpdateItem"}}
	pending := schema.Grants{queue.Index: {"Query"}}
	return schema.Actions{Calls: map[string]schema.Grants{
		"PutItem":    put,
		"Get":        get,
		"Pending":    {"": {"BatchGetItem"}, queue.Index: {"Query"}},
		"Waiting":    pending,
		"MarkPosted": update,
		"Refuse":     put,
		"Refusals":   pending,
		"SavePoster": put,
		"LoadPoster": get,
		"SaveLate":   put,
		"Late":       pending,
		"Learn":      put,
		"Known":      {"": {"BatchGetItem"}},
	}}
}

// wrap names the operation and the table. It names no keys, which may be personal
// data.
func (s *Store) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %s on table %s: %w", pkg, op, s.table, err)
}
