package pattern

import (
	"context"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

// Get returns the habit, and false if no event of it was ever observed.
//
// Price: 1 request, 0.5 RCU. 1 RCU with Config.ConsistentReads; rows above 4
// KB as much again for each 4 KB.
func (s *Store) Get(ctx context.Context, scope, actor, name string) (Habit, bool, error) {
	if err := checkRow(scope, actor, name); err != nil {
		return Habit{}, false, err
	}
	return s.rows.Get(ctx, partition(scope, actor), name, of(scope, actor))
}

// All returns every habit of the actor in the scope, by name; nil if there
// are none.
//
// Price: 1 request, 0.5 RCU. 0.5 RCU for each 4 KB of all rows together, of
// which a full one has 1; twice that with Config.ConsistentReads; 1 request
// for each MB.
func (s *Store) All(ctx context.Context, scope, actor string) ([]Habit, error) {
	if err := checkActor(scope, actor); err != nil {
		return nil, err
	}
	return s.rows.All(ctx, partition(scope, actor), of(scope, actor))
}

// of reads rows of the scope and actor.
func of(scope, actor string) func(ddb.Item) (Habit, error) {
	return func(row ddb.Item) (Habit, error) { return decode(scope, actor, row) }
}
