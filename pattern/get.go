package pattern

import (
	"context"

	"github.com/homeops/ddbpatterns/internal/check"
)

// Get returns the habit and true, or false if the habit does not exist.
//
// Price: 1 request, 0.5 RCU. 1 RCU with Config.ConsistentReads; each further 4
// KB of the row costs the same again.
func (s *Store) Get(ctx context.Context, scope, actor, name string) (Habit, bool, error) {
	if err := check.Positional(checkRow(scope, actor, name)); err != nil {
		return Habit{}, false, err
	}
	habit, ok, err := s.rows.Get(ctx, partition(scope, actor), name)
	if ok {
		habit.Scope, habit.Actor = scope, actor
	}
	return habit, ok, err
}

// All returns every habit of the actor in the scope, in the order of their
// names. It returns nil if the actor has no habits there.
//
// Price: 1 request, 0.5 RCU. All rows together cost 0.5 RCU for each 4 KB, or 1 RCU
// with Config.ConsistentReads, and take 1 request for each MB.
func (s *Store) All(ctx context.Context, scope, actor string) ([]Habit, error) {
	if err := check.Positional(checkActor(scope, actor)); err != nil {
		return nil, err
	}
	habits, err := s.rows.All(ctx, partition(scope, actor))
	for i := range habits {
		habits[i].Scope, habits[i].Actor = scope, actor
	}
	return habits, err
}

// Erase deletes every habit of the actor in the scope and returns their number.
// After an error some habits may be deleted already: call Erase again to delete
// the rest. A habit that is written while Erase runs may stay: call Erase until
// it returns 0.
//
// Other callers may call Observe while Erase runs: what Observe writes afterwards
// contains nothing of an erased habit. If an erased event is delivered again, it
// counts again, so call Erase when no redelivery can come.
//
// Price: 2 requests, 1 RCU, 1 WCU. Finding the rows costs 1 RCU for each 4 KB of
// all rows together, and 1 request for each MB. Deleting them costs 1 WCU for
// each KB of each row, and 1 request for each 25 rows. If no row is found, the
// call costs 1 request and 1 RCU.
func (s *Store) Erase(ctx context.Context, scope, actor string) (int, error) {
	if err := check.Positional(checkActor(scope, actor)); err != nil {
		return 0, err
	}
	return s.rows.Erase(ctx, partition(scope, actor))
}
