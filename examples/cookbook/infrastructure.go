package cookbook

import (
	"context"
	"encoding/json"
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
// the service's role, by the calls that the service makes. It needs no region and no credentials.
func WriteTemplate(w io.Writer) error {
	c, err := NewCheckout(dynamodb.New(dynamodb.Options{})) // it sends nothing
	if err != nil {
		return err
	}
	resources, err := schema.CloudFormation(c.Tables()...)
	if err != nil {
		return err
	}
	policy, err := schema.Policy(schema.Only(c.Seen, "Do"), schema.Only(c.Days, "Take", "Refund"))
	if err != nil {
		return err
	}
	verify, err := schema.DescribePolicy(c.Tables()...) // for Start
	if err != nil {
		return err
	}
	policy.Statement = append(policy.Statement, verify.Statement...)
	resources["CheckoutPolicy"] = map[string]any{
		"Type": "AWS::IAM::ManagedPolicy", "Properties": map[string]any{"PolicyDocument": policy},
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(map[string]any{"AWSTemplateFormatVersion": "2010-09-09", "Resources": resources})
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
