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

// CloudFormation returns the tables as resources of a CloudFormation template,
// by their [LogicalID]. Definitions of one table are merged first ([Merge]); bad
// ones, and a name too long for a logical id, are an [*event.InputError].
//
// The result is plain JSON: of maps, slices, strings and booleans, in which
// encoding/json always writes the same tables as the same bytes. A program adds it
// to its own resources with maps.Copy, and may change what it likes:
//
//	maps.Copy(resources, tables)
//	template := map[string]any{"Resources": resources}
//
// A stack changes one index of a table an update. It cannot put a table in the place
// of another of the same name: another key needs another name.
func CloudFormation(tables ...Table) (map[string]any, error) {
	merged, err := Merge(tables...)
	if err != nil {
		return nil, err
	}
	resources := map[string]any{}
	for _, table := range merged {
		id := LogicalID(table.Name)
		if len(id) > maxLogicalID {
			return nil, event.BadInput(pkg, "table "+table.Name, fmt.Sprintf("makes a logical id of %d characters, CloudFormation takes %d", len(id), maxLogicalID))
		}
		resources[id] = table.resource()
	}
	return resources, nil
}

// words are what makes a name that [LogicalID] writes as people would.
var words = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z][a-z0-9]*)*$`)

// escapes are Z and what a table's name may hold and a logical id may not.
var escapes = strings.NewReplacer("Z", "ZZ", "-", "ZD", "_", "ZU", ".", "ZP")

// LogicalID is what [CloudFormation] calls a table's resource: outputs, policies
// and functions of the template refer to the table by it. No two names have the same:
//
//   - Words of lower-case letters and digits, with single hyphens between them, are
//     capitalized and followed by Table: homeops-messages is HomeopsMessagesTable.
//   - Any other name follows the word table as it is, but for four characters, which
//     a logical id cannot hold or which mark these: '-' is ZD, '_' is ZU, '.' is ZP,
//     and 'Z' is ZZ. QuillIdempotencyLedger is tableQuillIdempotencyLedger, and
//     my_orders is tablemyZUorders.
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

// resource returns the table as a resource. Both policies are written, also where
// they say what CloudFormation does anyway: whoever reads the template need not know.
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
		"KeySchema":                        keyJSON(in.KeySchema),
		"AttributeDefinitions":             definitionsJSON(in.AttributeDefinitions),
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

func keyJSON(key []types.KeySchemaElement) []any {
	var elements []any
	for _, element := range key {
		elements = append(elements, map[string]any{"AttributeName": aws.ToString(element.AttributeName), "KeyType": string(element.KeyType)})
	}
	return elements
}

func definitionsJSON(definitions []types.AttributeDefinition) []any {
	var attributes []any
	for _, a := range definitions {
		attributes = append(attributes, map[string]any{"AttributeName": aws.ToString(a.AttributeName), "AttributeType": string(a.AttributeType)})
	}
	return attributes
}

func indexesJSON(indexes []types.GlobalSecondaryIndex) []any {
	var list []any
	for _, index := range indexes {
		list = append(list, map[string]any{
			"IndexName":  aws.ToString(index.IndexName),
			"KeySchema":  keyJSON(index.KeySchema),
			"Projection": map[string]any{"ProjectionType": string(index.Projection.ProjectionType)},
		})
	}
	return list
}
