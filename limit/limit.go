package limit

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/names"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// pkg names the package in errors.
const pkg = "limit"

// Bounds of the arguments.
const (
	mostLimits = 8 // of one Take
	mostWeight = 1_000_000_000_000
	leastUnit  = time.Microsecond // of Per/N: rounding up costs under 0.1 %
	mostSpan   = 366 * 24 * time.Hour
	grace      = time.Hour // from full to the ttl
)

// Config of a Store. The zero Config works.
type Config struct {
	// Now is the clock. Defaults to time.Now.
	Now func() time.Time

	// Rand is the source of the events that a Take is not given, and of pauses. It
	// must be safe for concurrent use. Defaults to crypto/rand.
	Rand io.Reader

	// Names gives attributes other names in the table, each by its name in
	// FORMAT.md: {"pk": "tenant", "ttl": "expiresAt"}. All writers of a table must
	// use the same Names. The attributes of limits, which begin with t_, keep their
	// names.
	Names map[string]string

	// Timeout bounds a call with all its tries. After it the call returns an error:
	// whether a limit that cannot be asked lets through or not is the caller's to
	// say. Defaults to 200 ms.
	Timeout time.Duration

	// MaxWait is the longest Wait of a [Take], and the longest time by which a
	// Settle above what was taken makes others wait. All writers of a table must
	// have the same MaxWait. Defaults to 10 minutes; at most 366 days.
	MaxWait time.Duration

	// MaxSkew is how far the clocks of two callers may differ. What stands in a row
	// further ahead than Burst, MaxWait and MaxSkew is the work of a wrong clock,
	// or of a limit that was changed: the next Take replaces it. Defaults to a
	// minute; at most a day.
	MaxSkew time.Duration

	// DenyFor is the longest for which a refusal is repeated without a request, if
	// what another process gives back may have made room meanwhile. Defaults to a
	// second.
	DenyFor time.Duration
}

// fill sets what is not set, and refuses what is invalid.
func (c *Config) fill() error {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	for name, as := range c.Names {
		if strings.HasPrefix(as, timePrefix) {
			return event.BadInput(pkg, fmt.Sprintf("Config.Names[%q]", name), "must not begin with t_, because the attributes of limits begin with it")
		}
	}
	for _, d := range []struct {
		name            string
		is              *time.Duration
		otherwise, most time.Duration
	}{
		{"Timeout", &c.Timeout, 200 * time.Millisecond, time.Hour},
		{"MaxWait", &c.MaxWait, 10 * time.Minute, mostSpan},
		{"MaxSkew", &c.MaxSkew, time.Minute, 24 * time.Hour},
		{"DenyFor", &c.DenyFor, time.Second, time.Hour},
	} {
		if *d.is = cmp.Or(*d.is, d.otherwise); *d.is < 0 || *d.is > d.most {
			return event.BadInput(pkg, "Config."+d.name, fmt.Sprintf("must be between 0 and %v, is %v", d.most, *d.is))
		}
	}
	return nil
}

// Store limits by the rows of one table, and remembers what it last heard of 10,000
// keys. It is safe for concurrent use. One Store for each table and process is
// enough: what another Store hears, this one does not know.
type Store struct {
	api    record.API // with the names of FORMAT.md
	table  string
	cfg    Config
	names  *names.Names
	memory *memory
}

// New returns a Store over a table. A nil Config works.
func New(api record.API, table string, cfg *Config) (*Store, error) {
	s := &Store{api: api, table: table}
	if cfg != nil {
		s.cfg = *cfg
	}
	err := cmp.Or(check.NotNil(pkg, "api", api), check.Table(pkg, table), s.cfg.fill())
	if err != nil {
		return nil, err
	}
	if s.names, err = names.New(pkg, s.cfg.Names, attributes, nil); err != nil {
		return nil, err
	}
	s.api, s.memory = names.Client(s.names, api), &memory{cfg: &s.cfg}
	return s, nil
}

// Table returns the definition of the table, for [schema.Create]. Other records may
// share the table. Rows expire by TTL.
func (s *Store) Table() schema.Table {
	return s.names.Table(schema.Table{
		Name: s.table,
		Key:  schema.Key{Partition: schema.String(attrPK), Sort: schema.String(attrSK)},
		TTL:  attrTTL,
	})
}

// Actions returns what IAM must grant for each call: see [schema.Policy].
func (s *Store) Actions() schema.Actions {
	update := schema.Grants{"": {"UpdateItem"}}
	return schema.Actions{Calls: map[string]schema.Grants{
		"Take": update, "Wait": update, "Settle": update, "Get": {"": {"GetItem"}},
	}}
}
