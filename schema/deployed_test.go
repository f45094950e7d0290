package schema_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/homeops/ddbpatterns/dynamotest"

	"github.com/homeops/ddbpatterns/internal/stacktest"
	"github.com/homeops/ddbpatterns/schema"
)

// randomTable has up to four indexes, which share attributes, and any settings.
func randomTable(random *rand.Rand) schema.Table {
	kinds := []types.ScalarAttributeType{types.ScalarAttributeTypeS, types.ScalarAttributeTypeN, types.ScalarAttributeTypeB}
	var attributes []schema.Attribute
	for _, name := range []string{"pk", "sk", "chatId", "userId", "at", "day", "kind", "a.b #c"} {
		attributes = append(attributes, schema.Attribute{Name: name, Type: kinds[random.IntN(3)]})
	}
	key := func() schema.Key {
		places := random.Perm(len(attributes))
		k := schema.Key{Partition: attributes[places[0]]}
		if random.IntN(3) > 0 {
			k.Sort = attributes[places[1]]
		}
		return k
	}
	one := func(values ...string) string { return values[random.IntN(len(values))] }
	table := schema.Table{
		Name: one("messages", "homeops-activities", "QuillIdempotencyLedger", "a_b.c"), Key: key(),
		TTL: one("", "ttl", "expiresAt"), KMSKey: one("", "alias/ours", "alias/aws/dynamodb", "1234abcd-12ab"),
		PointInTimeRecovery: random.IntN(2) > 0, DeletionProtection: random.IntN(2) > 0, Retain: random.IntN(2) > 0,
	}
	for i := range random.IntN(5) {
		table.Indexes = append(table.Indexes, schema.Index{Name: fmt.Sprintf("by-%d", i), Key: key()})
	}
	return table
}

// What CloudFormation writes and what Create makes is what Diff looks for. Each property
// that is changed, left out or put in by hand is named. The changes that DynamoDB
// refuses, and those that change nothing, are known.
func TestEveryChangedPropertyIsNamed(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		table, created := randomTable(rand.New(rand.NewPCG(seed, 1))), dynamotest.New(t, nil).Client()
		if err := schema.Create(t.Context(), created, table); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		differs(t, fmt.Sprintf("seed %d", seed), created, table)
	}
	seen := map[string]map[stacktest.Outcome]int{}
	for seed := range uint64(5) {
		table := randomTable(rand.New(rand.NewPCG(seed, 2)))
		if table.KMSKey == "alias/ours" { // DynamoDB shows a key's id, so that of an alias may be any
			table.KMSKey = "1234abcd-12ab"
		}
		for where, outcomes := range stacktest.Check(t, table, properties(t, table)) {
			if seen[where] == nil {
				seen[where] = map[stacktest.Outcome]int{}
			}
			for outcome, n := range outcomes {
				seen[where][outcome] += n
			}
		}
	}
	for where, outcomes := range seen {
		stands := outcomes[stacktest.Named] + outcomes[stacktest.Same]
		if slices.Contains(cannotStand, where) != (stands == 0) || slices.Contains(stacktest.Defaults, where) != (outcomes[stacktest.Same] > 0) {
			t.Errorf("%s: %v", where, outcomes)
		}
	}
	for _, where := range slices.Concat(cannotStand, stacktest.Defaults) {
		if seen[where] == nil {
			t.Errorf("%s: listed, and was never tried", where)
		}
	}
}

// cannotStand are the changes after which no table comes to be.
var cannotStand = []string{
	"-TableName", "-KeySchema", "-KeySchema[].AttributeName", "-KeySchema[].KeyType", "KeySchema[].KeyType",
	"-AttributeDefinitions", "-AttributeDefinitions[]", "-AttributeDefinitions[].AttributeName", "-AttributeDefinitions[].AttributeType",
	"AttributeDefinitions[].AttributeName", // that of a key alone is another table
	"-GlobalSecondaryIndexes[].IndexName", "-GlobalSecondaryIndexes[].KeySchema", "-GlobalSecondaryIndexes[].KeySchema[].AttributeName",
	"-GlobalSecondaryIndexes[].KeySchema[].KeyType", "-GlobalSecondaryIndexes[].Projection", "-GlobalSecondaryIndexes[].Projection.ProjectionType",
	"-TimeToLiveSpecification.AttributeName",
}
