package activity

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/actor"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/schema"
)

// pkg names the package in errors.
const pkg = "activity"

// API is what the package calls of *dynamodb.Client.
type API interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

var _ API = (*dynamodb.Client)(nil)

// Activity is something that an actor did in a scope. Scope, Actor, Name and
// Event must be given when it is recorded.
type Activity struct {
	Scope     string // where: the chat, the household, the customer
	Actor     string // who; a whole decimal number unless Config.ActorType is String
	ActorName string // how the actor is called, for people

	// Event is what caused the record, and its id: the n-th activity of an
	// event has its Nth(n). A row of an older system has a random id here,
	// whose time need not be At.
	Event event.Event

	// Name is what was done, in its canonical form: "diskning". It is stored,
	// and searched for, in Unicode's form NFC, so that two spellings which look
	// the same are one name. A row of an older writer in another form keeps it:
	// walks by name do not find that row.
	Name string

	// Kind is the class of it: "chore", "recovery". No index has it. Lists and
	// counts leave out the others by Match.Kind, at the price of reading them, and
	// Tally tells kinds apart; package memory asks by Name only.
	Kind string

	Seq        int64 // the message it was said in; 0 if there is none
	Effort     float64
	Confidence float64

	// Data is what else the application records with it, and lists filter by:
	// text, numbers and flags, as string, bool, any of Go's integers and floats,
	// and attributevalue.Number. Numbers come back as attributevalue.Number, which
	// keeps all 38 digits. At most 32 entries and 4 KB, with names of 1 to 255
	// bytes; none is nil when it is read. It is part of what makes two activities
	// the same, numbers compared by their worth: 1, 1.0 and 1e0 are one.
	Data map[string]any

	// Read only, ignored when an activity is recorded. At is when it happened,
	// which is Event.Time() but in rows of an older system. CreatedAt is when
	// it was first recorded, zero in rows of an older system.
	At, CreatedAt time.Time
}

// ActorType is how ids of actors are stored: as [Number] or as [String]. In Go
// an actor is always a string.
type ActorType = actor.Type

// The types of actors' ids.
const (
	// Number holds actors that are whole decimal numbers, such as Telegram's.
	Number ActorType = actor.Number
	// String holds any.
	String ActorType = actor.String
)

// Config of a Store. The zero Config works.
type Config struct {
	// Now is the clock: it dates CreatedAt, and an event more than an hour
	// ahead of it is refused. Defaults to time.Now.
	Now func() time.Time

	// ActorType is how ids of actors are stored. Defaults to Number, which
	// refuses an actor that is not a decimal number.
	ActorType ActorType

	// All attribute names but these are the format: see FORMAT.md.
	//
	// The names of the attributes that hold the scope, the actor and the
	// sequence number. They default to "chatId", "userId", "userName" and
	// "messageId".
	ScopeAttr, ActorAttr, ActorNameAttr, SeqAttr string

	// The names of the indexes. They default to "userId-timestamp-index",
	// "chatId-activity-index" and "chatUser-activity-index".
	ActorIndexName, NameIndexName, ActorAndNameIndexName string

	// Concurrency is how many requests RecordMany has under way at most.
	// Defaults to 8.
	Concurrency int

	// Retention is how long an activity is kept after it happened. Defaults to
	// for ever, without a TTL. When it is made longer, those that the shorter
	// one has let go are taken for new if they come again.
	Retention time.Duration

	// MaxSkew is how far the clocks of two callers may differ, plus the longest
	// a call may take. With a Retention, activities are refused with
	// [event.ErrTooOld] that much before they expire. Defaults to 5 minutes; at
	// most a day and less than the Retention.
	MaxSkew time.Duration

	// OnUnreadable is told of each row that a walk, a Page, Count or Tally
	// cannot read, and they go on without it: to count them, or to log which
	// they are. It must be safe for concurrent use. Without it such a row ends
	// them with an error. [Store.OfEvent] and all that writes give the error
	// either way.
	OnUnreadable func(Unreadable)
}

// Unreadable is a row that is not an activity's: something other than this
// package wrote it.
type Unreadable struct {
	Scope, ID string // its key, so that it can be found; it may be personal data
	Err       error  // what is wrong with it
}

