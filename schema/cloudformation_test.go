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
	resources, err := schema.CloudFormation(table)
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
	resource := read[schema.LogicalID(table.Name)]
	if got := resource["DeletionPolicy"]; (got == "Retain") != table.Retain || got != resource["UpdateReplacePolicy"] {
		t.Errorf("Retain %v, kept by %v and %v", table.Retain, got, resource["UpdateReplacePolicy"])
	}
	return resource["Properties"].(map[string]any)
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
	alphanumeric, seen := regexp.MustCompile(`^[A-Za-z0-9]+$`), map[string]string{}
	for _, name := range names {
		id := schema.LogicalID(name)
		if other, taken := seen[id]; !alphanumeric.MatchString(id) || taken && other != name {
			t.Fatalf("the logical id of %s is %s, which is that of %s", name, id, other)
		}
		seen[id] = name
	}
}
