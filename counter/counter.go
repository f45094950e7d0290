package counter

import (
	"context"
	"crypto/rand"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// pkg names the package in errors.
const pkg = "counter"

// API has the methods of *dynamodb.Client that the package calls. A wrapper of
// a client must pass on the options of a call: [Store.AddUnkeyed] uses them to
// switch off the SDK's retries.
type API interface {
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

var _ API = (*dynamodb.Client)(nil)

// Retention is how long a row is kept after its local day is over, unless
// [Config].Retention is longer.
const Retention = 7 * 24 * time.Hour

// Bounds of Config and of the arguments.
const (
	mostRecorded = 7000              // rows of so many entries stay below 400 KB
	mostSkew     = 24 * time.Hour    // of Retention's seven days
	mostWeight   = 1_000_000_000_000 // twelve zeros: sums stay far from overflow
)

// Config of a Store. The zero Config works.
type Config struct {
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time

	// Rand is the source of the nonces. It must be safe for concurrent use.
	// Defaults to crypto/rand.
	Rand io.Reader

	// ScopeAttr and DateAttr name the table's key attributes. Default to
	// "chatId" and "date".
	ScopeAttr string
	DateAttr  string

	// CountAttr and TTLAttr name the attributes of the count and of the expiry.
	// Set them for a table that already has these two attributes under other
	// names: the Store continues an existing count. Default to "count" and
	// "ttl". All writers of a table must use the same names: a writer with
	// another CountAttr keeps a count of its own.
	//
	// Caution: every write sets TTLAttr to the end of the day plus Retention, even
	// if the row has a later time. If the table keeps its rows longer than a week
	// after their day, also set Retention: otherwise DynamoDB deletes the rows
	// after a week.
	CountAttr string
	TTLAttr   string

	// Retention is how long, after the end of its local day, a row is kept. Its
	// events can be delivered, settled and refunded until MaxSkew before the row
	// expires. Defaults to the constant [Retention], seven days. It must be at
	// least seven days, in whole seconds. All writers of a table must have the same
	// Retention: a row from a writer with a shorter Retention is deleted while the
	// other writers still rely on the row. After a change to a longer Retention, an
	// event that is delivered again is counted again if the row of its day is
	// already deleted.
	Retention time.Duration

	// MaxRecorded is the most events that one row records, including refunded
	// events. It also bounds the price of a write: about 1 WCU for each 25
	// events. Defaults to 1000; at most 7000.
	MaxRecorded int

	// MaxSkew is how far the clocks of two callers may differ, plus the longest
	// a call may take. An event is refused with [event.ErrTooOld] if its row
	// has expired, or expires within MaxSkew from now. Defaults to 5 minutes;
	// at most a day.
	MaxSkew time.Duration
}

func (c *Config) fill() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.ScopeAttr == "" {
		c.ScopeAttr = "chatId"
	}
	if c.DateAttr == "" {
		c.DateAttr = "date"
	}
	if c.CountAttr == "" {
		c.CountAttr = "count"
	}
	if c.TTLAttr == "" {
		c.TTLAttr = "ttl"
	}
	if c.MaxRecorded == 0 {
		c.MaxRecorded = 1000
	}
	if c.Retention == 0 {
		c.Retention = Retention
	}
	if c.MaxSkew == 0 {
		c.MaxSkew = 5 * time.Minute
	}
}

func (c *Config) validate() error {
	const fixed = "another attribute of the row"
	names := map[string]string{attrUpdatedAt: fixed, attrRecorded: fixed} // and whose they are
	for _, attr := range []struct{ field, name string }{
		{"CountAttr", c.CountAttr}, {"TTLAttr", c.TTLAttr}, {"ScopeAttr", c.ScopeAttr}, {"DateAttr", c.DateAttr},
	} {
		if err := check.Attribute(pkg, "Config."+attr.field, attr.name); err != nil {
			return err
		}
		if strings.HasPrefix(attr.name, entryPrefix) {
			return event.BadInput(pkg, "Config."+attr.field, "must not begin with e_, because the attributes of events begin with it")
		}
		if other, taken := names[attr.name]; taken {
			return event.BadInput(pkg, "Config."+attr.field, "must differ from "+other+": both name the same attribute")
		}
		names[attr.name] = "Config." + attr.field
	}
	if c.MaxRecorded < 1 || c.MaxRecorded > mostRecorded {
		return event.BadInput(pkg, "Config.MaxRecorded", "must be 1 to 7000")
	}
	if c.Retention < Retention || c.Retention%time.Second != 0 {
		return event.BadInput(pkg, "Config.Retention", "must be at least 7 days, in whole seconds")
	}
	if c.MaxSkew < 0 || c.MaxSkew > mostSkew {
		return event.BadInput(pkg, "Config.MaxSkew", "must be between 0 and a day")
	}
	return nil
}

// Store counts in one table. It is safe for concurrent use.
type Store struct {
	api   API
	table string
	zone  tzclock.Zone
	cfg   Config

	getNames map[string]string // of what Get reads

	last atomic.Pointer[localDay] // of the last event
}

// New returns a Store over a table. An event counts on its local day in the
// zone. A nil Config works.
//
// A table may hold keys of several zones, if each key is always written by
// stores of the same zone. If a key changes to a store of another zone, the
// same event may fall on another day there, and be granted and counted twice.
func New(api API, table string, zone tzclock.Zone, cfg *Config) (*Store, error) {
	s := &Store{api: api, table: table, zone: zone}
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
	if err := zone.Check(pkg, "zone"); err != nil {
		return nil, err
	}
	if err := s.cfg.validate(); err != nil {
		return nil, err
	}
	s.getNames = map[string]string{
		"#count": s.cfg.CountAttr, "#recorded": attrRecorded, "#updatedAt": attrUpdatedAt, "#ttl": s.cfg.TTLAttr,
	}
	return s, nil
}

// Table returns the definition of the table, for [schema.Create]. Rows expire by
// TTL.
func (s *Store) Table() schema.Table {
	return schema.Table{
		Name: s.table,
		Key:  schema.Key{Partition: schema.String(s.cfg.ScopeAttr), Sort: schema.String(s.cfg.DateAttr)},
		TTL:  s.cfg.TTLAttr,
	}
}

// Actions returns what IAM must grant for each call: see [schema.Policy].
func (s *Store) Actions() schema.Actions {
	update := schema.Grants{"": {"UpdateItem"}}
	return schema.Actions{
		Calls: map[string]schema.Grants{
			"Take": update, "TakeItem": update,
			"Refund": update, "RefundItem": update,
			"Adjust": update, "AdjustItem": update,
			"Add":        update,
			"AddUnkeyed": update,
			"Get":        {"": {"GetItem"}},
		},
		Operators: map[string]schema.Grants{"Erase": {"": {"BatchWriteItem", "Query"}}},
	}
}
