package alias_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/alias"
	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// "A row moves with all its attributes": also with what the table has under a name
// of FORMAT.md and means something else by, which is why the name was changed.
func TestHunterAdoptMovesAnothersAttribute(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	f := fixture{db: db, table: db.Name("homeops")}
	f.Store = f.another(t, func(c *alias.Config) { c.Names = map[string]string{"source": "aliasSource"} })
	recordtest.Create(t, db.Client(), f.Table())
	recordtest.Put(t, db.Client(), f.table, ddb.Item{
		"pk": item.S("ALIAS#" + chat), "sk": item.S("Tvätta  nu"), "canonicalActivity": item.S("tvätt"),
		"aliasSource": item.S("learned"), "source": item.S("import of 2024"), "remark": item.S("moves"),
	})
	if n, err := f.Adopt(t.Context(), chat); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	row := f.stored(t, "ALIAS#"+chat, "tvätta nu")
	if row["remark"] == nil || row["aliasSource"] == nil {
		t.Fatal(row)
	}
	if row["source"] == nil {
		t.Errorf("the attribute source of another program is gone: %v", row)
	}
}

// A row in normal form loses that attribute when another is merged into it.
func TestHunterAdoptKeepsAnothersAttributeInTheRowOfNormalForm(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	f := fixture{db: db, table: db.Name("homeops")}
	f.Store = f.another(t, func(c *alias.Config) { c.Names = map[string]string{"source": "aliasSource"} })
	recordtest.Create(t, db.Client(), f.Table())
	row := ddb.Item{
		"pk": item.S("ALIAS#" + chat), "sk": item.S("tvätta nu"), "canonicalActivity": item.S("tvätt"), "source": item.S("theirs"),
	}
	recordtest.Put(t, db.Client(), f.table, row)
	row["sk"] = item.S("Tvätta  nu")
	recordtest.Put(t, db.Client(), f.table, row)
	if n, err := f.Adopt(t.Context(), chat); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if got := f.stored(t, "ALIAS#"+chat, "tvätta nu"); got["source"] == nil {
		t.Errorf("the row in normal form lost its source: %v", got)
	}
}
