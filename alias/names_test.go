package alias_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	rows "github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// Every call gives the same answers and rows in a table of other names.
func TestOtherNames(t *testing.T) {
	t.Parallel()
	rows.WithOtherNames(t, rows.Renamed(t, "alias", "GSI1"), func(t testing.TB, names map[string]string, note func(...any)) (*dynamodb.Client, string) {
		db := dynamotest.Open(t)
		f := fixture{db: db, table: db.Name("homeops")}
		f.Store = f.another(t, func(c *alias.Config) { c.Names, c.NoCache = names, true })
		recordtest.Create(t, db.Client(), f.Table())
		ctx, w := t.Context(), writer{t, f}
		seeded, err := f.Seed(ctx, chat, map[string]string{"sug": "dammsugning"})
		note(seeded, err)
		for _, write := range []func(string, int) (event.Outcome, error){w.put, w.put, w.confirm, w.confirm, w.correct, w.confirm} {
			out, err := write("diskning", 60)
			note(out, err != nil)
		}
		older := ddb.Item{}
		for name, value := range (ddb.Item{"pk": item.S("ALIAS#" + chat), "sk": item.S("Tvätta  nu"), "canonicalActivity": item.S("tvätt"), "learnedFrom": item.S("42")}) {
			if other, ok := names[name]; ok {
				name = other
			}
			older[name] = value
		}
		recordtest.Put(t, db.Client(), f.table, older)
		disowned, err := f.Disown(ctx, chat, "42")
		note(disowned, err)
		delete(older, "learnedFrom")
		delete(older, names["learnedFrom"])
		moves, _, err := f.Backfill(older)
		note(err)
		_, err = db.Client().TransactWriteItems(ctx, moves)
		note(err)
		got, ok, err := f.Get(ctx, chat, "tvätta nu")
		note(got, ok, err)
		phrases, err := f.PhrasesOf(ctx, chat, "diskning")
		note(phrases, err)
		out, err := f.Forget(ctx, alias.Forget{Scope: chat, Phrase: "sug", Event: eventAt(t, 10)})
		note(out, err)
		all, err := f.All(ctx, chat)
		note(all, err)
		seeded, err = f.Seed(ctx, "other", map[string]string{"sug": "dammsugning"})
		note(seeded, err)
		erased, err := f.Erase(ctx, "other")
		note(erased, err)
		return db.Client(), f.table
	})
}
