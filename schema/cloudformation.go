package schema

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
)

// maxLogicalID is how many characters CloudFormation takes.
const maxLogicalID = 255

// CloudFormation returns the tables as resources of a CloudFormation template.
// The keys of the map are the tables' logical ids ([LogicalID]). Definitions of
// one table are merged first ([Merge]). The error is an [*event.InputError] if
// a definition is invalid, if two definitions contradict each other, or if the
// name of a table is too long for a logical id.
//
// The result consists of maps, slices, strings and booleans. encoding/json always
// writes the same tables, in the same order, as the same bytes. A program adds
// the result to its own resources with maps.Copy, and may change anything in it:
//
//	maps.Copy(resources, tables)
//	template := map[string]any{"Resources": resources}
//
// AWS CloudFormation changes at most one index of a table in one update of a
// stack. It cannot replace a table by another table of the same name, so if you
// change the key of a table, also change its name.
func CloudFormation(tables ...Table) (map[string]any, error) {
	merged, err := Merge(tables...)
	if err != nil {
		return nil, err
	}

	resources := map[string]any{}
	for _, table := range merged {
		id := LogicalID(table.Name)
		if len(id) > maxLogicalID {
			return nil, event.BadInput(pkg, "table "+table.Name, fmt.Sprintf("makes a logical id of %d characters, and CloudFormation accepts at most %d", len(id), maxLogicalID))
		}
		resources[id] = table.resource()
	}

	return resources, nil
}

// words matches a name that [LogicalID] writes as people would.
var words = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$`)

// escapes are Z and what a table's name may hold and a logical id may not.
var escapes = strings.NewReplacer("Z", "ZZ", "-", "ZD", "_", "ZU", ".", "ZP")

// LogicalID returns the name of a table's resource in the result of
// [CloudFormation]. Outputs, policies and functions of the template refer to the
// table by this name. Different tables have different ids:
//
//   - Words of lower-case letters and digits that each begin with a letter, with
//     single hyphens between them, are capitalized and followed by Table:
//     daily-orders becomes DailyOrdersTable.
//   - Any other name comes after the word table, with four characters replaced.
//     '-' becomes ZD, '_' becomes ZU and '.' becomes ZP, because a logical id
//     cannot hold them. 'Z' becomes ZZ, because a Z marks the other three.
//     ShopLedger becomes tableShopLedger, and my_orders becomes tablemyZUorders.
func LogicalID(table string) string {
	if !words.MatchString(table) {
		return "table" + escapes.Replace(table)
	}
	var id strings.Builder
	for word := range strings.SplitSeq(table, "-") {
		id.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return id.String() + "Table"
}

// resource returns the table as a resource. Both policies are written, even if they
// are CloudFormation's defaults, so that a reader of the template need not know
// these.
func (t Table) resource() map[string]any {
	policy := "Delete"
	if t.Retain {
		policy = "Retain"
	}
	return map[string]any{
		"Type":                "AWS::DynamoDB::Table",
		"DeletionPolicy":      policy,
		"UpdateReplacePolicy": policy,
		"Properties":          t.properties(),
	}
}

// properties writes what Create asks for, as CloudFormation calls it.
func (t Table) properties() map[string]any {
	in := t.Input()
	properties := map[string]any{
		"TableName":                        t.Name,
		"BillingMode":                      string(in.BillingMode),
		"KeySchema":                        keyJSON(in.KeySchema, "AttributeName", "KeyType"),
		"AttributeDefinitions":             definitionsJSON(in.AttributeDefinitions, "AttributeName", "AttributeType"),
		"DeletionProtectionEnabled":        t.DeletionProtection,
		"PointInTimeRecoverySpecification": map[string]any{"PointInTimeRecoveryEnabled": t.PointInTimeRecovery},
	}
	if t.TTL != "" {
		properties["TimeToLiveSpecification"] = map[string]any{"AttributeName": t.TTL, "Enabled": true}
	}

	if sse := in.SSESpecification; sse != nil {
		encryption := map[string]any{"SSEEnabled": true, "SSEType": string(sse.SSEType)}
		if sse.KMSMasterKeyId != nil {
			encryption["KMSMasterKeyId"] = *sse.KMSMasterKeyId
		}
		properties["SSESpecification"] = encryption
	}

	if len(in.GlobalSecondaryIndexes) > 0 {
		properties["GlobalSecondaryIndexes"] = indexesJSON(in.GlobalSecondaryIndexes)
	}
	return properties
}

// keyJSON writes a key. attribute and kind are the names of an element's two members,
// which CloudFormation and Terraform spell differently.
func keyJSON(key []types.KeySchemaElement, attribute, kind string) []any {
	var elements []any
	for _, element := range key {
		elements = append(elements, map[string]any{attribute: aws.ToString(element.AttributeName), kind: string(element.KeyType)})
	}
	return elements
}

// definitionsJSON writes the definitions of attributes, with these names of a
// definition's two members.
func definitionsJSON(definitions []types.AttributeDefinition, name, kind string) []any {
	var attributes []any
	for _, a := range definitions {
		attributes = append(attributes, map[string]any{name: aws.ToString(a.AttributeName), kind: string(a.AttributeType)})
	}
	return attributes
}

func indexesJSON(indexes []types.GlobalSecondaryIndex) []any {
	var list []any
	for _, index := range indexes {
		list = append(list, map[string]any{
			"IndexName":  aws.ToString(index.IndexName),
			"KeySchema":  keyJSON(index.KeySchema, "AttributeName", "KeyType"),
			"Projection": map[string]any{"ProjectionType": string(index.Projection.ProjectionType)},
		})
	}
	return list
}
