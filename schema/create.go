package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/internal/ddb"
)

// API is what the package calls of *dynamodb.Client.
type API interface {
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	DescribeTimeToLive(context.Context, *dynamodb.DescribeTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error)
	UpdateTimeToLive(context.Context, *dynamodb.UpdateTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error)
	DescribeContinuousBackups(context.Context, *dynamodb.DescribeContinuousBackupsInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeContinuousBackupsOutput, error)
	UpdateContinuousBackups(context.Context, *dynamodb.UpdateContinuousBackupsInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateContinuousBackupsOutput, error)
}

var _ API = (*dynamodb.Client)(nil)

// Pauses between looks at a table that is not active yet.
const (
	firstPause = 50 * time.Millisecond
	mostPause  = 2 * time.Second
)

// MismatchError says how an existing table differs from its definition.
type MismatchError struct {
	Table       string
	Differences []string // one sentence each
}

// Error lists the differences.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("schema: table %s stands and differs: %s", e.Table, strings.Join(e.Differences, "; "))
}

// Create creates those of the tables that do not exist, waits until each is
// active, and switches on the TTL and the backups its definition names. It
// waits as long as the context allows.
//
// Price: 2 requests. That is for each table; TTL adds 2, point-in-time recovery
// 2, and waiting 1 a look. None costs capacity units.
func Create(ctx context.Context, api API, tables ...Table) error {
	merged, err := Merge(tables...)
	if err != nil {
		return err
	}
	for _, table := range merged {
		if err := create(ctx, api, table); err != nil {
			return err
		}
	}
	return nil
}

func create(ctx context.Context, api API, table Table) error {
	stands, err := stand(ctx, api, table)
	if err != nil {
		return err
	}
	if diff := table.differences(stands); len(diff) > 0 {
		return &MismatchError{Table: table.Name, Differences: diff}
	}
	if err := switchOnTTL(ctx, api, table); err != nil {
		return err
	}
	return switchOnBackups(ctx, api, table)
}

func failed(table Table, err error) error { return ddb.Wrap(pkg, "Create", table.Name, err) }

// stand creates the table unless it stands, and waits until it and all its
// indexes are active. A table that is being deleted is waited for and created
// anew.
func stand(ctx context.Context, api API, table Table) (*types.TableDescription, error) {
	_, err := api.CreateTable(ctx, table.Input())
	if err != nil && !ddb.InUse(err) {
		return nil, failed(table, err)
	}
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		out, err := api.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(table.Name)})
		switch {
		case ddb.Missing(err):
			// Not seen yet, for DescribeTable is eventually consistent, or
			// deleted since: creating it again tells.
			if _, err := api.CreateTable(ctx, table.Input()); err != nil && !ddb.InUse(err) {
				return nil, failed(table, err)
			}
		case err != nil:
			return nil, failed(table, err)
		case active(out.Table):
			return out.Table, nil
		case !passing(out.Table.TableStatus):
			return nil, &MismatchError{Table: table.Name, Differences: []string{"its status is " + string(out.Table.TableStatus)}}
		}
		if err := wait(ctx, pause); err != nil {
			return nil, failed(table, fmt.Errorf("it is not active yet: %w", err))
		}
	}
}

func wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// passing reports whether the status leads to another by itself.
func passing(status types.TableStatus) bool {
	switch status {
	case types.TableStatusActive, types.TableStatusCreating, types.TableStatusUpdating, types.TableStatusDeleting:
		return true
	}
	return false
}

func active(table *types.TableDescription) bool {
	if table.TableStatus != types.TableStatusActive {
		return false
	}
	return !slices.ContainsFunc(table.GlobalSecondaryIndexes, func(i types.GlobalSecondaryIndexDescription) bool {
		return i.IndexStatus != "" && i.IndexStatus != types.IndexStatusActive
	})
}

// differences compares keys, indexes and what is settled when a table is
// created. What the table has beyond the definition (another index, protection
// from deletion, a key of its own) is no difference.
func (t Table) differences(stands *types.TableDescription) []string {
	kinds := map[string]types.ScalarAttributeType{}
	for _, def := range stands.AttributeDefinitions {
		kinds[aws.ToString(def.AttributeName)] = def.AttributeType
	}
	diff := t.settingsLacking(stands)
	if got := keyOf(stands.KeySchema, kinds); got != t.Key {
		diff = append(diff, fmt.Sprintf("its key is %s, not %s", got, t.Key))
	}
	for _, want := range t.Indexes {
		at := slices.IndexFunc(stands.GlobalSecondaryIndexes, func(i types.GlobalSecondaryIndexDescription) bool {
			return aws.ToString(i.IndexName) == want.Name
		})
		if at < 0 {
			diff = append(diff, "it has no index "+want.Name)
			continue
		}
		index := stands.GlobalSecondaryIndexes[at]
		if got := keyOf(index.KeySchema, kinds); got != want.Key {
			diff = append(diff, fmt.Sprintf("the key of index %s is %s, not %s", want.Name, got, want.Key))
		}
		if index.Projection != nil && index.Projection.ProjectionType != types.ProjectionTypeAll {
			diff = append(diff, fmt.Sprintf("index %s projects %s, not ALL", want.Name, index.Projection.ProjectionType))
		}
	}
	return diff
}

