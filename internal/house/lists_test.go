package house

import (
	"reflect"
	"testing"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// Every package returns an empty list as nil.
func TestListsOfNothingAreNil(t *testing.T) {
	t.Parallel()
	lists := 0
	for _, pkg := range recordPackages {
		db := dynamotest.New(t, nil).Client()
		store := storesOn(t, db)[pkg]
		recordtest.Create(t, db, store.Table())
		for _, method := range methods(store) {
			if of := method.Type.Out(0); of.Kind() != reflect.Slice || of.Elem().Kind() != reflect.Struct {
				continue // no list, or outcomes of what was given
			}
			lists++
			for range 2 { // cold, and then from the cache
				if got := call(t, store, method); !got[0].IsNil() || failureOf(got) != nil {
					t.Errorf("%s.%s: got %#v and %v, want nil", pkg, method.Name, got[0], failureOf(got))
				}
			}
		}
	}
	if lists < 9 {
		t.Errorf("%d lists", lists)
	}
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
