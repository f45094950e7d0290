package payout

import (
	"context"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// Status is where a payout stands.
type Status struct {
	Name   string // accepted, paid or returned
	Reason string // why it was returned
}

// ranks order the reports of one second. The bank sends no finer times.
var ranks = map[string]int{"accepted": 0, "paid": 1, "returned": 2}

// Report is what the bank's webhook delivers, in any order and more than once.
type Report struct {
	ID       string // the same in every delivery
	Merchant string
	Payout   string    // the key that the bank was given
	At       time.Time // in whole seconds
	Status   Status
}

// Statuses keeps the statuses.
type Statuses struct{ rows *record.Rows[Status] }

// NewStatuses returns the statuses in a table.
func NewStatuses(api record.API, table string, cfg *record.Config) (Statuses, error) {
	rows, err := record.New(api, table, record.Kind[Status]{
		Package: "payout", Type: "STATUS", Attributes: []string{"status", "reason"},
		Decode: func(row record.Item) (Status, error) {
			f := record.Read(row)
			return Status{Name: f.Text("status"), Reason: f.Text("reason")}, f.Err()
		},
	}, cfg)
	return Statuses{rows}, err
}

// Table returns the definition of the table, for schema.Create.
func (s Statuses) Table() schema.Table { return s.rows.Table() }

// Set keeps the status, unless a later report was kept: the error is then
// event.ErrSuperseded. The error is a *record.TieError if another report of the
// same second and rank says something else.
func (s Statuses) Set(ctx context.Context, r Report) (event.Outcome, error) {
	rank, known := ranks[r.Status.Name]
	if !known {
		return 0, event.BadInput("payout", "Status", "must be accepted, paid or returned")
	}
	ev, err := event.New(r.At, "bank", r.ID)
	if err != nil {
		return 0, err
	}
	values := record.Item{"status": record.Text(r.Status.Name)}
	if r.Status.Reason != "" {
		values["reason"] = record.Text(r.Status.Reason)
	}
	return s.rows.Set(ctx, record.Set{
		Partition: record.Key(r.Merchant, "STATUSES"), Sort: r.Payout,
		Event: ev, Rank: rank, Values: values,
	})
}

// Of returns the status of a payout, and false if nothing was reported.
func (s Statuses) Of(ctx context.Context, merchant, payout string) (Status, bool, error) {
	return s.rows.Get(ctx, record.Key(merchant, "STATUSES"), payout)
}
