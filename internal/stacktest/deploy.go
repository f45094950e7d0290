// Package stacktest imitates what CloudFormation does with a table of a template.
// It changes the template property by property, as people do by hand.
package stacktest

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// tableProperties are the properties of AWS::DynamoDB::Table that CloudFormation
// passes on to DynamoDB.
type tableProperties struct {
	TableName            string
	BillingMode          types.BillingMode
	KeySchema            []types.KeySchemaElement
	AttributeDefinitions []types.AttributeDefinition

	GlobalSecondaryIndexes []types.GlobalSecondaryIndex

	DeletionProtectionEnabled        bool
	TimeToLiveSpecification          *types.TimeToLiveSpecification
	PointInTimeRecoverySpecification struct{ PointInTimeRecoveryEnabled bool }
	SSESpecification                 *struct {
		SSEEnabled     bool
		SSEType        types.SSEType
		KMSMasterKeyId *string
	}
}

// Deploy creates a table from the properties of an AWS::DynamoDB::Table, as
// CloudFormation does. It knows only these properties about the table, and refuses
// a property that it does not know.
func Deploy(ctx context.Context, db *dynamodb.Client, properties map[string]any) error {
	text, err := json.Marshal(properties)
	if err != nil {
		return err
	}

	var p tableProperties
	read := json.NewDecoder(bytes.NewReader(text))
	read.DisallowUnknownFields()
	if err := read.Decode(&p); err != nil {
		return err
	}

	in := &dynamodb.CreateTableInput{
		TableName: aws.String(p.TableName), BillingMode: p.BillingMode, KeySchema: p.KeySchema, AttributeDefinitions: p.AttributeDefinitions,
		GlobalSecondaryIndexes: p.GlobalSecondaryIndexes, DeletionProtectionEnabled: aws.Bool(p.DeletionProtectionEnabled),
	}
	if p.BillingMode != types.BillingModePayPerRequest { // the default is provisioned, which needs capacities
		in.ProvisionedThroughput = &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(1), WriteCapacityUnits: aws.Int64(1)}
		for i := range in.GlobalSecondaryIndexes {
			in.GlobalSecondaryIndexes[i].ProvisionedThroughput = in.ProvisionedThroughput
		}
	}

	if sse := p.SSESpecification; sse != nil {
		in.SSESpecification = &types.SSESpecification{Enabled: aws.Bool(sse.SSEEnabled), SSEType: sse.SSEType, KMSMasterKeyId: sse.KMSMasterKeyId}
	}

	if _, err := db.CreateTable(ctx, in); err != nil {
		return err
	}

	if ttl := p.TimeToLiveSpecification; ttl != nil && aws.ToBool(ttl.Enabled) {
		if _, err := db.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: in.TableName, TimeToLiveSpecification: ttl}); err != nil {
			return err
		}
	}

	_, err = db.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
		TableName: in.TableName,
		PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: aws.Bool(p.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled),
		},
	})
	return err
}
