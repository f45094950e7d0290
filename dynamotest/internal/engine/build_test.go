package engine

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// An index that is built beside writes holds the same as one that existed
// before them, whether the writes come before it is filled or afterwards.
func TestAnIndexIsBuiltBesideWrites(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "after", "many"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			e := New(Options{})
			perform(t, e, "CreateTable", usersTable)
			user := func(id, name string) {
				perform(t, e, "PutItem", fmt.Sprintf(`{"TableName":"users","Item":{"id":{"S":%q},"name":%s}}`, id, name))
			}
			for i := range 9 {
				user(fmt.Sprint(i), `{"S":"first"}`)
			}
			write := func() {
				user("0", `{"S":"second"}`)
				user("1", `{"N":"1"}`) // has the wrong type for the key of the index
				perform(t, e, "DeleteItem", `{"TableName":"users","Key":{"id":{"S":"2"}}}`)
				perform(t, e, "UpdateItem", `{"TableName":"users","Key":{"id":{"S":"3"}},"UpdateExpression":"REMOVE #n","ExpressionAttributeNames":{"#n":"name"}}`)
				user("new", `{"S":"first"}`)
				user("0", `{"S":"third"}`)
			}

			req := &api.UpdateTable{}
			if err := api.Decode([]byte(byName), req); err != nil {
				t.Fatal(err)
			}
			table, b := e.startBuild(req)
			if when == "before" {
				write()
			}
			b.fill()
			if when != "before" {
				write()
			}
			if when == "many" {
				for range few {
					user("4", `{"S":"second"}`)
				}
				e.catchUp(b)
				if len(b.missed) != 0 {
					t.Errorf("%d changes are left to make up for", len(b.missed))
				}
				write()
			}
			if _, err := e.finishUpdate(&Call{Operation: "UpdateTable", body: []byte(byName)}, req, b); err != nil {
				t.Fatal(err)
			}
			e.endBuild(table, b)
			user("later", `{"S":"first"}`)

			grown := map[string]string{}
			for key, rec := range table.index("by-name").items.Ascend("") {
				grown[key] = string(rec.item.AppendJSON(nil))
			}
			made := map[string]string{}
			again := newBuild(table.items.clone(), *table.def.Index("by-name"))
			again.fill()
			for key, rec := range again.finish().Ascend("") {
				made[key] = string(rec.item.AppendJSON(nil))
			}
			if diff := cmp.Diff(made, grown); diff != "" || len(made) != 8 {
				t.Errorf("%d entries: -made afterwards +grown\n%s", len(made), diff)
			}
			if a, b := table.index("by-name").items.bytes, again.index.items.bytes; a != b {
				t.Errorf("%d bytes, want %d", a, b)
			}
			if len(table.builds) != 0 {
				t.Error("the build has not ended")
			}
		})
	}
}

// An index that was built for a table is not used if the table was deleted and
// made again meanwhile.
func TestAnIndexOfATableMadeAgain(t *testing.T) {
	t.Parallel()
	e := newUsers(t)
	req := &api.UpdateTable{}
	if err := api.Decode([]byte(byName), req); err != nil {
		t.Fatal(err)
	}
	_, b := e.startBuild(req)
	b.fill()
	perform(t, e, "DeleteTable", `{"TableName":"users"}`)
	perform(t, e, "CreateTable", usersTable)
	perform(t, e, "PutItem", `{"TableName":"users","Item":{"id":{"S":"anne"},"name":{"S":"Anne"}}}`)
	if _, err := e.finishUpdate(&Call{Operation: "UpdateTable", body: []byte(byName)}, req, b); err != nil {
		t.Fatal(err)
	}
	if got := scanned(t, e, "by-name"); got != anne {
		t.Error(got)
	}
}
