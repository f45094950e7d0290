package house

import (
	"testing"

	"github.com/homeops/ddbpatterns/activity"
	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/ema"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/message"
	"github.com/homeops/ddbpatterns/pattern"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// nothing fails the test unless a call returns an empty list that is nil.
func nothing[T any](t *testing.T, call string) func([]T, error) {
	t.Helper()
	return func(list []T, err error) {
		t.Helper()
		if list != nil || err != nil {
			t.Errorf("%s: got %#v and %v, want nil", call, list, err)
		}
	}
}

// Every package returns an empty list as nil.
func TestListsOfNothingAreNil(t *testing.T) {
	t.Parallel()
	ctx, ev := t.Context(), recordtest.Event(t, noon, "lists")
	db := dynamotest.New(t, nil).Client()
	clock := recordtest.Clock(noon)
	acts, err1 := activity.New(db, "activities", &activity.Config{Now: clock})
	book, err2 := alias.New(db, table, &alias.Config{Now: clock})
	averages, err3 := ema.New(db, table, &ema.Config{Now: clock})
	habits, err4 := pattern.New(db, table, tzclock.UTC, &pattern.Config{Now: clock})
	said, err5 := message.New(db, "messages", &message.Config{Now: clock})
	for _, err := range []error{err1, err2, err3, err4, err5} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := schema.Create(ctx, db, acts.Table(), book.Table(), averages.Table(), habits.Table(), said.Table()); err != nil {
		t.Fatal(err)
	}

	nothing[event.Outcome](t, "RecordMany")(acts.RecordMany(ctx, []activity.Activity{}))
	nothing[activity.Activity](t, "OfEvent")(acts.OfEvent(ctx, home, ev))
	for range 2 { // cold, and then from the cache
		nothing[alias.Alias](t, "All")(book.All(ctx, home))
		nothing[alias.Alias](t, "Refresh")(book.Refresh(ctx, home))
		nothing[alias.Alias](t, "PhrasesOf")(book.PhrasesOf(ctx, home, wash))
		nothing[alias.Match](t, "Match")(book.Match(ctx, home, wash))
	}
	nothing[ema.Average](t, "All")(averages.All(ctx, anna))
	nothing[pattern.Habit](t, "All")(habits.All(ctx, home, anna))
	nothing[message.Message](t, "Recent")(said.Recent(ctx, home, 1))
}

// With an error a list is nil: rows that were read before it are not half an
// answer.
func TestListsBesideAnErrorAreNil(t *testing.T) {
	t.Parallel()
	ctx, ev := t.Context(), recordtest.Event(t, noon, "lists")
	db := dynamotest.New(t, nil).Client()
	book, err := alias.New(db, table, &alias.Config{Now: recordtest.Clock(noon)})
	if err != nil {
		t.Fatal(err)
	}
	recordtest.Create(t, db, book.Table())
	if _, err := book.Put(ctx, alias.Put{Scope: home, Phrase: "do the dishes", Name: wash, Event: ev}); err != nil {
		t.Fatal(err)
	}
	row := recordtest.Row(t, db, table, ddb.Item{"pk": item.S("ALIAS#" + home), "sk": item.S("do the dishes")})
	row["sk"], row["confirmations"] = item.S("wash up"), item.S("many")
	recordtest.Put(t, db, table, row)
	for name, list := range map[string]func() ([]alias.Alias, error){
		"All":       func() ([]alias.Alias, error) { return book.All(ctx, home) },
		"Refresh":   func() ([]alias.Alias, error) { return book.Refresh(ctx, home) },
		"PhrasesOf": func() ([]alias.Alias, error) { return book.PhrasesOf(ctx, home, wash) },
	} {
		if got, err := list(); got != nil || err == nil {
			t.Errorf("%s: got %v and %v", name, got, err)
		}
	}
}
