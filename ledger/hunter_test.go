package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/ledger"
)

// "Backfill returns an error if the row … has no room for the expiry": the size is
// that of the row in the table.
func TestHunterBackfillMeasuresTheRowInTheTable(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, row := range map[string]ddb.Item{
		"a longer name": {"notes": item.S("")},
		"another's":     {"result": item.S(strings.Repeat("x", 1000))},
	} {
		names := map[string]string{"expiresAt": strings.Repeat("e", 200), "result": "ourResult"}
		ops := b.ops(t, b.store(t, ledger.Config{Names: names}))
		row["pk"], row["seenAt"] = item.S("k "+name), item.S("2026-03-15T12:00:00.000Z")
		row["notes"] = item.S("")
		row["notes"] = item.S(strings.Repeat("x", item.MaxSize-item.Size(row)-30)) // room for "expiresAt" alone
		in, lacks, err := ops.Backfill(row)
		if err == nil && lacks {
			b.put(t, row)
			_, err := b.client.UpdateItem(t.Context(), in)
			t.Errorf("%s: an update that DynamoDB refuses with %v", name, err)
		}
	}
}

// "A request reads up to 1 MB": 0.8 MB of small rows are 1 request, as until e947663.
func TestHunterListReadsAMegabyteOfSmallRows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	store := b.ops(t, b.store(t, ledger.Config{}))
	var puts []types.WriteRequest
	for i := range 17000 {
		puts = append(puts, types.WriteRequest{PutRequest: &types.PutRequest{Item: ddb.Item{
			"pk": item.S(fmt.Sprintf("a:%d", i)), "seenAt": item.S("2026-03-15T12:00:00.000Z"),
		}}})
	}
	for some := range slices.Chunk(puts, 25) {
		in := &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{b.table: some}}
		if out, err := b.client.BatchWriteItem(t.Context(), in); err != nil || len(out.UnprocessedItems) > 0 {
			t.Fatal(err)
		}
	}
	n := 0
	cost := b.db.Meter(func() {
		for _, err := range store.List(t.Context(), ledger.Filter{}) {
			must(t, err)
			n++
		}
	})
	if n != 17000 || cost.Requests != 1 {
		t.Errorf("%d rows in %d requests", n, cost.Requests)
	}
}
