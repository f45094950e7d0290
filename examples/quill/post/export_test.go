package post

import (
	"context"
	"time"

	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/outbox"
	"github.com/homeops/ddbpatterns/examples/quill/sink"
)

// Window is how many facts are read at a time, at most.
const Window = window

// LeaseFor is how long the lease holds.
const LeaseFor = leaseFor

// Cut cuts a text.
var Cut = cut

// DrainPending is a round of Run.
func (p *Poster) DrainPending(ctx context.Context) error { return p.drainPending(ctx) }

// Budget is what the limits still allow.
type Budget struct{ *budget }

func NewBudget(limits sink.Limits, used outbox.Poster, now time.Time) Budget {
	return Budget{newBudget(limits, used, now)}
}

func (b Budget) Room(table string, at time.Time) (int, error) { return b.room(table, at) }

func (b Budget) When(table string, n int, now time.Time) (time.Time, error) {
	return b.when(table, n, now)
}

func (b Budget) Begin(batch, table string, rows int, now time.Time) outbox.Poster {
	b.begin(batch, table, rows, now)
	return b.used
}

func (b Budget) End(added, looked bool, now time.Time) outbox.Poster {
	b.end(added, looked, now)
	return b.used
}

// Settle closes the batch, as a poster that continues does.
func (b Budget) Settle() { b.used.Batch, b.used.Table, b.used.Rows = "", "", 0 }

// Learned is what is known after facts, and the rows that say so.
type Learned struct {
	Known outbox.Known
	Rows  []fact.Row
	News  bool
}

// Learn applies facts to what is known.
func Learn(known map[string]outbox.Known, facts []outbox.Stored) []Learned {
	var all []Learned
	for _, l := range learn(known, facts) {
		all = append(all, Learned{l.known, l.rows, l.news})
	}
	return all
}
