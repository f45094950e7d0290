package activity

import (
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/actor"
	"github.com/homeops/ddbpatterns/internal/check"
)

// check refuses what DynamoDB would refuse, and what would not be read back
// unchanged.
func (s *Store) check(a Activity) error {
	if err := check.PartitionKey(pkg, "Scope", a.Scope); err != nil {
		return err
	}
	if err := a.Event.Check(pkg, "Event", s.cfg.Now()); err != nil {
		return err
	}
	if ms := a.Event.Time().UnixMilli(); ms < minMillis || ms > maxMillis {
		return event.BadInput(pkg, "Event", "must have a time between March 1973 and November 2286, has "+a.Event.Time().Format(time.RFC3339))
	}
	if err := s.checkIndexed(a); err != nil {
		return err
	}
	if err := check.Text(pkg, "ActorName", a.ActorName); err != nil {
		return err
	}
	if err := check.Text(pkg, "Kind", a.Kind); err != nil {
		return err
	}

	for _, number := range []struct {
		field string
		value float64
	}{{"Seq", float64(a.Seq)}, {"Effort", a.Effort}, {"Confidence", a.Confidence}} {
		if err := check.Finite(pkg, number.field, number.value); err != nil {
			return err
		}
		if number.value < 0 {
			return event.BadInput(pkg, number.field, "must not be negative")
		}
	}
	return nil
}

// checkIndexed refuses what cannot be in the keys of the indexes.
func (s *Store) checkIndexed(a Activity) error {
	if err := s.checkActor(a.Actor); err != nil {
		return err
	}
	if err := check.ID(pkg, "Name", a.Name); err != nil {
		return err
	}
	if err := check.PartitionKey(pkg, "Scope and Actor", check.Join(a.Scope, a.Actor)); err != nil {
		return err
	}
	// All times that can be recorded have as many digits as maxMillis.
	return check.SortKey(pkg, "Name", nameTime(a.Name, maxMillis))
}

func (s *Store) checkActor(id string) error { return actor.CheckID(pkg, s.cfg.ActorType, id) }

// checkArguments refuses what cannot be the scope and the event of a row.
func checkArguments(scope string, ev event.Event) error {
	return check.Positional(checkPlace(scope, ev, "ev"))
}

// checkPlace is checkArguments for a struct whose event field has the given
// name.
func checkPlace(scope string, ev event.Event, called string) error {
	if err := check.PartitionKey(pkg, "Scope", scope); err != nil {
		return err
	}
	if ev.IsZero() {
		return event.BadInput(pkg, called, "must not be the zero Event")
	}
	return nil
}
