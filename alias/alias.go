package alias

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/names"
	"github.com/homeops/ddbpatterns/schema"
)

// pkg names the package in errors.
const pkg = "alias"

// API has the methods of *dynamodb.Client that the package calls.
type API interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

var _ API = (*dynamodb.Client)(nil)

// Source is the way in which a phrase came into the book.
type Source string

const (
	// FromSeed marks a phrase from the application's own vocabulary.
	FromSeed Source = "seed"
	// Learned marks a phrase that somebody taught or corrected.
	Learned Source = "learned"
)

// Alias is a phrase of a scope and the name it stands for.
type Alias struct {
	Scope  string
	Phrase string // in the form that Normalize returns
	Name   string // the canonical name that the phrase stands for

	// Confirmations is how many events were counted as confirmations of this
	// name. It is a lower bound: a confirmation that arrives far out of order may
	// not be counted. See [Store.Confirm].
	Confirmations int64
	Source        Source
	LearnedFrom   string // who taught or corrected the phrase; "" if not known

	// NamedBy is the last event that decided the name: the Put or Correct that gave the
	// phrase this name, or a later Correct to the same name. It is zero, and so earlier
	// than every event, in seeds and in rows of older systems.
	NamedBy event.Event

	CreatedAt time.Time // zero if a row of an older system lacks it
}

// Config of a Store. The zero Config works.
type Config struct {
	// Now is the clock: it dates rows, ages the cache, and bounds how far in
	// the future an event may be. Defaults to time.Now.
	Now func() time.Time

	// Prefix starts every partition key and is the type of every item. Books
	// with different prefixes can share a table without mixing: for instance,
	// an application keeps people's names under NAME. A prefix must not hold
	// '#'. Defaults to ALIAS.
	Prefix string

	// Names gives attributes and indexes other names in the table, each by its
	// name in FORMAT.md: {"canonicalActivity": "target", "GSI1": "by-target"}.
	// All writers of a table must use the same Names. Errors that name an
	// attribute have its name in FORMAT.md.
	Names map[string]string

	// CacheTTL is the longest time for which the book of a scope, which is all
	// its phrases, stays in memory and answers All, Resolve and Match. Each book
	// gets up to a tenth less, so that processes that started together do not read
	// again together. For CacheTTL after a write to a scope, this Store's reads of
	// the scope's book are consistent, even with NoCache. Defaults to 5 minutes. A
	// Store keeps at most 1,000 books, and gives up the one that was read longest ago.
	CacheTTL time.Duration

	// NoCache keeps books out of memory: every All, Resolve, Match and Seed reads
	// the scope's book. Such calls at the same time share one read.
	NoCache bool

	// OnUnreadable is called with the reason when a row of a scope cannot be
	// read, for instance because another program wrote it. Questions are then
	// answered without that row, and Seed leaves it alone. A call that reads
	// exactly that row, such as Get, still fails. OnUnreadable may be called by
	// several goroutines at once. Defaults to nil: then every question that
	// reads the row fails, so that nobody overlooks it.
	OnUnreadable func(error)
}

// The defaults of Config.
const (
	defaultPrefix   = "ALIAS"
	defaultCacheTTL = 5 * time.Minute
)

func (c *Config) fill() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Prefix == "" {
		c.Prefix = defaultPrefix
	}
	if c.CacheTTL == 0 {
		c.CacheTTL = defaultCacheTTL
	}
}

func (c *Config) validate() error {
	if err := check.ID(pkg, "Config.Prefix", c.Prefix); err != nil {
		return err
	}
	if strings.Contains(c.Prefix, "#") {
		return event.BadInput(pkg, "Config.Prefix", "must not contain '#', which marks the end of the prefix in keys")
	}
	if c.CacheTTL < 0 {
		return event.BadInput(pkg, "Config.CacheTTL", "must not be negative; NoCache switches the cache off")
	}
	return nil
}

// Store keeps the books of all scopes: phrases and the names they stand for. It
// is safe for concurrent use. One Store per process is enough: each Store has a
// cache of its own.
type Store struct {
	api   API // with the names of FORMAT.md
	table string
	cfg   Config
	names *names.Names
	cache *cache
}

// New returns a Store on the table. A nil Config works.
func New(api API, table string, cfg *Config) (*Store, error) {
	s := &Store{api: api, table: table}
	if cfg != nil {
		s.cfg = *cfg
	}

	s.cfg.fill()
	n, err := names.New(pkg, s.cfg.Names, attributes, []string{index})
	if err := cmp.Or(check.NotNil(pkg, "api", api), check.Table(pkg, table), s.cfg.validate(), err); err != nil {
		return nil, err
	}

	s.names = n
	s.api = names.Client(s.names, api)
	s.cache = newCache(s.cfg, s.fetch)
	return s, nil
}

// Table returns the definition of the table, for [schema.Create]. Other records
// may share the table.
func (s *Store) Table() schema.Table {
	return s.names.Table(schema.Table{
		Name: s.table,
		Key:  schema.Key{Partition: schema.String(attrPK), Sort: schema.String(attrSK)},
		Indexes: []schema.Index{{
			Name: index,
			Key:  schema.Key{Partition: schema.String(attrIndexPK), Sort: schema.String(attrIndexSK)},
		}},
	})
}

// Actions returns what IAM must grant for each call: see [schema.Policy].
func (s *Store) Actions() schema.Actions {
	read, write := schema.Grants{"": {"Query"}}, schema.Grants{"": {"UpdateItem"}}
	both := schema.Grants{"": {"Query", "UpdateItem"}}
	return s.names.Actions(schema.Actions{
		Calls: map[string]schema.Grants{
			"Put":       write,
			"Seed":      both,
			"Confirm":   write,
			"Correct":   write,
			"Forget":    write,
			"Get":       {"": {"GetItem"}},
			"All":       read,
			"Refresh":   read,
			"Resolve":   read,
			"Match":     read,
			"PhrasesOf": {index: {"Query"}},
		},
		Operators: map[string]schema.Grants{
			"Disown": both,
			"Erase":  {"": {"BatchWriteItem", "Query"}},
		},
	})
}
