package schema_test

import (
	"encoding/json"
	"fmt"
	"log"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/homeops/ddbpatterns/internal/recordtest"
	"github.com/homeops/ddbpatterns/schema"
)

// What is written here is read by Terraform's own parser in check/terraform.

func ExampleTerraform() {
	orders := schema.Table{
		Name:   "shop-orders",
		Key:    schema.Key{Partition: schema.String("number")},
		TTL:    "expires",
		Retain: true,
	}
	resources, err := schema.Terraform(orders)
	if err != nil {
		log.Fatal(err)
	}
	text, err := json.MarshalIndent(map[string]any{"resource": resources}, "", " ") // tables.tf.json
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	// Output:
	// {
	//  "resource": {
	//   "aws_dynamodb_table": {
	//    "ShopOrdersTable": {
	//     "attribute": [
	//      {
	//       "name": "number",
	//       "type": "S"
	//      }
	//     ],
	//     "billing_mode": "PAY_PER_REQUEST",
	//     "deletion_protection_enabled": false,
	//     "hash_key": "number",
	//     "lifecycle": {
	//      "prevent_destroy": true
	//     },
	//     "name": "shop-orders",
	//     "point_in_time_recovery": {
	//      "enabled": false
	//     },
	//     "ttl": {
	//      "attribute_name": "expires",
	//      "enabled": true
	//     }
	//    }
	//   }
	//  }
	// }
}

func ExamplePolicyDocument_Terraform() {
	doc, err := schema.Policy(orders{})
	if err != nil {
		log.Fatal(err)
	}
	policy, err := doc.Terraform()
	if err != nil {
		log.Fatal(err)
	}
	resource := map[string]any{"aws_iam_policy": map[string]any{"orders": map[string]any{"name": "orders", "policy": policy}}}
	text, err := json.MarshalIndent(map[string]any{"resource": resource}, "", " ") // policy.tf.json
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	// Output:
	// {
	//  "resource": {
	//   "aws_iam_policy": {
	//    "orders": {
	//     "name": "orders",
	//     "policy": "{\"Statement\":[{\"Action\":[\"dynamodb:GetItem\",\"dynamodb:PutItem\"],\"Effect\":\"Allow\",\"Resource\":[\"${aws_dynamodb_table.OrdersTable.arn}\"]},{\"Action\":[\"dynamodb:Query\"],\"Effect\":\"Allow\",\"Resource\":[\"${aws_dynamodb_table.OrdersTable.arn}/index/by-day\"]}],\"Version\":\"2012-10-17\"}"
	//    }
	//   }
	//  }
	// }
}

// terraformed returns the arguments of the one table.
func terraformed(t *testing.T, table schema.Table) map[string]any {
	t.Helper()
	resources, err := schema.Terraform(table)
	if err != nil {
		t.Fatal(err)
	}
	return resources["aws_dynamodb_table"].(map[string]any)[schema.LogicalID(table.Name)].(map[string]any)
}

func TestTerraformRefuses(t *testing.T) {
	t.Parallel()
	with := func(change func(*schema.Table)) schema.Table {
		other := table("carts")
		change(&other)
		return other
	}
	key := func(kms string) schema.Table { return with(func(t *schema.Table) { t.KMSKey = kms }) }
	const arn = "arn:aws:kms:eu-north-1:123456789012:"
	for name, tc := range map[string]struct {
		other schema.Table
		field string
	}{
		"contradiction":             {with(func(t *schema.Table) { t.Name, t.Key.Sort.Name = "messages", "id" }), "table messages"},
		"a key's id":                {key("1234abcd-12ab-34cd-56ef-1234567890ab"), "table carts KMS key"},
		"an alias":                  {key("alias/carts"), "table carts KMS key"},
		"an alias's ARN":            {key(arn + "alias/carts"), "table carts KMS key"},
		"a reference":               {key("${aws_kms_key.carts.arn}"), "table carts KMS key"},
		"another form of a key":     {with(func(t *schema.Table) { t.Key.Partition.Name = "cafe\u0301" }), "table carts"},
		"another form of an index":  {with(func(t *schema.Table) { t.Indexes[0].Key.Sort.Name = "cafe\u0301" }), "table carts"},
		"another form of its TTL":   {with(func(t *schema.Table) { t.TTL = "cafe\u0301" }), "table carts"},
		"a template as a key":       {with(func(t *schema.Table) { t.Key.Partition.Name = "${file(key)}" }), "table carts"},
		"a template as an index":    {with(func(t *schema.Table) { t.Indexes[0].Key.Sort.Name = "$${x}" }), "table carts"},
		"a template as its TTL":     {with(func(t *schema.Table) { t.TTL = "a%{b" }), "table carts"},
		"a table without a name":    {with(func(t *schema.Table) { t.Name = "" }), "table"},
		"an index that is repeated": {with(func(t *schema.Table) { t.Indexes = append(t.Indexes, t.Indexes[0]) }), "table carts index by-user"},
	} {
		resources, err := schema.Terraform(table("messages"), tc.other)
		recordtest.WantBad(t, err, "schema", tc.field, name)
		if resources != nil {
			t.Errorf("%s: %v beside the error", name, resources)
		}
	}
	for kms, want := range map[string]any{
		"":                   nil,
		"alias/aws/dynamodb": map[string]any{"enabled": true},
		arn + "key/1234abcd-12ab-34cd-56ef-1234567890ab": map[string]any{"enabled": true, "kms_key_arn": arn + "key/1234abcd-12ab-34cd-56ef-1234567890ab"},
		arn + "key/mrk-1234abcd12ab34cd56ef1234567890ab": map[string]any{"enabled": true, "kms_key_arn": arn + "key/mrk-1234abcd12ab34cd56ef1234567890ab"},
	} {
		if diff := cmp.Diff(want, terraformed(t, key(kms))["server_side_encryption"]); diff != "" {
			t.Errorf("%q: %s", kms, diff)
		}
	}
}

// What Terraform would evaluate is escaped, wherever a policy has a text.
func TestTerraformEscapes(t *testing.T) {
	t.Parallel()
	doc := schema.PolicyDocument{Version: "2012-10-17", Statement: []schema.Statement{
		{Effect: "Allow", Action: []string{"s3:${x}"}, Resource: []schema.ARN{"arn:aws:s3:::homes/${aws:username}/%{x}"}},
	}}
	const want = `{"Statement":[{"Action":["s3:$${x}"],"Effect":"Allow","Resource":["arn:aws:s3:::homes/$${aws:username}/%%{x}"]}],"Version":"2012-10-17"}`
	if got, err := doc.Terraform(); got != want || err != nil {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	const tables = "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/"
	for _, arn := range []schema.ARN{"arn:${AWS::Partition}:s3:::homes", tables + "*", tables + "*/index/*", tables} {
		doc.Statement[0].Resource = []schema.ARN{"*", arn}
		_, err := doc.Terraform()
		recordtest.WantBad(t, err, "schema", "Statement[0].Resource[1]")
	}
}
