package engine_test

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/engine"
)

func silent() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// After any writes, an index that grew with its table holds the same as one
// that is made from the table now.
func TestIndexesAreWhatABackfillMakes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 2))
			eng := newEngine(t, engine.Options{})
			for range 3000 {
				op, body := randomWrite(random)
				if res := eng.Do(t.Context(), op, []byte(body)); res.Err != nil && res.Err.Code != "ConditionalCheckFailedException" && res.Err.Code != "TransactionCanceledException" {
					t.Fatalf("%s %s: %v", op, body, res.Err)
				}
			}
			for name, definition := range map[string]string{
				"genre-year":  `"Projection":{"ProjectionType":"ALL"},"KeySchema":[{"AttributeName":"genre","KeyType":"HASH"},{"AttributeName":"year","KeyType":"RANGE"}]`,
				"genre-title": `"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["title"]},"KeySchema":[{"AttributeName":"genre","KeyType":"HASH"}]`,
			} {
				do(t, eng, "UpdateTable", `{"TableName":"music","AttributeDefinitions":[{"AttributeName":"genre","AttributeType":"S"},{"AttributeName":"year","AttributeType":"N"}],
					"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"new-`+name+`",`+definition+`}}]}`)
				scan := `{"TableName":"music","IndexName":"%s"}`
				grown, made := do(t, eng, "Scan", fmt.Sprintf(scan, name)), do(t, eng, "Scan", fmt.Sprintf(scan, "new-"+name))
				if diff := cmp.Diff(made, grown); diff != "" || grown["Count"] == 0.0 {
					t.Errorf("%s: -backfill +grown\n%s", name, diff)
				}
			}
			checkSizes(t, eng)
		})
	}
}

// randomWrite writes one of a few items, so that writes collide.
func randomWrite(random *rand.Rand) (op, body string) {
	key := func() string {
		return fmt.Sprintf(`"artist":{"S":"%d"},"song":{"N":"%d"}`, random.IntN(4), random.IntN(6))
	}
	attributes := ""
	if random.IntN(3) > 0 {
		attributes += fmt.Sprintf(`,"genre":{"S":"%d"}`, random.IntN(3))
	}
	if random.IntN(3) > 0 {
		attributes += fmt.Sprintf(`,"year":{"N":"%d"}`, random.IntN(3))
	}
	if random.IntN(2) > 0 {
		attributes += fmt.Sprintf(`,"title":{"S":"%d"}`, random.IntN(3))
	}
	update := []string{"SET genre = title", "REMOVE genre", "REMOVE #y, title", "SET title = artist", "ADD #y :one"}[random.IntN(5)]
	condition := []string{"attribute_exists(title)", "attribute_not_exists(genre)"}[random.IntN(2)]
	expression := fmt.Sprintf(`"UpdateExpression":%q,"ConditionExpression":"attribute_exists(title) AND (attribute_exists(#y) OR attribute_not_exists(#y)) AND :one = :one"`, update)
	placeholders := `"ExpressionAttributeNames":{"#y":"year"},"ExpressionAttributeValues":{":one":{"N":"1"}}`
	switch random.IntN(6) {
	case 0, 1:
		return "PutItem", `{"TableName":"music","Item":{` + key() + attributes + `}}`
	case 2:
		return "DeleteItem", `{"TableName":"music","Key":{` + key() + `},"ConditionExpression":"` + condition + `"}`
	case 3:
		return "UpdateItem", `{"TableName":"music","Key":{` + key() + `},` + expression + `,` + placeholders + `}`
	case 4:
		return "BatchWriteItem", `{"RequestItems":{"music":[{"PutRequest":{"Item":{` + key() + attributes + `}}}]}}`
	}
	return "TransactWriteItems", `{"TransactItems":[{"Put":{"TableName":"music","Item":{"artist":{"S":"t"},"song":{"N":"1"}` + attributes + `}}},
		{"Update":{"TableName":"music","Key":{` + key() + `},` + expression + `,` + placeholders + `}}]}`
}

// checkSizes empties the tables, and checks that their sizes are then 0.
func checkSizes(t *testing.T, eng *engine.Engine) {
	t.Helper()
	db := connect(eng)
	for _, it := range scanAll(t.Context(), t, db, dynamodb.ScanInput{TableName: musicT}) {
		key := map[string]types.AttributeValue{"artist": it["artist"], "song": it["song"]}
		if _, err := db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: musicT, Key: key}); err != nil {
			t.Fatal(err)
		}
	}
	out, err := db.DescribeTable(t.Context(), &dynamodb.DescribeTableInput{TableName: musicT})
	if err != nil {
		t.Fatal(err)
	}
	if n, bytes := *out.Table.ItemCount, *out.Table.TableSizeBytes; n != 0 || bytes != 0 {
		t.Errorf("the empty table has %d items of %d bytes", n, bytes)
	}
	for _, x := range out.Table.GlobalSecondaryIndexes {
		if *x.ItemCount != 0 || *x.IndexSizeBytes != 0 {
			t.Errorf("the empty index %s has %d entries of %d bytes", *x.IndexName, *x.ItemCount, *x.IndexSizeBytes)
		}
	}
}
