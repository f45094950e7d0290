package post

import (
	"sync"
	"time"
)

// Counts are what posters did.
type Counts struct {
	Posted        int           // facts that the sink accepted in its reply
	Recovered     int           // facts that the sink had after a lost reply or a crash
	Again         int           // rows that were posted again although the sink may have had them
	DimensionRows int           // rows of contacts and deals that the sink accepted
	Posts         int           // requests to the sink to add rows, whatever the answer
	Asked         int           // requests for what the sink holds
	Refused       int           // posts that the sink refused
	Cut           int           // texts that were cut for the sink
	Waited        time.Duration // for the sink's limits, its failures and its answers
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
