package engine

import (
	"io"
	"log/slog"
	"testing"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// An UpdateTable that is refused has not looked at the items: a new index is
// filled when all else is judged. Here whoever looks panics.
func TestARefusedUpdateBuildsNoIndex(t *testing.T) {
	t.Parallel()
	e := New(Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if !puts(0, 0, 0)[0].do(e) {
		t.Fatal("no table")
	}
	e.tables["plain"].items.Set("a trap", nil)
	const index = `{"TableName":"plain","AttributeDefinitions":[{"AttributeName":"n","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[
		{"Create":{"IndexName":"by-n","KeySchema":[{"AttributeName":"n","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}}]`
	for body, want := range map[string]string{
		index + `,"StreamSpecification":{"StreamEnabled":false}}`: api.ValidationException,
		index + `}`: api.InternalServerError, // the trap snaps
	} {
		if res := e.Do(t.Context(), "UpdateTable", []byte(body)); res.Err == nil || res.Err.Code != want {
			t.Errorf("%s: %v, want %s", body, res.Err, want)
		}
	}
}
