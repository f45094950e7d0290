package schema_test

import (
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/schema"
)

func TestATableWithoutAnyIndexLacksOne(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	want := table(db.Name("messages"))
	bare := want
	bare.Indexes = nil
	if err := schema.Create(t.Context(), db.Client(), bare); err != nil {
		t.Fatal(err)
	}
	wantMismatch(t, schema.Create(t.Context(), db.Client(), want), "it has no index by-user")
}
