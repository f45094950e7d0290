package schema_test

import (
	"encoding/json"
	"fmt"
	"log"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/schema"
)

func ExampleCloudFormation() {
	orders := schema.Table{
		Name:   "shop-orders",
		Key:    schema.Key{Partition: schema.String("number")},
		Retain: true,
	}
	tables, err := schema.CloudFormation(orders)
	if err != nil {
		log.Fatal(err)
	}
	text, err := json.MarshalIndent(tables, "", " ") // beside the service's other resources
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	// Output:
	// {
	//  "ShopOrdersTable": {
	//   "DeletionPolicy": "Retain",
	//   "Properties": {
	//    "AttributeDefinitions": [
	//     {
	//      "AttributeName": "number",
	//      "AttributeType": "S"
	//     }
	//    ],
	//    "BillingMode": "PAY_PER_REQUEST",
	//    "DeletionProtectionEnabled": false,
	//    "KeySchema": [
	//     {
	//      "AttributeName": "number",
	//      "KeyType": "HASH"
	//     }
	//    ],
	//    "PointInTimeRecoverySpecification": {
	//     "PointInTimeRecoveryEnabled": false
	//    },
	//    "TableName": "shop-orders"
	//   },
	//   "Type": "AWS::DynamoDB::Table",
	//   "UpdateReplacePolicy": "Retain"
	//  }
	// }
}

// properties returns those of the one table, from JSON as a template has it.
func properties(t *testing.T, table schema.Table) map[string]any {
	t.Helper()
	return resource(t, table)["Properties"].(map[string]any)
}

func resource(t *testing.T, tables ...schema.Table) map[string]any {
	t.Helper()
	resources, err := schema.CloudFormation(tables...)
	if err != nil || len(resources) != 1 {
		t.Fatalf("%d resources, %v", len(resources), err)
	}
	text, err := json.Marshal(resources)
	if err != nil {
		t.Fatal(err)
	}
	var read map[string]map[string]any
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	return read[schema.LogicalID(tables[0].Name)]
}

func TestPoliciesOfAStack(t *testing.T) {
	t.Parallel()
	kept := table("messages")
	kept.Retain = true
	for want, tables := range map[string][]schema.Table{
		"Delete": {table("messages")},
		"Retain": {table("messages"), kept}, // one that asks for it is enough
	} {
		got := resource(t, tables...)
		if got["DeletionPolicy"] != want || got["UpdateReplacePolicy"] != want || got["Type"] != "AWS::DynamoDB::Table" {
			t.Errorf("%v of %s, kept by %v and %v", got["Type"], want, got["DeletionPolicy"], got["UpdateReplacePolicy"])
		}
	}
}

func TestCloudFormationRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("_", 126) // 2 × 126 + len("table") = 257
	for field, other := range map[string]schema.Table{"table": table("m"), "table " + long: table(long)} {
		resources, err := schema.CloudFormation(table("messages"), other)
		recordtest.WantBad(t, err, "schema", field)
		if resources != nil {
			t.Errorf("%v beside the error of %q", resources, field)
		}
	}
	fits := table(strings.Repeat("_", 125))
	if _, err := schema.CloudFormation(fits); err != nil {
		t.Errorf("a logical id of 255 characters: %v", err)
	}
}

// nameOf is the table's name that a logical id is made from.
func nameOf(t *testing.T, id string) string {
	t.Helper()
	if rest, ok := strings.CutPrefix(id, "table"); ok {
		return strings.NewReplacer("ZZ", "Z", "ZD", "-", "ZU", "_", "ZP", ".").Replace(rest)
	}
	rest, ok := strings.CutSuffix(id, "Table")
	if !ok {
		t.Fatalf("logical id %s", id)
	}
	parts := regexp.MustCompile(`[A-Z][a-z0-9]*`).FindAllString(rest, -1)
	return strings.ToLower(strings.Join(parts, "-"))
}

// A name can be read back from its logical id: so no two have the same.
func TestLogicalIDsDoNotCollide(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	names := []string{
		"homeops-messages", "homeopsMessages", "HomeopsMessages", "homeops_messages", "homeops--messages", "-homeops-messages",
		"homeops-2fa", "2fa-homeops", "HomeopsMessagesTable", "tablehomeops", "homeopsZDmessages",
	}
	for range 20_000 {
		name := make([]byte, 3+random.IntN(4))
		for i := range name {
			name[i] = "abT1-_.ZDUP"[random.IntN(11)]
		}
		names = append(names, string(name))
	}
	alphanumeric := regexp.MustCompile(`^[A-Za-z0-9]+$`)
	for _, name := range names {
		id := schema.LogicalID(name)
		if !alphanumeric.MatchString(id) || nameOf(t, id) != name {
			t.Fatalf("the logical id of %s is %s, which is that of %s", name, id, nameOf(t, id))
		}
	}
}
