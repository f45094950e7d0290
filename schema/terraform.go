package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
)

// tfTable is the type of Terraform's resource.
const tfTable = "aws_dynamodb_table"

// Terraform returns the tables as resources of a Terraform configuration, in its JSON
// syntax: a map of the one type aws_dynamodb_table to a map of the tables, whose names
// are those of [LogicalID]. Definitions of one table are merged first ([Merge]). The
// result is what stands under "resource" in a file whose name ends in .tf.json:
//
//	resources, err := schema.Terraform(seen.Table(), limits.Table())
//	text, err := json.Marshal(map[string]any{"resource": resources})
//
// A reference to a table is aws_dynamodb_table.ShopOrdersTable.arn, for example. For
// the policies of a service see [PolicyDocument.Terraform].
//
// Like that of [CloudFormation], the result consists of maps, slices, strings and
// booleans, always gives the same JSON, and may be changed by the program. A text that the
// program adds is a template for Terraform, unless the program escapes ${ and %{ in it.
//
// Table.Retain becomes lifecycle.prevent_destroy: Terraform refuses a plan that would
// destroy the table. It does not guard a table that is removed from the configuration;
// Table.DeletionProtection does.
//
// The resources are written for version 6.36 of the provider hashicorp/aws. Versions
// before 6.29 refuse key_schema, which an index has.
//
// The error is an [*event.InputError] in these cases:
//   - A definition is invalid, or two definitions contradict each other.
//   - Table.KMSKey is set, and neither alias/aws/dynamodb nor the ARN of a key. The
//     provider accepts only ARNs, and plans a change at each run for the ARN of an alias.
//   - The name of an attribute has ${ or %{, which Terraform would evaluate, or a character
//     that is not ASCII, which it may write in another form.
func Terraform(tables ...Table) (map[string]any, error) {
	merged, err := Merge(tables...)
	if err != nil {
		return nil, err
	}
	resources := map[string]any{}
	for _, table := range merged {
		if err := table.fitsTerraform(); err != nil {
			return nil, err
		}
		resources[LogicalID(table.Name)] = table.arguments()
	}
	return map[string]any{tfTable: resources}, nil
}

// keyARNs matches the ARN of a KMS key.
var keyARNs = regexp.MustCompile(`^arn:[a-z-]+:kms:[a-z0-9-]+:[0-9]{12}:key/[A-Za-z0-9-]+$`)

// fitsTerraform refuses a KMS key that the provider does not accept, and names that would
// not stay as they are: Terraform evaluates ${ and %{, and may write what is not ASCII in
// another form of Unicode.
func (t Table) fitsTerraform() error {
	text := fmt.Sprint(t.arguments())
	changed := escaper.Replace(text) != text || strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
	return cmp.Or(
		check.Refuse(pkg, "table "+t.Name+" KMS key", t.KMSKey != "" && t.KMSKey != awsManaged && !keyARNs.MatchString(t.KMSKey),
			fmt.Sprintf("must for Terraform be %s or the ARN of a key, is %q", awsManaged, t.KMSKey)),
		check.Refuse(pkg, "table "+t.Name, changed, "must have names of ASCII without ${ and %{: Terraform evaluates those two, and may write other characters in another form of Unicode"))
}

// arguments writes what Create asks for, as Terraform calls it. What is off is written,
// too, so that a reader need not know the provider's defaults.
func (t Table) arguments() map[string]any {
	in := t.Input()
	arguments := map[string]any{
		"name":                        t.Name,
		"billing_mode":                string(in.BillingMode),
		"hash_key":                    t.Key.Partition.Name,
		"attribute":                   definitionsJSON(in.AttributeDefinitions, "name", "type"),
		"deletion_protection_enabled": t.DeletionProtection,
		"point_in_time_recovery":      map[string]any{"enabled": t.PointInTimeRecovery},
		"lifecycle":                   map[string]any{"prevent_destroy": t.Retain},
	}
	if t.Key.Sort.Name != "" {
		arguments["range_key"] = t.Key.Sort.Name
	}

	if t.TTL != "" {
		arguments["ttl"] = map[string]any{"attribute_name": t.TTL, "enabled": true}
	}

	if sse := in.SSESpecification; sse != nil {
		encryption := map[string]any{"enabled": true} // without a key: by the one that AWS manages
		if sse.KMSMasterKeyId != nil {
			encryption["kms_key_arn"] = *sse.KMSMasterKeyId
		}
		arguments["server_side_encryption"] = encryption
	}

	var indexes []any
	for _, index := range in.GlobalSecondaryIndexes {
		indexes = append(indexes, map[string]any{
			"name":            *index.IndexName,
			"key_schema":      keyJSON(index.KeySchema, "attribute_name", "key_type"),
			"projection_type": string(index.Projection.ProjectionType),
		})
	}

	if indexes != nil {
		arguments["global_secondary_index"] = indexes
	}
	return arguments
}

// escaper escapes what Terraform would evaluate in a text, and tables matches the ARNs
// of tables in one that it has escaped.
var (
	escaper = strings.NewReplacer("${", "$${", "%{", "%%{")
	tables  = regexp.MustCompile(regexp.QuoteMeta(escaper.Replace(tableARN)) + `([A-Za-z0-9_.-]+)`)
)

// Terraform returns the policy as the text of an argument such as policy of
// aws_iam_policy, beside the resources of the function [Terraform]: the ARNs of tables
// and indexes become references to these resources, so that Terraform creates the tables
// first. For tables of another configuration call [PolicyDocument.In] before. What
// Terraform would evaluate otherwise is escaped, such as IAM's own ${aws:username}.
//
// The error is an [*event.InputError] if an ARN that does not name a table has a pseudo
// parameter of CloudFormation.
func (d PolicyDocument) Terraform() (string, error) {
	statements := make([]any, len(d.Statement))
	for i, s := range d.Statement {
		resources := make([]string, len(s.Resource))
		for j, arn := range s.Resource {
			resources[j] = string(arn)
			if strings.Contains(tables.ReplaceAllString(escaper.Replace(resources[j]), ""), "${AWS::") {
				return "", event.BadInput(pkg, fmt.Sprintf("Statement[%d].Resource[%d]", i, j), "must not have a pseudo parameter of CloudFormation: call PolicyDocument.In first, which replaces those that Policy wrote")
			}
		}
		statements[i] = map[string]any{"Effect": s.Effect, "Action": s.Action, "Resource": resources}
	}

	text, err := json.Marshal(map[string]any{"Version": d.Version, "Statement": statements})
	return tables.ReplaceAllStringFunc(escaper.Replace(string(text)), func(arn string) string {
		return fmt.Sprintf("${%s.%s.arn}", tfTable, LogicalID(tables.FindStringSubmatch(arn)[1]))
	}), err
}
