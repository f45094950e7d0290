package pattern

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/rmw"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// API is what the package calls of *dynamodb.Client.
type API interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
}

var _ API = (*dynamodb.Client)(nil)

// Config of a store. The zero Config works.
type Config struct {
	// Now is the clock of updatedAt and of what is too far ahead. Defaults to
	// time.Now.
	Now func() time.Time

	// ConsistentReads makes Get and All see every write that was answered
	// before, at twice the price. Observe always does. Defaults to false: a
	// habit does not change with the event of this moment.
	ConsistentReads bool
}

// Store keeps habits in one table. It is safe for concurrent use.
type Store struct {
	api  API
	zone tzclock.Zone
	cfg  Config
	rows rmw.Rows
}

// New returns the store of the table, which it does not look at yet: see
// [Store.Table]. The zone gives events their weekdays and hours. A nil Config
// works.
func New(api API, table string, zone tzclock.Zone, cfg *Config) (*Store, error) {
	if api == nil {
		return nil, event.BadInput("pattern", "api", "must not be nil")
	}
	if err := check.Table("pattern", table); err != nil {
		return nil, err
	}
	if err := zone.Check("pattern", "zone"); err != nil {
		return nil, err
	}
	s := &Store{api: api, zone: zone, cfg: withDefaults(cfg)}
	s.rows = rmw.Rows{
		API: api, Table: table, Package: "pattern", Method: "Observe", Now: s.cfg.Now,
		Type: rowType, Count: attrTotal, Update: observe, Names: observeNames, Contended: ErrContended,
	}
	return s, nil
}

func withDefaults(cfg *Config) Config {
	var c Config
	if cfg != nil {
		c = *cfg
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Table returns the definition of the table, for schema.Create. Other stores
// may share it.
func (s *Store) Table() schema.Table {
	return schema.Table{
		Name: s.rows.Table,
		Key:  schema.Key{Partition: schema.String(attrPK), Sort: schema.String(attrSK)},
	}
}
