package schema_test

import (
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/schema"
)

func ExampleCloudFormation() {
	orders := schema.Table{
		Name:   "shop-orders",
		Key:    schema.Key{Partition: schema.String("customer"), Sort: schema.Number("number")},
		TTL:    "expiresAt",
		Retain: true,
	}
	tables, err := schema.CloudFormation(orders)
	if err != nil {
		log.Fatal(err)
	}
	resources := map[string]any{
		"Topic": map[string]any{"Type": "AWS::SNS::Topic"},
	}
	maps.Copy(resources, tables)
	template := json.NewEncoder(os.Stdout)
	template.SetIndent("", " ")
	err = template.Encode(map[string]any{
		"Resources": resources,
		"Outputs": map[string]any{
			"Orders": map[string]any{"Value": map[string]any{"Fn::GetAtt": []string{schema.LogicalID(orders.Name), "Arn"}}},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// {
	//  "Outputs": {
	//   "Orders": {
	//    "Value": {
	//     "Fn::GetAtt": [
	//      "ShopOrdersTable",
	//      "Arn"
	//     ]
	//    }
	//   }
	//  },
	//  "Resources": {
	//   "ShopOrdersTable": {
	//    "DeletionPolicy": "Retain",
	//    "Properties": {
	//     "AttributeDefinitions": [
	//      {
	//       "AttributeName": "customer",
	//       "AttributeType": "S"
	//      },
	//      {
	//       "AttributeName": "number",
	//       "AttributeType": "N"
	//      }
	//     ],
	//     "BillingMode": "PAY_PER_REQUEST",
	//     "DeletionProtectionEnabled": false,
	//     "KeySchema": [
	//      {
	//       "AttributeName": "customer",
	//       "KeyType": "HASH"
	//      },
	//      {
	//       "AttributeName": "number",
	//       "KeyType": "RANGE"
	//      }
	//     ],
	//     "PointInTimeRecoverySpecification": {
	//      "PointInTimeRecoveryEnabled": false
	//     },
	//     "TableName": "shop-orders",
	//     "TimeToLiveSpecification": {
	//      "AttributeName": "expiresAt",
	//      "Enabled": true
	//     }
	//    },
	//    "Type": "AWS::DynamoDB::Table",
	//    "UpdateReplacePolicy": "Retain"
	//   },
	//   "Topic": {
	//    "Type": "AWS::SNS::Topic"
	//   }
	//  }
	// }
}

func ExampleLogicalID() {
	for _, table := range []string{"homeops-messages", "QuillIdempotencyLedger", "my_orders"} {
		fmt.Println(table, schema.LogicalID(table))
	}
	// Output:
	// homeops-messages HomeopsMessagesTable
	// QuillIdempotencyLedger tableQuillIdempotencyLedger
	// my_orders tablemyZUorders
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

func TestEncryptionOfAStack(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]any{
		"":                   nil,
		"alias/ours":         map[string]any{"SSEEnabled": true, "SSEType": "KMS", "KMSMasterKeyId": "alias/ours"},
		"alias/aws/dynamodb": map[string]any{"SSEEnabled": true, "SSEType": "KMS"},
	} {
		encrypted := table("messages")
		encrypted.KMSKey = key
		if diff := cmp.Diff(want, properties(t, encrypted)["SSESpecification"]); diff != "" {
			t.Errorf("%q (-want +got):\n%s", key, diff)
		}
	}
}

// A bare table has no empty lists, which CloudFormation refuses.
func TestPropertiesOfABareTable(t *testing.T) {
	t.Parallel()
	bare := schema.Table{Name: "bare", Key: schema.Key{Partition: schema.Binary("id")}}
	want := map[string]any{
		"TableName":                        "bare",
		"BillingMode":                      "PAY_PER_REQUEST",
		"AttributeDefinitions":             []any{map[string]any{"AttributeName": "id", "AttributeType": "B"}},
		"KeySchema":                        []any{map[string]any{"AttributeName": "id", "KeyType": "HASH"}},
		"DeletionProtectionEnabled":        false,
		"PointInTimeRecoverySpecification": map[string]any{"PointInTimeRecoveryEnabled": false},
	}
	if diff := cmp.Diff(want, properties(t, bare)); diff != "" {
		t.Error(diff)
	}
}

func TestCloudFormationRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("_", 126) // 2 × 126 + len("table") = 257
	for field, change := range map[string]func(*schema.Table){
		"table":                  func(t *schema.Table) { t.Name = "m" },
		"table messages":         func(t *schema.Table) { t.Key.Sort = schema.String("other") },
		"table messages TTL":     func(t *schema.Table) { t.TTL = "a\xff" },
		"table messages KMS key": func(t *schema.Table) { t.KMSKey = "a\xff" },
		"table " + long:          func(t *schema.Table) { t.Name = long },
	} {
		other := table("messages")
		other.TTL = ""
		change(&other)
		one := table("messages")
		one.TTL = ""
		resources, err := schema.CloudFormation(one, other)
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
		"homeops-messages-", "homeops.messages", "homeops-Messages", "homeops-2fa", "2fa-homeops", "homeops2-fa", "HomeopsMessagesTable",
		"tablehomeops", "homeopsZDmessages", "ZZZ", "Z-Z", "Z_D",
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
