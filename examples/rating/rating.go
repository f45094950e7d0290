// Package rating is an example of an own record on package record: what customers
// think of a courier. Each delivery's stars count once. docs/own-record.md walks
// through it.
//
// # IAM actions
//
//   - The service, on the table: GetItem, UpdateItem
package rating

import (
	"context"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
	"github.com/homeops/ddbpatterns/schema"
)

// Rating is what customers think of a courier.
type Rating struct {
	Stars   int64 // of all ratings together
	Worst   int64
	Ratings int64
}

// decode reads a row. Absent attributes are 0.
func decode(row record.Item) (Rating, error) {
	f := record.Read(row)
	return Rating{Stars: f.Int("stars"), Worst: f.Int("worst"), Ratings: f.Int("ratings")}, f.Err()
}

// Store keeps the ratings.
type Store struct{ rows *record.Rows[Rating] }

// New returns the ratings in a table.
func New(api record.API, table string) (Store, error) {
	rows, err := record.New(api, table, record.Kind[Rating]{
		Package: "rating", Type: "RATING", Count: "ratings", Decode: decode,
	}, nil)
	return Store{rows}, err
}

// Table returns the definition of the table, for schema.Create.
func (s Store) Table() schema.Table { return s.rows.Table() }

// Actions returns what IAM must grant for Rate and Of, for schema.Policy.
func (s Store) Actions() schema.Actions {
	needs := s.rows.Actions().Calls
	return schema.Actions{Calls: map[string]schema.Grants{"Rate": needs["Apply"], "Of": needs["Get"]}}
}

// Rate counts a delivery's stars, once for its event.
//
// Price: 2 requests, 1 RCU, 1 WCU.
func (s Store) Rate(ctx context.Context, courier string, delivery event.Event, stars int64) (event.Outcome, error) {
	if stars < 1 || stars > 5 {
		return 0, event.BadInput("rating", "stars", "must be 1 to 5")
	}
	return s.rows.Apply(ctx, record.Apply{
		Method: "Rate", Partition: record.Key("RATING", courier), Sort: "stars", Event: delivery,
		Next: func(row record.Item, _ event.Event) (record.Item, error) {
			r, err := decode(row)
			if r.Ratings == 0 || stars < r.Worst {
				r.Worst = stars
			}
			return record.Item{"stars": record.Int(r.Stars + stars), "worst": record.Int(r.Worst)}, err
		},
	})
}

// Of returns a courier's rating, and false if nobody rated them.
//
// Price: 1 request, 0.5 RCU.
func (s Store) Of(ctx context.Context, courier string) (Rating, bool, error) {
	return s.rows.Get(ctx, record.Key("RATING", courier), "stars")
}
