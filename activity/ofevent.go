package activity

import (
	"context"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/walk"
)

// OfEvent returns all activities of the event in the scope, ordered by N,
// without retracted and expired activities. The N of ev does not matter. If the
// event has no activities, the slice is empty. The read is consistent, but
// while a transaction on the same event (RecordAll, RecordItems)
// is being committed, OfEvent may return only some of its activities.
//
// Price: 1 request, 1 RCU. Each 4 KB begun of the event's rows costs 1 RCU, and
// each MB takes 1 request.
func (s *Store) OfEvent(ctx context.Context, scope string, ev event.Event) ([]Activity, error) {
	if err := checkArguments(scope, ev); err != nil {
		return nil, err
	}
	rows, err := s.rowsOf(ctx, "OfEvent", scope, ev)
	if err != nil {
		return nil, err
	}
	return s.standing("OfEvent", rows)
}

// rowsOf reads all rows of the event, including tombstones and expired ones, in
// the order of their N.
func (s *Store) rowsOf(ctx context.Context, method, scope string, ev event.Event) ([]ddb.Item, error) {
	from, to := ev, ev
	from[event.Size-1], to[event.Size-1] = 0, 255 // whatever their N
	q := walk.Query{
		Wrap: func(err error) error { return s.wrap(method, err) }, Table: s.table, Consistent: true,
		Keys: ddb.Item{attrScope: item.S(scope)}, Partition: attrScope, Sort: walk.Key{Name: attrID},
		Lo: from.String(), Hi: to.String(), First: walk.FullPage, Most: walk.FullPage,
	}

	var all []ddb.Item
	for row, err := range walk.Each(ctx, s.api, q, func(row ddb.Item) (ddb.Item, walk.Shown, error) { return row, walk.Part, nil }) {
		if err != nil {
			return nil, err
		}
		all = append(all, row)
	}

	return all, nil
}

// sameEvent reports whether both follow from the same event; their N may differ.
func sameEvent(a, b event.Event) bool {
	b[event.Size-1] = a[event.Size-1]
	return a == b
}
