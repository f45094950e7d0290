package cookbook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/counter"
	"github.com/homeops/ddbpatterns/ledger"
	"github.com/homeops/ddbpatterns/schema"
	"github.com/homeops/ddbpatterns/tzclock"
)

// Checkout is a service on two tables.
type Checkout struct {
	Seen *ledger.Store
	Days *counter.Store
}

// NewCheckout names the tables. It sends nothing.
func NewCheckout(db *dynamodb.Client) (Checkout, error) {
	seen, err := ledger.New(db, "checkout-seen", nil)
	if err != nil {
		return Checkout{}, err
	}
	days, err := counter.New(db, "checkout-days", tzclock.Stockholm, &counter.Config{Names: map[string]string{"chatId": "customer"}})
	return Checkout{seen, days}, err
}

// Tables are the stores' own definitions, and what this deployment adds to them.
func (c Checkout) Tables() []schema.Table {
	seen := c.Seen.Table()
	seen.PointInTimeRecovery, seen.DeletionProtection, seen.Retain = true, true, true
	return []schema.Table{seen, c.Days.Table()}
}

// WriteTemplate writes a CloudFormation template: the tables, and the policy for
// the service's role. It needs no region and no credentials.
func WriteTemplate(w io.Writer) error {
	c, err := NewCheckout(dynamodb.New(dynamodb.Options{})) // it sends nothing
	if err != nil {
		return err
	}
	resources, err := schema.CloudFormation(c.Tables()...)
	if err != nil {
		return err
	}
	policy, err := c.policy()
	if err != nil {
		return err
	}
	resources["CheckoutPolicy"] = map[string]any{
		"Type": "AWS::IAM::ManagedPolicy", "Properties": map[string]any{"PolicyDocument": policy},
	}
	return write(w, map[string]any{"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources})
}

// policy grants the calls that the service makes.
func (c Checkout) policy() (schema.PolicyDocument, error) {
	policy, err1 := schema.Policy(schema.Only(c.Seen, "Do"), schema.Only(c.Days, "Take", "Refund"))
	verify, err2 := schema.DescribePolicy(c.Tables()...) // for Start
	policy.Statement = append(policy.Statement, verify.Statement...)
	return policy, errors.Join(err1, err2)
}

// WriteTerraform writes the same for Terraform: checkout.tf.json.
func WriteTerraform(w io.Writer) error {
	c, err := NewCheckout(dynamodb.New(dynamodb.Options{}))
	if err != nil {
		return err
	}
	resources, err := schema.Terraform(c.Tables()...)
	if err != nil {
		return err
	}
	policy, err := c.policy()
	if err != nil {
		return err
	}
	text, err := policy.Terraform() // it refers to the tables
	if err != nil {
		return err
	}
	resources["aws_iam_policy"] = map[string]any{"checkout": map[string]any{"name": "checkout", "policy": text}}
	return write(w, map[string]any{"resource": resources})
}

func write(w io.Writer, value any) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(value)
}

// Start begins the service. It refuses tables that lack a part of their definition.
func Start(ctx context.Context, db *dynamodb.Client) (Checkout, error) {
	c, err := NewCheckout(db)
	if err != nil {
		return c, err
	}
	return c, schema.Verify(ctx, db, c.Tables()...)
}

// Report lists how the deployed tables differ from their definitions, and what to do.
func (c Checkout) Report(ctx context.Context, db *dynamodb.Client, w io.Writer) error {
	differences, err := schema.Diff(ctx, db, c.Tables()...)
	for _, d := range differences {
		if _, err := fmt.Fprintf(w, "%s: %s\n  %s\n", d.Table, d, d.How); err != nil {
			return err
		}
	}
	return err
}
