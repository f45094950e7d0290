package ema

import (
	"fmt"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/names"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// pkg names the package in errors.
const pkg = "ema"

// Average is what was learned about one metric of a subject.
type Average struct {
	Subject string
	Metric  string
	Value   float64
	Samples int64 // values counted
}

// Config of a Store. The zero Config works.
type Config struct {
	// Prefix begins the partition keys and is the attribute "type" of the rows.
	// Stores with different prefixes have different rows, so use a Prefix of your
	// own for averages of other things. It must not hold '#'. In a shared table
	// it must differ from the prefixes of other packages, such as PATTERN.
	// Defaults to EFFORT.
	Prefix string

	// Alpha is the weight of each value after the first, above 0 and at most 1.
	// At 1 the average is the latest value. Defaults to 0.3: then the latest two of
	// many values have about half of the weight together.
	Alpha float64

	// Now is the clock that sets updatedAt and decides which events are too far
	// ahead. Defaults to time.Now.
	Now func() time.Time

	// ConsistentReads makes Get and All see every write that was answered
	// before they were called. Such a read costs twice as much. Observe always
	// reads consistently. Defaults to false: it rarely matters whether an
	// average already contains the latest value.
	ConsistentReads bool

	// Names gives attributes other names in the table, each by its name in FORMAT.md:
	// {"ema": "average", "sk": "metric"}. All writers of a table must use the same
	// Names. Errors that name an attribute have its name in FORMAT.md.
	Names map[string]string
}

func (c *Config) fill() {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Prefix == "" {
		c.Prefix = "EFFORT"
	}
	if c.Alpha == 0 {
		c.Alpha = 0.3
	}
}

func (c *Config) validate() error {
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

// Store keeps the averages of one Prefix in one table. It is safe for concurrent
// use.
type Store struct {
	cfg   Config
	names *names.Names
	rows  *record.Rows[Average]
}

// New returns a Store over a table. A nil Config works.
func New(api record.API, table string, cfg *Config) (*Store, error) {
	s := &Store{}
	if cfg != nil {
		s.cfg = *cfg
	}

	s.cfg.fill()
	if err := s.cfg.validate(); err != nil {
		return nil, err
	}

	var err error
	if s.names, err = names.New(pkg, s.cfg.Names, attributes, nil); err != nil {
		return nil, err
	}

	s.rows, err = record.New(names.Client(s.names, api), table,
		record.Kind[Average]{Package: pkg, Type: s.cfg.Prefix, Count: attrSamples, Decode: decode},
		&record.Config{Now: s.cfg.Now, ConsistentReads: s.cfg.ConsistentReads})
	if err != nil {
		return nil, err
	}

	return s, nil
}

// Table returns the definition of the table, for [schema.Create]. Other records
// may share the table.
func (s *Store) Table() schema.Table { return s.names.Table(s.rows.Table()) }

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
