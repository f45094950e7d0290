package engine

import (
	"maps"
	"slices"
	"sync"

	"github.com/homeops/ddbpatterns/dynamotest/internal/stream"
)

// A Snapshot is the state of an engine at one time. It shares with the engine
// everything that neither has changed since, so taking one costs almost
// nothing.
type Snapshot struct {
	mu    sync.Mutex // guards what follows: cloning a tree counts as a write
	state state
}

// state is the whole state of an engine.
type state struct {
	tables map[string]*table // by name
	serial int64             // counts the tables ever made
	tokens tokens            // of transactions
	// streams has the streams of all tables, including deleted ones, by ARN.
	streams stream.Set
}

// clone returns a copy that does not change with s.
func (s *state) clone() state {
	out := *s
	out.streams = s.streams.Clone()
	out.tables = make(map[string]*table, len(s.tables))
	for name, t := range s.tables {
		c := t.clone()
		if t.stream != nil {
			c.stream = out.streams[t.stream.ARN] // nil if it was removed
		}
		out.tables[name] = c
	}
	out.tokens = s.tokens.clone()
	return out
}

func (t *table) clone() *table {
	out := *t
	out.past = new(past) // a copy begins with the present
	out.builds = nil
	out.items = t.items.clone()
	out.indexes = make([]*index, len(t.indexes))
	for i, x := range t.indexes {
		y := *x
		items := x.items.clone()
		y.items, y.past = &items, new(past)
		out.indexes[i] = &y
	}
	return &out
}

func (d *data) clone() data { return data{Tree: *d.Tree.Clone(), bytes: d.bytes} }

func (t *tokens) clone() tokens {
	// Neither of the two may append to memory that the other reads.
	t.queue = slices.Clip(t.queue)
	return tokens{spent: *t.spent.Clone(), queue: t.queue}
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

// sorted lists the tables by name.
func (s *state) sorted() []*table {
	names := slices.Sorted(maps.Keys(s.tables))
	out := make([]*table, len(names))
	for i, name := range names {
		out[i] = s.tables[name]
	}
	return out
}
