package pattern

import (
	"context"

	"github.com/homeops/ddbpatterns/internal/check"
)

// Get returns the habit, and false if no event of it was ever observed.
//
// Price: 1 request, 0.5 RCU. 1 RCU with Config.ConsistentReads; rows above 4
// KB as much again for each 4 KB.
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

// All returns every habit of the actor in the scope, by name; nil if there
// are none.
//
// Price: 1 request, 0.5 RCU. 0.5 RCU for each 4 KB of all rows together, of
// which a full one has 1; twice that with Config.ConsistentReads; 1 request
// for each MB.
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

// Erase deletes every habit of the actor in the scope and returns how many. After
// an error what was deleted is gone: call again, and it goes on with the rest. A
// habit that is written while it runs may stay: erase until it answers 0.
//
// It is safe beside live writers: nothing of an erased habit is in what Observe
// writes after it. Erased events are forgotten, so that a redelivery of one counts
// anew: erase when none can come.
//
// Price: 2 requests, 1 RCU, 1 WCU. 1 RCU for each 4 KB of all rows together and 1
// WCU for each row and KB; 1 request for each MB to find them and 1 for each 25
// rows. Where there are none, 1 request and 1 RCU.
func (s *Store) Erase(ctx context.Context, scope, actor string) (int, error) {
	if err := check.Positional(checkActor(scope, actor)); err != nil {
		return 0, err
	}
	return s.rows.Erase(ctx, partition(scope, actor))
}
