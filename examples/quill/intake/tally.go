package intake

import (
	"log/slog"
	"sync"
)

// Counts are how many events came in, and what became of them. Received is
// always the sum of New, Duplicate, Refused, Waiting and Ignored.
type Counts struct {
	Received  int `json:"received"`
	New       int `json:"new"`               // their fact was written
	Duplicate int `json:"duplicate"`         // known already, or a copy in the same request
	Refused   int `json:"refused"`           // unreadable, and kept
	Waiting   int `json:"waiting"`           // for the event that is a fact, or to be sent again
	Ignored   int `json:"ignored,omitempty"` // they carry no fact, and are not kept

	Incomplete int `json:"-"` // of New: a column was wrong, and left out

	Old   int `json:"-"` // of Duplicate: marked by the pipeline before the cutover
	Later int `json:"-"` // of Duplicate: another status of a call that is counted

	// Unstored are the events in Waiting that were answered 503. They come again
	// and are new then, even if their transaction took effect and its reply stayed
	// lost until the time was over. Only another process does not know that, and
	// counts them as duplicates. So the number of facts is at least New, and at most
	// New plus Unstored and Spooled.
	Unstored int `json:"-"`
	// Spooled are the events in Waiting that are in the spool. They are received
	// once more when they are taken from it.
	Spooled int `json:"-"`

	// These are requests whose events do not count as received: they came from
	// somebody else, or their body was too large or ended early.
	Forged int `json:"-"`
	Unread int `json:"-"`
}

// LogValue returns the counts for a log, without those that are zero.
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
		{"ignored", c.Ignored},
		{"incomplete", c.Incomplete},
		{"old", c.Old},
		{"later", c.Later},
		{"unstored", c.Unstored},
		{"spooled", c.Spooled},
	} {
		if one.count != 0 {
			attrs = append(attrs, slog.Int(one.name, one.count))
		}
	}
	return slog.GroupValue(attrs...)
}

// plus adds the other counts.
func (c *Counts) plus(o Counts) {
	c.Received += o.Received
	c.New += o.New
	c.Duplicate += o.Duplicate
	c.Refused += o.Refused
	c.Waiting += o.Waiting
	c.Ignored += o.Ignored
	c.Incomplete += o.Incomplete
	c.Old += o.Old
	c.Later += o.Later
	c.Unstored += o.Unstored
	c.Spooled += o.Spooled
	c.Forged += o.Forged
	c.Unread += o.Unread
}

// verdict is what became of an event. Each event has one.
type verdict int

const (
	unstored verdict = iota // the zero verdict: an event that nobody has settled
	isNew
	isIncomplete
	isDuplicate
	isOld
	isLater
	isRefused
	isWaiting
	isIgnored
)

// count counts an event by its verdict.
func (c *Counts) count(v verdict) {
	one := map[verdict]Counts{
		unstored:     {Waiting: 1, Unstored: 1},
		isNew:        {New: 1},
		isIncomplete: {New: 1, Incomplete: 1},
		isDuplicate:  {Duplicate: 1},
		isOld:        {Duplicate: 1, Old: 1},
		isLater:      {Duplicate: 1, Later: 1},
		isRefused:    {Refused: 1},
		isWaiting:    {Waiting: 1},
		isIgnored:    {Ignored: 1},
	}[v]
	one.Received = 1
	c.plus(one)
}

// Tally adds up the requests of a Handler. It is safe for concurrent use.
type Tally struct {
	mu    sync.Mutex
	total Counts
}

// Snapshot returns the counts so far, of whole requests.
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
