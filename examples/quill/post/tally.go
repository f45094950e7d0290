package post

import (
	"sync"
	"time"
)

// Counts are what posters did.
type Counts struct {
	Posted        int           // facts that the sink took, by its reply
	Recovered     int           // facts that the sink was found to have, after a lost reply or a crash
	Again         int           // rows that were posted again without knowing whether they were there
	DimensionRows int           // rows of contacts and deals that the sink took
	Posts         int           // requests to the sink to add rows, whatever the answer
	Asked         int           // requests to the sink for what it holds
	Refused       int           // posts that the sink refused
	Cut           int           // texts that were cut for the sink
	Waited        time.Duration // for the sink: its limits, its trouble, an answer
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
