package post

import (
	"sync"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/outbox"
)

// Counts are what the posters of a process did. Sums also has what they could not write
// down: the poster's row has what counts.
type Counts struct {
	outbox.Sums
	Posts   int           // requests to the sink to add rows, whatever the answer
	Asked   int           // requests for what the sink holds
	Refused int           // posts that the sink refused
	Cut     int           // texts that were cut for the sink
	Waited  time.Duration // for the sink's limits, its failures and its answers
}

// Tally counts. It is safe for concurrent use, and for several posters.
type Tally struct {
	mu sync.Mutex
	n  Counts
}

// Counts returns the counts.
func (t *Tally) Counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n
}

func (t *Tally) add(count func(*Counts)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	count(&t.n)
}

// count counts for the poster's row, which is written with the next batch.
func (t *turn) count(add func(*outbox.Sums)) {
	add(&t.budget.used.Sums)
	t.Tally.add(func(n *Counts) { add(&n.Sums) })
}
