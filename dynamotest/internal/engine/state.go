package engine

import (
	"maps"
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/stream"
)

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

// names lists the names of the tables, sorted.
func (s *state) names() []string { return slices.Sorted(maps.Keys(s.tables)) }

// sorted lists the tables by name.
func (s *state) sorted() []*table {
	out := make([]*table, 0, len(s.tables))
	for _, name := range s.names() {
		out = append(out, s.tables[name])
	}
	return out
}

// weight returns the weight of a file with the present state only.
func (s *state) weight() int64 {
	total := int64(0)
	for _, t := range s.tables {
		total += t.weight() + t.items.bytes + int64(t.items.Len())*weight(nil)
	}
	return total
}