// Store is a log of activities in one table. It is safe for concurrent use.
type Store struct {
	api       API
	table     string
	cfg       Config
	retention item.Retention
}

// New returns a Store on the given table. A nil Config works. The table need
// not stand yet: [Store.Table] defines it.
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
	s.retention = item.Retention{For: s.cfg.Retention, MaxSkew: s.cfg.MaxSkew}
	if err := s.retention.Check(pkg); err != nil {
		return nil, err
	}
	return s, nil
}

func (c *Config) fill() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.MaxSkew == 0 {
		c.MaxSkew = 5 * time.Minute
	}
	for _, name := range []struct {
		given    *string
		standard string
	}{
		{&c.ScopeAttr, "chatId"},
		{&c.ActorAttr, "userId"},
		{&c.ActorNameAttr, "userName"},
		{&c.SeqAttr, "messageId"},
		{&c.ActorIndexName, "userId-timestamp-index"},
		{&c.NameIndexName, "chatId-activity-index"},
		{&c.ActorAndNameIndexName, "chatUser-activity-index"},
	} {
		if *name.given == "" {
			*name.given = name.standard
		}
	}
	if c.Concurrency == 0 {
		c.Concurrency = 8
	}
}

func (c *Config) validate() error {
	if err := actor.CheckType(pkg, c.ActorType); err != nil {
		return err
	}
	if c.Concurrency < 1 {
		return event.BadInput(pkg, "Config.Concurrency", "must be positive")
	}
	taken := map[string]bool{}
	for _, name := range fixed {
		taken[name] = true
	}
	for _, attr := range []struct{ field, name string }{
		{"Config.ScopeAttr", c.ScopeAttr},
		{"Config.ActorAttr", c.ActorAttr},
		{"Config.ActorNameAttr", c.ActorNameAttr},
		{"Config.SeqAttr", c.SeqAttr},
	} {
		if err := check.Attribute(pkg, attr.field, attr.name); err != nil {
			return err
		}
		if taken[attr.name] {
			return event.BadInput(pkg, attr.field, "names an attribute that holds something else")
		}
		taken[attr.name] = true
	}
	indexes := map[string]bool{}
	for _, index := range []struct{ field, name string }{
		{"Config.ActorIndexName", c.ActorIndexName},
		{"Config.NameIndexName", c.NameIndexName},
		{"Config.ActorAndNameIndexName", c.ActorAndNameIndexName},
	} {
		if err := check.Index(pkg, index.field, index.name); err != nil {
			return err
		}
		if indexes[index.name] {
			return event.BadInput(pkg, index.field, "names two indexes alike")
		}
		indexes[index.name] = true
	}
	return nil
}

// Table returns the definition of the table: [schema.Create] creates it. With a
// Retention activities expire by TTL.
func (s *Store) Table() schema.Table {
	who := actor.Attribute(s.cfg.ActorType, s.cfg.ActorAttr)
	scope := schema.String(s.cfg.ScopeAttr)
	table := schema.Table{
		Name: s.table,
		Key:  schema.Key{Partition: scope, Sort: schema.String(attrID)},
		Indexes: []schema.Index{
			{Name: s.cfg.ActorIndexName, Key: schema.Key{Partition: who, Sort: schema.Number(attrTimestamp)}},
			{Name: s.cfg.NameIndexName, Key: schema.Key{Partition: scope, Sort: schema.String(attrNameTime)}},
			{Name: s.cfg.ActorAndNameIndexName, Key: schema.Key{Partition: schema.String(attrScopeActor), Sort: schema.String(attrNameTime)}},
		},
	}
	if s.retention.Limited() {
		table.TTL = attrTTL
	}
	return table
}

// Actions returns what IAM must grant for the methods: see [schema.Policy].
func (s *Store) Actions() schema.Actions {
	query := []string{"Query"}
	return schema.Actions{
		Service: schema.Grants{
			"":                          {"DeleteItem", "PutItem", "Query"},
			s.cfg.ActorIndexName:        query,
			s.cfg.NameIndexName:         query,
			s.cfg.ActorAndNameIndexName: query,
		},
		Operators: schema.Grants{"": {"BatchWriteItem", "Query"}, s.cfg.ActorIndexName: query},
	}
}
