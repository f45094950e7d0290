package intake

import (
	"log/slog"
	"sync"
)

// Counts are how many events came in, and what became of them. Received is New,
// Duplicate, Refused and Waiting together, always.
type Counts struct {
	Received  int `json:"received"`
	New       int `json:"new"`       // their fact was written
	Duplicate int `json:"duplicate"` // known already, or a copy in the same request
	Refused   int `json:"refused"`   // unreadable, and kept
	Waiting   int `json:"waiting"`   // for the event that is a fact, or to be sent again

	Old   int `json:"-"` // of Duplicate: marked by the pipeline before the cutover
	Later int `json:"-"` // of Duplicate: another status of a call that is counted

	// Unstored are those of Waiting that were answered 503. They come again, and are
	// new then; or duplicates, of those whose transaction took effect and whose reply
	// was lost until the time was over. So there are at least New facts, and at most
	// New and Unstored together.
	Unstored int `json:"-"`

	// These are requests, of whose events none is received: of somebody else, and
	// those whose body is too large or ended early.
	Forged int `json:"-"`
	Unread int `json:"-"`
}

// LogValue is the counts in a log, without those that are zero.
func (c Counts) LogValue() slog.Value {
	attrs := []slog.Attr{slog.Int("received", c.Received)}
	for _, one := range []struct {
		name  string
		count int
	}{
		{"new", c.New},
		{"duplicate", c.Duplicate},
		{"refused", c.Refused},
		{"waiting", c.Waiting},
		{"old", c.Old},
		{"later", c.Later},
		{"unstored", c.Unstored},
	} {
		if one.count != 0 {
			attrs = append(attrs, slog.Int(one.name, one.count))
		}
	}
	return slog.GroupValue(attrs...)
}

// plus adds the others.
func (c *Counts) plus(o Counts) {
	c.Received += o.Received
	c.New += o.New
	c.Duplicate += o.Duplicate
	c.Refused += o.Refused
	c.Waiting += o.Waiting
	c.Old += o.Old
	c.Later += o.Later
	c.Unstored += o.Unstored
	c.Forged += o.Forged
	c.Unread += o.Unread
}

// verdict is what became of an event: one for each.
type verdict int

const (
	unstored verdict = iota // what nobody has settled is not
	isNew
	isDuplicate
	isOld
	isLater
	isRefused
	isWaiting
)

// count counts an event by its verdict.
func (c *Counts) count(v verdict) {
	one := map[verdict]Counts{
		unstored:    {Waiting: 1, Unstored: 1},
		isNew:       {New: 1},
		isDuplicate: {Duplicate: 1},
		isOld:       {Duplicate: 1, Old: 1},
		isLater:     {Duplicate: 1, Later: 1},
		isRefused:   {Refused: 1},
		isWaiting:   {Waiting: 1},
	}[v]
	one.Received = 1
	c.plus(one)
}

// Tally adds up the requests of a Handler. It is safe for concurrent use.
type Tally struct {
	mu    sync.Mutex
	total Counts
}

// Snapshot returns what has been counted so far: whole requests.
func (t *Tally) Snapshot() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

func (t *Tally) add(c Counts) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total.plus(c)
}
