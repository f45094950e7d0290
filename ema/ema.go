package ema

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// pkg names the package in errors.
const pkg = "ema"

// API has the methods of *dynamodb.Client that the package calls.
type API interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
}

var _ API = (*dynamodb.Client)(nil)

// Record says what a store's averages measure. The Record decides the name of
// the attribute that holds the average and, without a Config.Prefix, the keys
// of the rows.
type Record uint8

const (
	// Effort is what something costs a subject. A metric is the name of an
	// activity or of any other measure, such as a duration in seconds. Values
	// may be negative.
	Effort Record = iota
	// Preference is how a subject likes to be treated. The metrics are
	// [IgnoreRate], [ResponseTiming], [InteractionFrequency], and any others
	// that an application has.
	Preference
)

// Metrics of [Preference] that are part of the format.
const (
	IgnoreRate           = "ignoreRate"
	ResponseTiming       = "responseTimingPref"
	InteractionFrequency = "interactionFrequency"
)

// prefix begins the partition keys, and is the attribute type.
func (r Record) prefix() string { return [...]string{"EFFORT", "PREF"}[r] }

// attribute holds the average.
func (r Record) attribute() string { return [...]string{"ema", "value"}[r] }

// String returns "effort" or "preference".
func (r Record) String() string {
	if r > Preference {
		return fmt.Sprintf("Record(%d)", uint8(r))
	}
	return [...]string{"effort", "preference"}[r]
}

// Average is what was learned about one metric of a subject.
type Average struct {
	Subject   string
	Metric    string
	Value     float64
	Samples   int64     // values counted
	UpdatedAt time.Time // time of the last write
}

// DefaultAlpha is the weight of each value after the first if Config.Alpha is
// not set.
const DefaultAlpha = 0.3

// Config of a Store. The zero Config works.
type Config struct {
	// Record says what the averages measure. Defaults to Effort.
	Record Record

	// Prefix begins the partition keys and is the attribute "type" of the rows.
	// Stores with different prefixes have different rows, so use a Prefix of your
	// own for averages of other things. It must not hold '#'. In a shared table
	// it must differ from the prefixes of other packages, such as PATTERN.
	// Defaults to EFFORT for Effort and PREF for Preference.
	Prefix string

	// Alpha is the weight of each value after the first, above 0 and at most 1.
	// At 1 the average is the latest value. Defaults to DefaultAlpha. With it
	// the latest two of many values have about half of the weight together.
	Alpha float64

	// Now is the clock that sets updatedAt and decides which events are too far
	// ahead. Defaults to time.Now.
	Now func() time.Time

	// ConsistentReads makes Get and All see every write that was answered
	// before they were called. Such a read costs twice as much. Observe always
	// reads consistently. Defaults to false: it rarely matters whether an
	// average already contains the latest value.
	ConsistentReads bool
}

func (c *Config) fill() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Prefix == "" && c.Record <= Preference {
		c.Prefix = c.Record.prefix()
	}
	if c.Alpha == 0 {
		c.Alpha = DefaultAlpha
	}
}

func (c *Config) validate() error {
	if c.Record > Preference {
		return event.BadInput(pkg, "Config.Record", "must be Effort or Preference, is "+c.Record.String())
	}
	if err := check.ID(pkg, "Config.Prefix", c.Prefix); err != nil {
		return err
	}
	if len(c.Prefix) > 255 {
		return event.BadInput(pkg, "Config.Prefix", "must have at most 255 bytes")
	}
	if strings.Contains(c.Prefix, "#") {
		return event.BadInput(pkg, "Config.Prefix", "must not contain '#', which marks the end of the prefix in keys")
	}
	if !(c.Alpha > 0 && c.Alpha <= 1) { // refuses NaN too
		return event.BadInput(pkg, "Config.Alpha", fmt.Sprintf("must be above 0 and at most 1, is %g", c.Alpha))
	}
	return nil
}

// Store keeps averages of one [Record] in one table. It is safe for concurrent
// use.
type Store struct {
	cfg  Config
	rows *record.Rows[Average]
}

// New returns a Store over a table. A nil Config works.
func New(api API, table string, cfg *Config) (*Store, error) {
	s := &Store{}
	if cfg != nil {
		s.cfg = *cfg
	}
	s.cfg.fill()
	if err := s.cfg.validate(); err != nil {
		return nil, err
	}
	var err error
	s.rows, err = record.New(api, table,
		record.Kind[Average]{Package: pkg, Type: s.cfg.Prefix, Count: attrSamples, Decode: s.decode},
		&record.Config{Now: s.cfg.Now, ConsistentReads: s.cfg.ConsistentReads})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Table returns the definition of the table, for [schema.Create]. Other records
// may share the table.
func (s *Store) Table() schema.Table { return s.rows.Table() }

// Actions returns what IAM must grant for each call: see [schema.Policy].
func (s *Store) Actions() schema.Actions {
	a := s.rows.Actions()
	a.Calls = map[string]schema.Grants{
		"Observe": a.Calls["Apply"],
		"Get":     a.Calls["Get"],
		"All":     a.Calls["All"],
	}
	return a
}