// settingsLacking names the settings that the definition asks for and the
// table does not have.
func (t Table) settingsLacking(stands *types.TableDescription) []string {
	var lacking []string
	if t.DeletionProtection && !aws.ToBool(stands.DeletionProtectionEnabled) {
		lacking = append(lacking, "it is not protected from deletion")
	}
	// A key may be named by id, alias or ARN, so only its absence can be told.
	if t.KMSKey != "" && (stands.SSEDescription == nil || stands.SSEDescription.SSEType != types.SSETypeKms) {
		lacking = append(lacking, "it is not encrypted with a KMS key")
	}
	return lacking
}

func keyOf(elements []types.KeySchemaElement, kinds map[string]types.ScalarAttributeType) Key {
	var key Key
	for _, element := range elements {
		a := Attribute{aws.ToString(element.AttributeName), kinds[aws.ToString(element.AttributeName)]}
		if element.KeyType == types.KeyTypeHash {
			key.Partition = a
		} else {
			key.Sort = a
		}
	}
	return key
}

// String writes the key as "(chatId S, messageId N)".
func (k Key) String() string {
	var parts []string
	for _, a := range k.attributes() {
		parts = append(parts, a.Name+" "+string(a.Type))
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// switchOnTTL looks first: DynamoDB refuses to switch on a TTL that is on, and
// takes one change an hour.
func switchOnTTL(ctx context.Context, api API, table Table) error {
	if table.TTL == "" {
		return nil
	}
	out, err := api.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(table.Name)})
	if err != nil {
		return failed(table, err)
	}
	if on, err := table.ttlStands(out.TimeToLiveDescription); on || err != nil {
		return err
	}
	_, err = api.UpdateTimeToLive(ctx, table.TTLInput())
	if err == nil {
		return nil
	}
	// Another process may have switched it on between the two requests.
	again, lookErr := api.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(table.Name)})
	if lookErr == nil {
		if on, mismatch := table.ttlStands(again.TimeToLiveDescription); on || mismatch != nil {
			return mismatch
		}
	}
	return failed(table, errors.Join(err, lookErr))
}

// ttlStands reports whether TTL is on or being switched on, and refuses
// another attribute.
func (t Table) ttlStands(ttl *types.TimeToLiveDescription) (bool, error) {
	if ttl == nil || ttl.TimeToLiveStatus != types.TimeToLiveStatusEnabled && ttl.TimeToLiveStatus != types.TimeToLiveStatusEnabling {
		return false, nil
	}
	if got := aws.ToString(ttl.AttributeName); got != t.TTL {
		return false, &MismatchError{Table: t.Name, Differences: []string{fmt.Sprintf("its TTL attribute is %s, not %s", got, t.TTL)}}
	}
	return true, nil
}

func switchOnBackups(ctx context.Context, api API, table Table) error {
	if !table.PointInTimeRecovery {
		return nil
	}
	out, err := api.DescribeContinuousBackups(ctx, &dynamodb.DescribeContinuousBackupsInput{TableName: aws.String(table.Name)})
	if err != nil {
		return failed(table, err)
	}
	if backups := out.ContinuousBackupsDescription; backups != nil && backups.PointInTimeRecoveryDescription != nil &&
		backups.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus == types.PointInTimeRecoveryStatusEnabled {
		return nil
	}
	for pause := firstPause; ; pause = min(2*pause, mostPause) {
		_, err := api.UpdateContinuousBackups(ctx, &dynamodb.UpdateContinuousBackupsInput{
			TableName:                        aws.String(table.Name),
			PointInTimeRecoverySpecification: &types.PointInTimeRecoverySpecification{PointInTimeRecoveryEnabled: aws.Bool(true)},
		})
		// A new table's backups are being enabled for some seconds, and until
		// then cannot be changed.
		if err == nil || !ddb.BackupsUnavailable(err) {
			return failed(table, err)
		}
		if stopped := wait(ctx, pause); stopped != nil {
			return failed(table, errors.Join(stopped, err))
		}
	}
}
