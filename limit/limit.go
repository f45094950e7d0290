package limit

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io"
	"time"

	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/names"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// pkg names the package in errors.
const pkg = "limit"

// Bounds of the arguments.
const (
	mostWeight = 1_000_000_000_000
	leastUnit  = time.Microsecond // of Per/N: rounding up costs under 0.1 %
	mostSpan   = 366 * 24 * time.Hour
	grace      = time.Hour   // from full to the ttl
	maxSkew    = time.Minute // between the clocks of two callers
	denyFor    = time.Second // how long a refusal is repeated without a request

	tries = 4 // requests of a call at most, before it is ErrContended
)

var (
	// ErrContended is returned when other callers wrote the row first at each of the
	// 4 tries. Call again.
	ErrContended = errors.New("limit: other callers wrote the row first at every try")

	// ErrForgotten is returned by Settle if the row does not have the take: 16 later
	// writes have pushed it out, the row has expired, or the take was never granted or
	// had other weights. Nothing changes: what was taken comes back with time, and what
	// was used beyond it is not counted.
	ErrForgotten = errors.New("limit: the row has no such take, or has forgotten it")

	// ErrSettled is returned by Settle if the event was settled to other weights
	// already, which stand.
	ErrSettled = errors.New("limit: the event was settled to other weights already")
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

	// Timeout bounds the requests of a call, with all its tries, but not the sleep of
	// Take.Wait. After it the call returns an error, and the caller decides whether to
	// go on without an answer. Defaults to 200 ms. The SDK's pauses are mostly longer,
	// so a lost reply is mostly an error.
	Timeout time.Duration

	// MaxWait is the longest Wait of a [Take], and bounds the debts of [Store.Settle].
	// All writers of a table must have the same MaxWait. A time in a row that lies
	// further ahead than the refill of Burst, MaxWait and a minute comes from a wrong
	// clock, or from a limit that was changed: the next Take replaces it. Defaults
	// to 10 minutes; at most 366 days.
	MaxWait time.Duration
}

// Store limits by the rows of one table, and remembers what it last heard of up to
// 10,000 keys. It is safe for concurrent use. One Store for each table and process is
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
	c := *cmp.Or(cfg, &Config{})
	if c.Now == nil {
		c.Now = time.Now
	}

	c.Rand = cmp.Or(c.Rand, rand.Reader)
	c.Timeout, c.MaxWait = cmp.Or(c.Timeout, 200*time.Millisecond), cmp.Or(c.MaxWait, 10*time.Minute)
	err := cmp.Or(check.NotNil(pkg, "api", api), check.Table(pkg, table),
		check.Refuse(pkg, "Config.Timeout", c.Timeout < 0, "must not be negative, is "+c.Timeout.String()),
		check.Refuse(pkg, "Config.MaxWait", c.MaxWait < 0 || c.MaxWait > mostSpan, "must be 0 to 366 days, is "+c.MaxWait.String()))
	if err != nil {
		return nil, err
	}

	s := &Store{table: table, cfg: c, memory: &memory{random: c.Rand, slots: map[string]*slot{}}}
	if s.names, err = names.New(pkg, c.Names, attributes, nil, timePrefix); err != nil {
		return nil, err
	}

	s.api = names.Client(s.names, api)
	return s, nil
}

// Table returns the definition of the table, for [schema.Create]. Other records may
// share the table. Rows expire by TTL.
func (s *Store) Table() schema.Table {
	return s.names.TableOf(s.table, attrPK, attrSK, attrTTL)
}

// Actions returns what IAM must grant for each call: see [schema.Policy].
func (s *Store) Actions() schema.Actions {
	update := schema.Grants{"": {"UpdateItem"}}
	return schema.Actions{Calls: map[string]schema.Grants{"Take": update, "Settle": update}}
}
