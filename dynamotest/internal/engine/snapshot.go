package engine

import "sync"

// A Snapshot is the state of an engine at one time. It shares with the engine
// everything that neither has changed since, so taking one costs almost
// nothing.
type Snapshot struct {
	mu    sync.Mutex // guards what follows: cloning a tree counts as a write
	state state
}

// Snapshot returns the engine's present state.
func (e *Engine) Snapshot() *Snapshot {
	e.mu.Lock()
	defer e.mu.Unlock()
	return &Snapshot{state: e.state.clone()}
}

// Restore sets the engine to the state of a snapshot, its own or that of
// another engine. The snapshot can be used again.
func (e *Engine) Restore(s *Snapshot) {
	s.mu.Lock()
	restored := s.state.clone()
	s.mu.Unlock()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.journal != nil {
		panic("dynamotest: Restore: the server keeps a data file, which cannot go back")
	}
	e.state = restored
	for name := range e.tables {
		e.throughput.ForgetTable(name)
	}
}
