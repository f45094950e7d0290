package run

import (
	"encoding/json"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/examples/quill/config"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
)

// template writes a CloudFormation template: the tables, and a policy for the role
// that the service runs under.
func (p Program) template(cfg config.Config) error {
	s, err := newStores(cfg, dynamodb.New(dynamodb.Options{Region: cfg.Region})) // only for its definitions
	if err != nil {
		return err
	}
	resources, err := schema.CloudFormation(s.tables()...)
	if err != nil {
		return err
	}
	rights, err := schema.Policy(schema.Only(s.marks, "MarkItem", "Claim", "Renew", "Release"), s.facts, oldMarks{s.marks})
	if err != nil {
		return err
	}
	verifies, err := schema.DescribePolicy(s.tables()...)
	if err != nil {
		return err
	}
	rights.Statement = append(rights.Statement, verifies.Statement...)
	maps.Copy(resources, map[string]any{"QuillPolicy": map[string]any{
		"Type": "AWS::IAM::ManagedPolicy",
		"Properties": map[string]any{
			"Description":    "What quill does with its tables",
			"PolicyDocument": rights,
		},
	}})
	out := json.NewEncoder(p.Out)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(map[string]any{
		"AWSTemplateFormatVersion": "2010-09-09",
		"Description":              "quill: webhooks as facts, each once",
		"Resources":                resources,
		"Outputs":                  map[string]any{"Policy": map[string]any{"Value": map[string]any{"Ref": "QuillPolicy"}}},
	})
}

// oldMarks are the ledger's rows as intake reads them while old marks count.
type oldMarks struct{ *ledger.Store }

// Actions returns what reading them needs.
func (oldMarks) Actions() schema.Actions {
	return schema.Actions{Calls: map[string]schema.Grants{"marked": {"": {"BatchGetItem"}}}}
}
