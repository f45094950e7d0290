package message

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/actor"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/names"
	"github.com/homeops/ddbpatterns/schema"
)

// pkg names the package in errors.
const pkg = "message"

// API has the methods of *dynamodb.Client that the package calls.
type API interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

var _ API = (*dynamodb.Client)(nil)

// Message is what was said in a scope. Scope and Seq are its identity.
type Message struct {
	Scope string // the ticket, the channel, the conversation
	Seq   int64  // the message's number in the scope, rising and positive

	Actor     string // who said it; "" for a message without a sender
	ActorName string
	Text      string
	Raw       string    // as it was received, for later
	At        time.Time // when it was said, kept to the millisecond

	// Data is what the application keeps with the message. Lists can filter by
	// it. A value is a string, a bool, any of Go's integers and floats, an
	// attributevalue.Number or a json.Number. Numbers are read back as
	// attributevalue.Number, which keeps all 38 digits; record.ReadData reads the
	// values with their types. Data has at most 32 entries and 4 KB; a name has 1
	// to 255 bytes. Data without entries is read back as nil.
	Data map[string]any

	// CreatedAt is when the message was saved. Save sets it in the row and
	// ignores the given value. It is zero if an older system wrote the row
	// without createdAt.
	CreatedAt time.Time
}

// Config of a Store. The zero Config works.
type Config struct {
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time

	// ActorType is how ids of actors are stored: as numbers (N, the default) or as
	// text (S). As a number, an actor must be a whole decimal number of at most 38
	// digits in its shortest form. In Go an actor is always a string.
	ActorType types.ScalarAttributeType

	// Names gives attributes and indexes other names in the table, each by its
	// name in FORMAT.md: {"chatId": "ticketId", "userId-timestamp-index": "by-agent"}.
	// All writers of a table must use the same Names. Errors that name an
	// attribute have its name in FORMAT.md.
	Names map[string]string

	// Retention is how long a message is kept after it was said. The default,
	// 0, keeps messages for ever, without a TTL. After a change to a longer
	// Retention, a message that had expired before the change is saved as new
	// if it is delivered again and is not too old for the longer Retention.
	Retention time.Duration

	// MaxSkew is how far the clocks of two callers may differ, plus the longest
	// a call may take. With a Retention, a message is refused with
	// [event.ErrTooOld] if it has expired, or expires within MaxSkew from now.
	// Defaults to 5 minutes; at most a day and, with a Retention, less than the
	// Retention.
	MaxSkew time.Duration

	// ActorIndex adds an index by actor and time to the table's definition.
	// [Store.ByActor] and [Store.EraseActor] read that index. With the index, a
	// Save that stores a message with an actor costs at least twice as many
	// WCU.
	ActorIndex bool
}

// Store keeps messages in one table. It is safe for concurrent use.
type Store struct {
	api       API // with the names of FORMAT.md
	table     string
	cfg       Config
	names     *names.Names
	retention item.Retention
}

// New returns a Store over a table. A nil Config works.
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
	if err := actor.CheckType(pkg, s.cfg.ActorType); err != nil {
		return nil, err
	}

	s.retention = item.Retention{For: s.cfg.Retention, MaxSkew: s.cfg.MaxSkew}
	if err := s.retention.Check(pkg); err != nil {
		return nil, err
	}

	var err error
	if s.names, err = names.New(pkg, s.cfg.Names, attributes, []string{indexActor}); err != nil {
		return nil, err
	}

	s.api = names.Client(s.names, api)
	return s, nil
}

func (c *Config) fill() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.MaxSkew == 0 {
		c.MaxSkew = 5 * time.Minute
	}
}

// Table returns the table's definition. With a Retention, messages expire by
// TTL.
func (s *Store) Table() schema.Table {
	table := schema.Table{
		Name: s.table,
		Key:  schema.Key{Partition: schema.String(attrScope), Sort: schema.Number(attrSeq)},
	}
	if s.retention.Limited() {
		table.TTL = attrTTL
	}

	if s.cfg.ActorIndex {
		table.Indexes = []schema.Index{{
			Name: indexActor,
			Key:  schema.Key{Partition: actor.Attribute(s.cfg.ActorType, attrActor), Sort: schema.Number(attrTimestamp)},
		}}
	}
	return s.names.Table(table)
}

// Actions returns what IAM must grant for each call: see [schema.Policy].
func (s *Store) Actions() schema.Actions {
	query := []string{"Query"}
	onTable := schema.Grants{"": query}
	a := schema.Actions{
		Calls: map[string]schema.Grants{
			"Save":     {"": {"PutItem"}},
			"SaveItem": {"": {"PutItem"}},
			"Get":      {"": {"GetItem"}},
			"InScope":  onTable, "Recent": onTable, "FastConversation": onTable,
		},
		Operators: map[string]schema.Grants{
			"DropRaw": {"": {"UpdateItem"}},
			"Erase":   {"": {"BatchWriteItem", "Query"}},
		},
	}
	if s.cfg.ActorIndex {
		byActor := schema.Grants{indexActor: query}
		a.Calls["ByActor"] = byActor
		a.Operators["EraseActor"] = schema.Grants{"": {"DeleteItem"}, indexActor: query}
	}

	return s.names.Actions(a)
}

func (s *Store) wrap(op string, err error) error { return ddb.Wrap(pkg, op, s.table, err) }
