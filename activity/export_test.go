package activity

import (
	"time"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

// For the tests of laws.
var (
	NameTime   = nameTime
	ScopeActor = scopeActor
)

const (
	MinMillis = minMillis
	MaxMillis = maxMillis
)

// Bounds returns the bounds of ids and of keys by name in a period, and
// whether it holds a time.
func Bounds(name string, from, to time.Time) (idLo, idHi, keyLo, keyHi string, holds func(time.Time) bool) {
	p := periodOf(from, to)
	idLo, idHi = p.ids()
	lo, hi := p.digits()
	return idLo, idHi, namePrefix(name) + lo, namePrefix(name) + hi, p.holds
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

// Lookalikes is what a walk by the name skips behind the key.
func Lookalikes(name, key string) string { return lookalikes(namePrefix(name), key) }
