package alias

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/schema"
)

// pkg names the package in errors.
const pkg = "alias"

// API is what the package calls of *dynamodb.Client.
type API interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

var _ API = (*dynamodb.Client)(nil)

// Source says how a phrase came into the book.
type Source string

const (
	// FromSeed is the vocabulary the application brought along.
	FromSeed Source = "seed"
	// Learned is what somebody taught.
	Learned Source = "learned"
)

// Alias is what a phrase stands for in a scope.
type Alias struct {
	Scope  string
	Phrase string // in the form of Normalize
	Name   string // the canonical name it stands for

	// Confirmations counts how often the phrase was confirmed to stand for
	// this name, at least: of confirmations that arrive far out of order some
	// are not counted. See [Store.Confirm].
	Confirmations int64
	Source        Source
	LearnedFrom   string // who taught it; "" when nobody is known

	// NamedBy is the event that decided the name: the phrase stood for
	// something else before, or for nothing. Zero in seeds, and in rows of older
	// systems, which count as earlier than every event.
	NamedBy event.Event

	CreatedAt time.Time // zero in rows of older systems that lack it
	UpdatedAt time.Time
}

// Config of a Store. The zero Config works.
type Config struct {
	// Now is the clock: it dates rows, ages the cache, and bounds how far
	// ahead an event may lie. Defaults to time.Now.
	Now func() time.Time

	// Prefix starts every partition key and is the type of every item. Books
	// of different prefixes share a table and never meet: an application
	// keeps people's names, say, under NAME. It must not hold '#'. Defaults
	// to ALIAS.
	Prefix string

	// IndexName is the global secondary index that [Store.PhrasesOf] reads.
	// Defaults to GSI1.
	IndexName string

	// CacheTTL is the longest that a scope's book is answered from memory. Up
	// to a tenth is taken off, another part at each read, lest many processes
	// that started together read again together. It is also how long after a
	// write of this Store its reads of the scope are consistent, with NoCache
	// too. Defaults to 5 minutes.
	CacheTTL time.Duration

	// CacheScopes is how many books are kept, and of how many scopes it is
	// remembered that this Store wrote to them; what was kept longest goes
	// first. Defaults to 1,000.
	CacheScopes int

	// NoCache keeps no books: every question and every Put, Correct and Forget
	// reads the book, those asked side by side together.
	NoCache bool

	// OnUnreadable is called with the reason when a row of a scope cannot be
	// read, for instance one that another program wrote. The questions then go
	// on without that row, and Put and Seed still leave its phrase alone. A
	// call about that very phrase fails nevertheless. It may be called by
	// several goroutines at once. Defaults to nil: one unreadable row fails
	// every question about its scope, so that nobody overlooks it.
	OnUnreadable func(error)
}

// The defaults of Config.
const (
	defaultPrefix      = "ALIAS"
	defaultIndex       = "GSI1"
	defaultCacheTTL    = 5 * time.Minute
	defaultCacheScopes = 1000
)

func (c *Config) fill() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Prefix == "" {
		c.Prefix = defaultPrefix
	}
	if c.IndexName == "" {
		c.IndexName = defaultIndex
	}
	if c.CacheTTL == 0 {
		c.CacheTTL = defaultCacheTTL
	}
	if c.CacheScopes == 0 {
		c.CacheScopes = defaultCacheScopes
	}
}

func (c *Config) validate() error {
	if err := check.ID(pkg, "Config.Prefix", c.Prefix); err != nil {
		return err
	}
	if strings.Contains(c.Prefix, "#") {
		return event.BadInput(pkg, "Config.Prefix", "must not hold '#', which ends it in keys")
	}
	if c.CacheTTL < 0 {
		return event.BadInput(pkg, "Config.CacheTTL", "must be positive; NoCache switches the cache off")
	}
	if c.CacheScopes < 0 {
		return event.BadInput(pkg, "Config.CacheScopes", "must be positive; NoCache switches the cache off")
	}
	return check.Index(pkg, "Config.IndexName", c.IndexName)
}

// Store keeps the books of all scopes: what people say, and the name it
// stands for. It is safe for concurrent use. One per process is enough: each
// has a cache of its own.
type Store struct {
	api   API
	table string
	cfg   Config
	cache *cache
}

// New returns a Store on the table. A nil Config works.
func New(api API, table string, cfg *Config) (*Store, error) {
	s := &Store{api: api, table: table}
	if cfg != nil {
		s.cfg = *cfg
	}
	s.cfg.fill()
	if api == nil {
		return nil, event.BadInput(pkg, "api", "must not be nil")
	}
	if err := check.Table(pkg, table); err != nil {
		return nil, err
	}
	if err := s.cfg.validate(); err != nil {
		return nil, err
	}
	s.cache = newCache(s.cfg, s.fetch)
	return s, nil
}

// Table returns the definition of the table, for [schema.Create]. Other
// records may share it.
func (s *Store) Table() schema.Table {
	return schema.Table{
		Name: s.table,
		Key:  schema.Key{Partition: schema.String(attrPK), Sort: schema.String(attrSK)},
		Indexes: []schema.Index{{
			Name: s.cfg.IndexName,
			Key:  schema.Key{Partition: schema.String(attrIndexPK), Sort: schema.String(attrIndexSK)},
		}},
	}
}

// Actions returns what IAM must grant for the methods: see [schema.Policy].
func (s *Store) Actions() schema.Actions {
	return schema.Actions{
		Service: schema.Grants{
			"":              {"DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"},
			s.cfg.IndexName: {"Query"},
		},
		Operators: schema.Grants{"": {"BatchWriteItem", "DeleteItem", "GetItem", "PutItem", "Query", "UpdateItem"}},
	}
}
