package pattern_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/tzclock"
)

func TestOtherNames(t *testing.T) {
	t.Parallel()
	golden.WithOtherNames(t, golden.Renamed(t, "pattern", "updatedAt", "version", "recent"), func(t testing.TB, names map[string]string, note func(...any)) (*dynamodb.Client, string) {
		db := dynamotest.Open(t)
		s, err := pattern.New(db.Client(), db.Name("homeops"), tzclock.UTC, &pattern.Config{Now: recordtest.Clock(clock), Names: names})
		if err != nil {
			t.Fatal(err)
		}
		recordtest.Create(t, db.Client(), s.Table())
		ctx, first := t.Context(), recordtest.At(t, "2026-03-28T12:00:00Z")
		for range 2 {
			out, err := s.Observe(ctx, washing(first))
			note(out, err)
		}
		all, err := s.ObserveAll(ctx, pattern.ObserveAll{Scope: "-100123", Actor: "42", Name: "diskning", Events: []event.Event{first, recordtest.At(t, "2026-03-28T13:00:00Z")}})
		note(all, err)
		habit, ok, err := s.Get(ctx, "-100123", "42", "diskning")
		note(habit, ok, err)
		habits, err := s.All(ctx, "-100123", "42")
		note(habits, err)
		other := washing(first)
		other.Actor = "7"
		out, err := s.Observe(ctx, other)
		note(out, err)
		erased, err := s.Erase(ctx, "-100123", "7")
		note(erased, err)
		return db.Client(), db.Name("homeops")
	})
}
