package activity

import (
	"time"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// For the tests of laws.
var (
	NameTime = nameTime
)

const (
	MinMillis = minMillis
	MaxMillis = maxMillis
)

// Bounds returns the bounds of ids and of keys by name in a period, and
// whether it holds a time.
func Bounds(name string, from, to time.Time) (idLo, idHi, keyLo, keyHi string, holds func(time.Time) bool) {
	p := item.PeriodOf(from, to)
	idLo, idHi = idsOf(p)
	lo, hi := digitsOf(p)
	return idLo, idHi, namePrefix(name) + lo, namePrefix(name) + hi, p.Holds
}

// Encode and Decode are the codec of rows.
func (s *Store) Encode(a Activity) (ddb.Item, error)  { return s.encode(a) }
func (s *Store) Decode(it ddb.Item) (Activity, error) { return s.decode(it) }

// Defaults returns the Config that a nil one makes.
func Defaults() Config {
	var c Config
	c.fill()
	return c
}
