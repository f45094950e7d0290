package backfill_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/dynamotest"
	"github.com/homeops/ddbpatterns/internal/backfill"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/golden"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/schema"
)

func TestUpdate(t *testing.T) {
	t.Parallel()
	db := dynamotest.Open(t)
	table := schema.Table{Name: db.Name("rows"), Key: schema.Key{Partition: schema.String("pk")}}
	recordtest.Create(t, db.Client(), table)
	of := func(want ddb.Item) func(map[string]types.AttributeValue) (*dynamodb.UpdateItemInput, bool, error) {
		return func(row map[string]types.AttributeValue) (*dynamodb.UpdateItemInput, bool, error) {
			return backfill.Update(func(row ddb.Item) ddb.Item { return row }, table.Name, row, []string{"pk"}, want, "kind", "other")
		}
	}
	row := ddb.Item{"pk": item.S("p"), "kind": item.S("older"), "at": item.N(17), "stays": item.N(1)}
	want := ddb.Item{"at": item.N(17000), "ttl": item.N(5), "stays": item.N(1)}
	set := maps.Clone(want)
	delete(set, "stays")
	golden.Backfill(t, db.Client(), of(want), row, set, "at", "ttl", "stays", "kind", "other")

	in, _, err := of(want)(row)
	if err != nil || aws.ToString(in.UpdateExpression) != "SET #0 = :new0, #2 = :new2" {
		t.Errorf("sets %s, not only what the row lacks: %v", aws.ToString(in.UpdateExpression), err)
	}
	if again, _, _ := of(want)(row); *again.ConditionExpression != *in.ConditionExpression {
		t.Error("the same row makes another condition")
	}
	text := ddb.Item{"pk": item.S("p"), "kind": item.S("older"), "ttl": item.S("5")}
	golden.Backfill(t, db.Client(), of(ddb.Item{"ttl": item.N(5)}), text, ddb.Item{"ttl": item.N(5)}, "ttl") // of another type

	// The row has room for exactly this much: DynamoDB would refuse one byte more.
	full := ddb.Item{"pk": item.S("p"), "kind": item.S("older"), "beside": item.S("")}
	full["beside"] = item.S(strings.Repeat("x", item.MaxSize-item.Size(full)-item.Size(ddb.Item{"ttl": item.N(5)})))
	golden.Backfill(t, db.Client(), of(ddb.Item{"ttl": item.N(5)}), full, ddb.Item{"ttl": item.N(5)})
	full["beside"] = item.S(full["beside"].(*types.AttributeValueMemberS).Value + "x")
	if in, lacks, err := of(ddb.Item{"ttl": item.N(5)})(full); err == nil || lacks || in != nil {
		t.Errorf("an update that DynamoDB would not take: %v, %v", lacks, err)
	}
}
