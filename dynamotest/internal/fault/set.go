package fault

import (
	"sync"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
	"github.com/homeops/ddbpatterns/dynamotest/internal/target"
)

// A Set holds the faults that wait. It is safe for concurrent use.
type Set struct {
	tables Tables // nil on other backends

	mu     sync.Mutex // guards what follows
	faults []*armed
}

// NewSet returns an empty set for the requests to a server. The tables are nil
// if the server is not in this process.
func NewSet(tables Tables) *Set { return &Set{tables: tables} }

// Add arms a fault. It refuses one that no request could meet.
func (s *Set) Add(f Fault) error {
	if err := f.check(s.tables != nil); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &armed{Fault: f, tables: s.tables, met: map[uint64]uint64{}})
	return nil
}

// Heal removes all faults, and returns a sentence for each that never fired, with
// the requests that passed instead.
func (s *Set) Heal() (idle []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.fired == 0 || f.Effect.Call != nil && !f.called.Load() {
			idle = append(idle, f.idle())
		}
	}
	s.faults = nil
	return idle
}

// targets lists what a request is about. On other backends that is how faults
// without a Key see it: see [armed.sees].
func (s *Set) targets(req api.Request) []target.Target {
	if s.tables != nil {
		return target.Of(req, func(table string) []string {
			parts := s.tables.KeyParts(table)
			if parts == nil {
				return nil
			}
			return keys.Names(parts)
		})
	}
	return target.Elsewhere(req)
}
