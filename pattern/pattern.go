package pattern

import (
	"time"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/names"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// pkg names the package in errors.
const pkg = "pattern"

// Config of a Store. The zero Config works.
type Config struct {
	// Now is the clock that sets updatedAt and decides which events are too far
	// ahead. Defaults to time.Now.
	Now func() time.Time

	// ConsistentReads makes Get and All see every write that was answered
	// before they were called. Such a read costs twice as much. Observe always
	// reads consistently. Defaults to false, because one more event rarely
	// changes what a habit shows.
	ConsistentReads bool

	// Names gives attributes other names in the table, each by its name in FORMAT.md:
	// {"pk": "id", "totalCount": "n"}. All writers of a table must use the same Names.
	// Errors that name an attribute have its name in FORMAT.md.
	Names map[string]string
}

func (c *Config) fill() {
	if c.Now == nil {
		c.Now = time.Now
	}
}

// Store keeps habits in one table. It is safe for concurrent use.
type Store struct {
	zone  tzclock.Zone
	cfg   Config
	names *names.Names
	rows  *record.Rows[Habit]
}

// New returns a Store over a table. The zone determines the weekday and the
// hour in which an event counts. A nil Config works.
func New(api record.API, table string, zone tzclock.Zone, cfg *Config) (*Store, error) {
	s := &Store{zone: zone}
	if cfg != nil {
		s.cfg = *cfg
	}

	s.cfg.fill()
	if err := check.Zone(pkg, "zone", zone); err != nil {
		return nil, err
	}

	var err error
	if s.names, err = names.New(pkg, s.cfg.Names, attributes, nil); err != nil {
		return nil, err
	}

	s.rows, err = record.New(names.Client(s.names, api), table,
		record.Kind[Habit]{Package: pkg, Type: rowType, Count: attrTotal, Decode: decode},
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
		"Observe":    a.Calls["Apply"],
		"ObserveAll": a.Calls["ApplyAll"],
		"Get":        a.Calls["Get"],
		"All":        a.Calls["All"],
	}
	return a
}
