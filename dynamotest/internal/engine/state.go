package engine

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
	"github.com/homeops/ddbpatterns/dynamotest/internal/stream"
	"github.com/homeops/ddbpatterns/dynamotest/internal/tree"
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

// tokenLife is how long a client request token is valid.
const tokenLife = 10 * time.Minute

// tokens keeps the transactions that have taken effect. An SDK sends a new
// token with every transaction, so each new one also removes old ones.
type tokens struct {
	spent tree.Tree[api.Fingerprint]
	queue []spent // in the order they were spent

	journal *journal.Journal // nil in memory
}

// spent is a token that was used.
type spent struct {
	token string
	until time.Time
}

// find returns the payload of a token.
func (t *tokens) find(token string, now time.Time) (api.Fingerprint, bool) {
	for len(t.queue) > 0 && !now.Before(t.queue[0].until) {
		t.spent.Delete(t.queue[0].token)
		t.queue = t.queue[1:]
	}
	return t.spent.Get(token)
}

func (t *tokens) spend(token string, payload api.Fingerprint, now time.Time) {
	t.spent.Set(token, payload)
	t.queue = append(t.queue, spent{token, now.Add(tokenLife)})
	if t.journal != nil {
		t.log(token, payload, now)
	}
}

func (t *tokens) clone() tokens {
	// Neither of the two may append to memory that the other reads.
	t.queue = slices.Clip(t.queue)
	return tokens{spent: *t.spent.Clone(), queue: t.queue}
}

// log appends a spent token.
func (t *tokens) log(token string, payload api.Fingerprint, now time.Time) {
	t.journal.Append(weight(nil), journal.AppendEntry(nil, now, func(w *api.Writer) { writeSpent(w, token, payload) }))
}

func writeSpent(w *api.Writer, token string, payload api.Fingerprint) {
	w.Text("Token", token)
	w.Text("Payload", fmt.Sprintf("%x", payload))
}
