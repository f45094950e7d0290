package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/journal"
	"github.com/homeops/ddbpatterns/dynamotest/internal/tree"
)

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
