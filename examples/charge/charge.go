// Package charge is an example of an own record whose last event wins: the status
// of a charge, as a payment provider reports it. docs/status.md walks through it.
//
// # IAM actions
//
//   - The service, on the table: GetItem, UpdateItem
package charge

import (
	"context"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// Status is where a charge stands.
type Status struct {
	Name   string // pending, settled or reversed
	Reason string // why it was reversed
}

// ranks order the reports of one second. The provider sends no finer times.
var ranks = map[string]int{"pending": 0, "settled": 1, "reversed": 2}

// Report is what the provider's webhook delivers, in any order and more than once.
type Report struct {
	ID     string // the same in every delivery
	Charge string
	At     time.Time // in whole seconds
	Status Status
}

// Store keeps the statuses.
type Store struct{ rows *record.Rows[Status] }

// New returns the statuses in a table.
func New(api record.API, table string) (Store, error) {
	rows, err := record.New(api, table, record.Kind[Status]{
		Package: "charge", Type: "CHARGE", Attributes: []string{"status", "reason"},
		Decode: func(row record.Item) (Status, error) {
			f := record.Read(row)
			return Status{Name: f.Text("status"), Reason: f.Text("reason")}, f.Err()
		},
	}, nil)
	return Store{rows}, err
}

// Table returns the definition of the table, for schema.Create.
func (s Store) Table() schema.Table { return s.rows.Table() }

// Actions returns what IAM must grant for Report and Of, for schema.Policy.
func (s Store) Actions() schema.Actions {
	needs := s.rows.Actions().Calls
	return schema.Actions{Calls: map[string]schema.Grants{"Report": needs["Set"], "Of": needs["Get"]}}
}

// Report keeps the status, unless a later report was kept: the error is then
// event.ErrSuperseded. The error is a *record.TieError if another report of the
// same second and rank says something else.
//
// Price: 1 request, 1 WCU.
func (s Store) Report(ctx context.Context, r Report) (event.Outcome, error) {
	rank, known := ranks[r.Status.Name]
	if !known {
		return 0, event.BadInput("charge", "Status", "must be pending, settled or reversed")
	}
	ev, err := event.New(r.At, "provider", r.ID)
	if err != nil {
		return 0, err
	}
	values := record.Item{"status": record.Text(r.Status.Name)}
	if r.Status.Reason != "" {
		values["reason"] = record.Text(r.Status.Reason)
	}
	return s.rows.Set(ctx, record.Set{
		Method: "Report", Partition: record.Key("CHARGE", r.Charge), Sort: "status",
		Event: ev, Rank: rank, Values: values,
	})
}

// Of returns the status of a charge, and false if nothing was reported.
//
// Price: 1 request, 0.5 RCU.
func (s Store) Of(ctx context.Context, charge string) (Status, bool, error) {
	return s.rows.Get(ctx, record.Key("CHARGE", charge), "status")
}
