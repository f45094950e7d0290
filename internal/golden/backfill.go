package golden

import (
	"maps"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/recordtest"
)

// Backfill checks which attributes a store's Backfill sets in a row, and that
// DynamoDB refuses the update when the row is gone, or has another value of an
// attribute in from. A row lacks nothing after its Backfill. With no wanted
// attributes, this row lacks nothing to begin with.
func Backfill(t *testing.T, db *dynamodb.Client, backfill func(map[string]types.AttributeValue) (*dynamodb.UpdateItemInput, bool, error), row, want ddb.Item, from ...string) {
	t.Helper()
	in, lacks, err := backfill(row)
	if err != nil || lacks != (len(want) > 0) {
		t.Fatalf("Backfill: %v, %v, want %d attributes", lacks, err, len(want))
	}

	if !lacks {
		return
	}

	send := func(what string, stands, want ddb.Item) {
		t.Helper()
		recordtest.Delete(t, db, *in.TableName, in.Key)
		if stands != nil {
			recordtest.Put(t, db, *in.TableName, stands)
		}

		_, err := db.UpdateItem(t.Context(), in)
		if _, refused := ddb.Refused(err); refused != (want == nil) {
			t.Errorf("%s: %v", what, err)
		}

		if want == nil {
			want = stands
		}

		if diff := cmp.Diff(Format(want), Format(recordtest.Row(t, db, *in.TableName, in.Key))); diff != "" {
			t.Errorf("%s (-want +stored):\n%s", what, diff)
		}
	}

	send("gone", nil, nil)
	for _, name := range from {
		changed := with(row, name, &types.AttributeValueMemberS{Value: "another writer's"})
		if _, number := row[name].(*types.AttributeValueMemberN); number {
			changed[name] = &types.AttributeValueMemberN{Value: "1771324299999"}
		} else if _, stands := row[name]; !stands && want[name] != nil {
			changed[name] = want[name]
		}
		send("another "+name, changed, nil)
	}

	done := maps.Clone(row)
	maps.Copy(done, want)
	beside := &types.AttributeValueMemberS{Value: "another writer's"}
	send("something else changed", with(row, "beside", beside), with(done, "beside", beside))

	if _, lacks, err := backfill(done); lacks || err != nil {
		t.Errorf("a second time: %v, %v", lacks, err)
	}
}

func with(row ddb.Item, name string, value types.AttributeValue) ddb.Item {
	row = maps.Clone(row)
	row[name] = value
	return row
}
