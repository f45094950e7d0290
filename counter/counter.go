package counter

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/names"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// pkg names the package in errors.
const pkg = "counter"

// Retention is how long a row is kept after its window is over, unless
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

	// Window is the period that has a count of its own: [Day], [Hour], [Week] or
	// [Month]. Defaults to Day. All writers of one limit must have the same Window.
	// Stores of different Windows may share a table: each keeps a count of its own
	// for a key, and [TakeAll] takes in several.
	Window Window

	// Names gives attributes other names in the table, each by its name in
	// FORMAT.md: {"chatId": "tenantId", "count": "used"}; chatId is the Key. If a
	// table already has a count under another name, that count goes on. All writers
	// of a table must use the same Names: a writer with another name of the count
	// keeps a count of its own.
	// The attributes of events, which begin with e_, keep their names. Errors that
	// name an attribute have its name in FORMAT.md.
	//
	// Caution: every write sets the ttl to the end of the window plus Retention, even
	// if the row has a later time. If the table keeps its rows longer than a week
	// after their window, also set Retention: otherwise DynamoDB deletes the rows
	// after a week.
	Names map[string]string

	// Retention is how long, after the end of its window, a row is kept. Its
	// events can be delivered, settled and refunded until MaxSkew before the row
	// expires. Defaults to the constant [Retention], seven days. It must be at
	// least seven days, in whole seconds. All writers of a table must have the same
	// Retention: a row from a writer with a shorter Retention is deleted while the
	// other writers still rely on the row. After a change to a longer Retention, an
	// event that is delivered again is counted again if the row of its window is
	// already deleted.
	Retention time.Duration

	// MaxRecorded is the most events that one row records, including refunded
	// events. It also bounds the price of a write: about 1 WCU for each 25
	// events. So a month of 7,000 events of one key costs some 280 WCU a write in
	// the end. Defaults to 1000; at most 7000.
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
	c.Rand = cmp.Or(c.Rand, rand.Reader)
	c.MaxRecorded = cmp.Or(c.MaxRecorded, 1000)
	c.Retention = cmp.Or(c.Retention, Retention)
	c.MaxSkew = cmp.Or(c.MaxSkew, 5*time.Minute)
}

func (c *Config) validate() error {
	return cmp.Or(
		check.Refuse(pkg, "Config.Window", c.Window < Day || c.Window > Month, fmt.Sprintf("must be Day, Hour, Week or Month, is %d", c.Window)),
		check.Refuse(pkg, "Config.MaxRecorded", c.MaxRecorded < 1 || c.MaxRecorded > mostRecorded, fmt.Sprintf("must be 1 to 7000, is %d", c.MaxRecorded)),
		check.Refuse(pkg, "Config.Retention", c.Retention < Retention || c.Retention%time.Second != 0, fmt.Sprintf("must be at least 7 days, in whole seconds, is %v", c.Retention)),
		check.Refuse(pkg, "Config.MaxSkew", c.MaxSkew < 0 || c.MaxSkew > mostSkew, fmt.Sprintf("must be 0 to 24 hours, is %v", c.MaxSkew)))
}

// Store counts in one table. It is safe for concurrent use.
type Store struct {
	api   record.API // with the names of FORMAT.md
	own   record.API // as it was given
	table string
	zone  tzclock.Zone
	cfg   Config
	names *names.Names

	last atomic.Pointer[window] // of the last event
}

// New returns a Store over a table. An event counts in its window: its local day in
// the zone, unless [Config].Window says otherwise. A nil Config works. An api that wraps
// a client must pass on the options of a call: [Store.AddUnkeyed] uses them to switch
// off the SDK's retries.
//
// A table may hold keys of several zones, if each key is always written by
// stores of the same zone. If a key changes to a store of another zone, the
// same event may fall into another window there, and be granted and counted twice.
func New(api record.API, table string, zone tzclock.Zone, cfg *Config) (*Store, error) {
	s := &Store{api: api, own: api, table: table, zone: zone}
	if cfg != nil {
		s.cfg = *cfg
	}

	s.cfg.fill()
	err := cmp.Or(check.NotNil(pkg, "api", api), check.Table(pkg, table), check.Zone(pkg, "zone", zone), s.cfg.validate())
	if err != nil {
		return nil, err
	}

	if s.names, err = names.New(pkg, s.cfg.Names, attributes, nil, entryPrefix); err != nil {
		return nil, err
	}

	s.api = names.Client(s.names, api)
	return s, nil
}

// Table returns the definition of the table, for [schema.Create]. Rows expire by
// TTL.
func (s *Store) Table() schema.Table {
	return s.names.TableOf(s.table, attrScope, attrDate, attrTTL)
}

// Actions returns what IAM must grant for each call: see [schema.Policy].
func (s *Store) Actions() schema.Actions {
	update := schema.Grants{"": {"UpdateItem"}}
	return schema.Actions{
		Calls: map[string]schema.Grants{
			"Take": update, "TakeItem": update, "TakeAll": update,
			"Refund": update, "RefundItem": update,
			"Adjust": update, "AdjustItem": update,
			"Add":        update,
			"AddUnkeyed": update,
			"Get":        {"": {"GetItem"}},
		},
		Operators: map[string]schema.Grants{"Erase": {"": {"BatchWriteItem", "Query"}}},
	}
}
