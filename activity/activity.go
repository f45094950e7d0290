package activity

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/actor"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/names"
	"github.com/homeops/ddbpatterns/schema"
)

// pkg names the package in errors.
const pkg = "activity"

// API has the methods of *dynamodb.Client that the package calls.
type API interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

var _ API = (*dynamodb.Client)(nil)

// Activity is something that an actor did in a scope. To record an activity,
// set at least its Scope, Actor, Name and Event.
type Activity struct {
	Scope     string // where: the customer, the order, the device
	Actor     string // who; a whole decimal number unless Config.ActorType is S
	ActorName string // the actor's name, for people

	// Event is the event that caused the activity. If an event causes several
	// activities, the Event of the n-th activity is the event's Nth(n). So each
	// activity has an Event of its own, which is also its id. A row of an older
	// system has a random id here, whose time may differ from At.
	Event event.Event

	// Name is the canonical name of what was done: "order". Names are stored,
	// and searched for, in Unicode's form NFC. Walks by name do not find a row that an
	// older writer stored in another form, until [Store.Backfill] changes the row.
	Name string

	// Kind is the activity's class: "sale", "repair". No index has it in its key, so
	// a list with a Match.Kind also reads, and pays for, the rows that it leaves out.
	Kind string

	// Seq is the number of the message that reported the activity; 0 without a message.
	// Effort (how much work it was) and Confidence (how sure a classifier is) are for
	// the application. Negative numbers are bad input; those in rows of an older system
	// are read as they are.
	Seq        int64
	Effort     float64
	Confidence float64

	// Data holds further values of the application, and lists can filter by them.
	// A value is text (string), a flag (bool) or a number: any of Go's integers
	// and floats, an attributevalue.Number or a json.Number. Numbers come back as
	// attributevalue.Number, which keeps all 38 digits; record.ReadData reads the
	// values with their types. Data has at most 32 entries and 4 KB, and names of 1 to
	// 255 bytes. A redelivery with other Data is a conflict; numbers are compared by
	// value.
	Data map[string]any

	// At and CreatedAt are read-only: recording ignores them. At is when the
	// activity happened: Event.Time(), except in rows of an older system, where
	// the two may differ. CreatedAt is the clock's time at the call that
	// recorded the activity; it is zero if a row of an older system does not
	// say when.
	At, CreatedAt time.Time
}

// Config of a Store. The zero Config works.
type Config struct {
	// Now is the clock. An activity's CreatedAt is taken from this clock, and
	// recording refuses an event that lies more than an hour ahead of the
	// clock. So does a retraction with a Tombstone. Defaults to time.Now.
	Now func() time.Time

	// ActorType is how ids of actors are stored. As numbers (N, the default), an actor
	// must be a whole decimal number of at most 38 digits in its shortest form. As text
	// (S), it may be any text that fits into a key. In Go an actor is always a string.
	ActorType types.ScalarAttributeType

	// Names gives attributes and indexes other names in the table, each by its
	// name in FORMAT.md: {"chatId": "tenantId", "chatId-activity-index": "by-name"}.
	// The names are a chat's: chatId is the Scope, userId the Actor, activity the
	// Name. All writers of a table must use the same Names. Errors that name an
	// attribute have its name in FORMAT.md.
	Names map[string]string

	// Retention is how long an activity is kept after it happened. Defaults to 0:
	// activities are kept for ever, without a TTL. If you make the Retention longer
	// later, a redelivered event is recorded as new if its row has expired under the
	// shorter Retention and the event is not too old for the longer one.
	Retention time.Duration

	// MaxSkew is the greatest difference between the clocks of two callers,
	// plus the longest time that a call may take. With a Retention, an activity
	// is refused with [event.ErrTooOld] if its row would expire within MaxSkew
	// from now, or has already expired. Defaults to 5 minutes. MaxSkew must be
	// at most a day, and less than the Retention if one is set.
	MaxSkew time.Duration

	// OnUnreadable is called for each row that a walk, Count or Tally cannot read, for
	// example to log the error. The walk then continues. Without it, such a row ends
	// the walk with an error. The function must be safe for concurrent use. Its error
	// names the row's key, which may be personal data. [Store.OfEvent] and recordings
	// return an error in any case.
	OnUnreadable func(error)
}

// Store is a log of activities in one table. It is safe for concurrent use.
type Store struct {
	api       API // with the names of FORMAT.md
	table     string
	cfg       Config
	names     *names.Names
	retention item.Retention
}

// New returns a Store on the given table. A nil Config works. The table need
// not exist yet: [Store.Table] returns its definition.
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
	if s.names, err = names.New(pkg, s.cfg.Names, attributes, indexes); err != nil {
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

// Table returns the definition of the table: [schema.Create] creates it. With a
// Retention, activities expire by TTL.
func (s *Store) Table() schema.Table {
	who := actor.Attribute(s.cfg.ActorType, attrActor)
	scope := schema.String(attrScope)
	table := schema.Table{
		Name: s.table,
		Key:  schema.Key{Partition: scope, Sort: schema.String(attrID)},
		Indexes: []schema.Index{
			{Name: indexActor, Key: schema.Key{Partition: who, Sort: schema.Number(attrTimestamp)}},
			{Name: indexName, Key: schema.Key{Partition: scope, Sort: schema.String(attrNameTime)}},
			{Name: indexActorName, Key: schema.Key{Partition: schema.String(attrScopeActor), Sort: schema.String(attrNameTime)}},
		},
	}
	if s.retention.Limited() {
		table.TTL = attrTTL
	}

	return s.names.Table(table)
}

// Actions returns what IAM must grant for each call: see [schema.Policy].
func (s *Store) Actions() schema.Actions {
	query := []string{"Query"}
	onTable, byActor := schema.Grants{"": query}, schema.Grants{indexActor: query}
	byName, byBoth := schema.Grants{indexName: query}, schema.Grants{indexActorName: query}
	anyQuery := schema.Grants{"": query, indexActor: query, indexName: query, indexActorName: query}

	return s.names.Actions(schema.Actions{
		Calls: map[string]schema.Grants{
			"Record":      {"": {"PutItem"}},
			"RecordAll":   {"": {"PutItem", "Query"}}, // why it was refused
			"RecordMany":  {"": {"PutItem"}},
			"RecordItems": {"": {"PutItem"}},
			"Retract":     {"": {"PutItem"}},
			"OfEvent":     onTable,
			"InScope":     onTable, "ByActor": byActor, "ByName": byName, "ByActorAndName": byBoth,
			"Count": anyQuery, "Tally": anyQuery,
		},
		Operators: map[string]schema.Grants{
			"Erase":      {"": {"BatchWriteItem", "Query"}},
			"EraseActor": {"": {"DeleteItem"}, indexActor: query},
		},
	})
}
